"""Which fields do not arrive, what that switches off, and the line that mends it."""
