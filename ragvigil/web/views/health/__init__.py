"""Whether the daemon's numbers can be trusted: what is known of itself, and that in sentences."""
