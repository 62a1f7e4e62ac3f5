"""Rubrics that a language model grades: what is asked, of which records, and what it is worth."""
