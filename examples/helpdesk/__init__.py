"""A small real RAG service over an invented help centre; the demo and the README use it."""
