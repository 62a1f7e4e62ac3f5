"""The OTLP listeners: authentication, limits, and the acknowledgement of a spooled request."""
