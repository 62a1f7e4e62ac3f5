"""The daemon's rubrics before a release: a golden set asked of a target, read and compared."""
