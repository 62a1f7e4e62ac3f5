"""Drafts of golden cases, for a person to edit and sign."""
