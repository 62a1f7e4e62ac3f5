"""Why an issue happens: what code can tell of it, and an agent that reads its traces."""
