"""Is each sentence of an answer supported by the context? Lexical evidence, a small model."""
