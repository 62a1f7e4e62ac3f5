"""Words that several parts use for the same thing."""
