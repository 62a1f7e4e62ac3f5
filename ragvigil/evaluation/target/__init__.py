"""What answers a question: a URL, a function, a file of recorded answers, a traced service."""
