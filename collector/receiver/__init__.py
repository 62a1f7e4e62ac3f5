"""The OTLP listeners: authentication, limits, and the acknowledgement of a spooled request."""

import os

# gRPC reads it when it is loaded. Otherwise it writes a line for each TLS handshake that fails,
# which is a client's to decide.
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
