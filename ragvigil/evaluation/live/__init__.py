"""What live answers say of the rubrics themselves, of releases and of sessions. Pure."""
