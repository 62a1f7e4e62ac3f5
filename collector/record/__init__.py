"""The parts of a record, each with its value or why it is absent: see `build`."""
