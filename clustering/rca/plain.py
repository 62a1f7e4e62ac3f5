"""Texts of strangers and models as they may stand in a report or a terminal."""

from __future__ import annotations


def plain(text: str) -> str:
    r"""The text on one line, without what steers a terminal or turns the direction of writing.

    >>> plain("red \x1b[31m\n alert")
    'red [31m alert'
    """
    return " ".join("".join(one if one.isprintable() else " " for one in text).split())
