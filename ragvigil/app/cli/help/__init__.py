"""What `ragvigil help` says. docs/reference is made from the same, so that they agree."""
