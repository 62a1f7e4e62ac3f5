"""Gathers the spans of a trace by reference, closes it, and fetches its contents."""
