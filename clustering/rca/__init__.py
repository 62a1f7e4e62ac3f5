"""Finds why an issue happens: a report by code, and an agent that reads the issue's traces."""
