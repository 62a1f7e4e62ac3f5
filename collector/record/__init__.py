"""Builds RAG records from traces, each field with its value or the reason it is absent."""
