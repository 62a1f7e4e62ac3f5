"""Takes secrets and personal data out of a request before it touches the disk."""
