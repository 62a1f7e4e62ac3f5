"""Text from outside as it may stand in a line that we write."""

from __future__ import annotations


def one_line(text: str, most: int | None = None) -> str:
    r"""The text on one line, cut to `most` characters.

    Control codes of terminals and marks of writing direction become spaces.

    >>> one_line("red \x1b[31m\n alert")
    'red [31m alert'
    >>> one_line("a long question", 7)
    'a long…'
    """
    flat = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return flat if most is None or len(flat) <= most else f"{flat[: most - 1]}…"
