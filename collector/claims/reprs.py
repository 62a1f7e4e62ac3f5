"""Texts in Python reprs, which instrumentors write where a framework's object is no JSON."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from contextlib import suppress

OBJECT = re.compile(r"[A-Za-z_]\w*=(?=['\"\[{(\d+-]|None\b|True\b|False\b)")
LONGEST = 65_536
"""Characters; parsing longer texts costs too much."""
MOST_ENDS = 20
"""Places in a text where a member may end that are tried."""
QUOTED = r"('(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\")"


def text_argument(value: str, names: Sequence[str]) -> str | None:
    """The text that an object's repr gives for the first of these names of its arguments.

    >>> text_argument("Result(result='[a-1]\\\\nOne.', error=False)", ["result"])
    '[a-1]\\nOne.'
    >>> text_argument("Result(result=None)", ["result"]) is None
    True
    """
    for name in names:
        match = re.search(rf"\b{re.escape(name)}={QUOTED}", value, re.DOTALL)
        if match:
            with suppress(ValueError, SyntaxError):  # an escape that Python does not know
                text = ast.literal_eval(match[1])
                return text if isinstance(text, str) else None
    return None


def members_of(value: str) -> dict[str, object] | None:
    """The members of an object that was written as Pydantic's `str` does; None for another text.

    >>> members_of("answer='In 30 days.' citations=['a-1'] sure=True")
    {'answer': 'In 30 days.', 'citations': ['a-1'], 'sure': True}
    >>> members_of("x=1 and y=2 are known") is None, members_of("n=3 of 4") is None
    (True, True)
    """
    if len(value) > LONGEST or not OBJECT.match(value):
        return None
    members: dict[str, object] = {}
    rest = value.strip()
    while rest:
        name = OBJECT.match(rest)
        read = _literal_at_start(rest[name.end() :]) if name else None
        if name is None or read is None:
            return None
        members[name[0][:-1]], rest = read
    return members


def _literal_at_start(value: str) -> tuple[object, str] | None:
    """A Python literal and the text behind it, which the next member begins."""
    ends = [match.start() for match in re.finditer(r" (?=[A-Za-z_]\w*=)", value)]
    for end in [*ends[:MOST_ENDS], len(value)]:
        with suppress(ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            return ast.literal_eval(value[:end]), value[end:].lstrip()
    return None
