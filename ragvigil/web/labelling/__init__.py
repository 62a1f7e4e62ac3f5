"""Answers for people to label: rules that fill queues, what is next, and labels as files."""
