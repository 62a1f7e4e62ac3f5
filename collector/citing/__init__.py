"""Finds citations: inline markers, providers' structured citations, and quotations."""
