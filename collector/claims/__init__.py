"""What a span convention reads from a span, and the parsers that conventions share."""
