"""Text from outside as it may stand in what we write: a line, a label, a page.

Nothing in it may act as a terminal's command, end a line, turn the direction of writing, or hide.
"""

from __future__ import annotations

import re
import unicodedata

MOST_MARKS = 8
"""Combining marks in a row that are shown; no script stacks more."""
_SHORT = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
_AMBIGUOUS = re.compile(r"\\(?=[\\nrtxuU])")
"""A backslash that could be read as the begin of an escape."""
_JOINER = re.compile(r"(?<=[^\x00-\u02ff])[\u200c\u200d](?=[^\x00-\u02ff])")
"""A joiner where scripts and emoji need one."""
_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    r"\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


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


def is_same_name(name: str, other: str) -> bool:
    """Whether two names of people differ in case, spacing and forms of letters at most.

    >>> is_same_name("Ada Lovelace", " ada  lovelace"), is_same_name("ada", "ad4")
    (True, False)
    """
    return _folded(name) == _folded(other)


def _folded(name: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


def visible(text: str) -> str:
    r"""The text on one line, with an escape for each character that is no glyph.

    Two texts that differ stay different: a backslash that could begin an escape is doubled.

    >>> print(visible("red \x1b[31m\nroute\u202e"))
    red \x1b[31m\nroute\u202e
    >>> print(visible(r"a literal \x1b"), visible(r"C:\dir"))
    a literal \\x1b C:\dir
    """
    if text.isascii() and text.isprintable() and "\\" not in text:
        return text
    plain = _AMBIGUOUS.sub(r"\\\\", text)
    joiners = {match.start() for match in _JOINER.finditer(plain)}
    shown, marks = [], 0
    for place, character in enumerate(plain):
        marks = marks + 1 if unicodedata.category(character)[0] == "M" else 0
        is_glyph = (character.isprintable() or place in joiners) and marks <= MOST_MARKS
        shown.append(character if is_glyph else _escape(character))
    return "".join(shown)


def readable(text: str) -> str:
    r"""The text for a page: lines and spaces as they are, an escape for what acts unseen.

    >>> print(readable("first\nsecond \u202e"))
    first
    second \u202e
    """
    return _UNSEEN.sub(lambda match: _escape(match[0]), text)


def _escape(character: str) -> str:
    code = ord(character)
    if character in _SHORT:
        return _SHORT[character]
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
