"""Forms of the reports."""
