"""What is taken out of a request before it touches the disk."""
