"""The vocabulary: frozen values and one-verb protocols, on the standard library alone."""
