"""What a span convention says of a span, and the shared means of reading it."""
