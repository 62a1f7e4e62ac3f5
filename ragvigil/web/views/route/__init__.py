"""How a route is doing: its rubrics, which of them belong together, and that in sentences."""
