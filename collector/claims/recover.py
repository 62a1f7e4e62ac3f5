"""Parses values that arrive as text: JSON, Python's repr, and JSON that was cut off."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

import orjson

# A string ends at its closing quote or, if it was cut, at the end of the text.
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+("?)|[\[\]{},]', re.DOTALL)
CLOSER = {"[": "]", "{": "}"}
DEEPEST = 100
DECODER = json.JSONDecoder()
SPACE = re.compile(r"\s*")
LITERAL_LIMIT = 65_536
"""Longer texts are not tried as Python literals: parsing them costs too much."""
MEMBER = re.compile(r"[A-Za-z_]\w*=(?=['\"\[{(\d+-]|None\b|True\b|False\b)")
MOST_ENDS = 20
"""Places in a text where a member may end that are tried."""
QUOTED = r"('(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\")"


class RecoveredValue(NamedTuple):
    """A parsed value; None if nothing could be read. `complete` is False if it was cut."""

    value: object
    complete: bool = True


def looks_structured(text: str) -> bool:
    """Whether a text starts like a JSON or Python container.

    >>> looks_structured(' {"a": 1}'), looks_structured("[refund-03] says so")
    (True, True)
    """
    head = text[:16].lstrip()
    return head.startswith(("{", "["))


def parse(text: str) -> RecoveredValue:
    """Reads a text as JSON, then as a Python literal, then as cut JSON.

    >>> parse('{"a": 1}')
    RecoveredValue(value={'a': 1}, complete=True)
    >>> parse("{'a': None}")
    RecoveredValue(value={'a': None}, complete=True)
    >>> parse('{"a": [1, 2], "b": "cut he')
    RecoveredValue(value={'a': [1, 2]}, complete=False)
    """
    with suppress(ValueError):  # not complete JSON: try the next two forms
        return RecoveredValue(orjson.loads(text))
    literal = _literal(text)
    if literal is not None:
        return RecoveredValue(literal)
    return RecoveredValue(_cut(text), complete=False)


def unquoted(text: str) -> str:
    """The text in a JSON string; any other text unchanged. Some instrumentors encode plain texts.

    >>> unquoted('"In 30 days."'), unquoted('""'), unquoted('"a" or "b"')
    ('In 30 days.', '', '"a" or "b"')
    """
    if len(text) < 2 or not text[0] == text[-1] == '"':
        return text
    inner = parse(text).value
    return inner if isinstance(inner, str) else text


def _literal(text: str) -> object:
    if len(text) > LITERAL_LIMIT or not looks_structured(text):
        return None
    try:
        value: object = ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return None
    return value


def _cut(text: str) -> object:
    """Everything up to the last complete member, with the open brackets closed.

    `safe` is the offset behind that member; nothing behind it is used. `open_now` and `closers`
    close what is open at this token, and at `safe`.
    """
    if not looks_structured(text):
        return None
    safe, open_now, closers = 0, "", ""
    for token in TOKEN.finditer(text):
        mark = token.group()
        if mark[0] == '"':
            if not token.group(1):
                break
        elif mark in CLOSER:
            open_now = CLOSER[mark] + open_now
            if len(open_now) > DEEPEST:
                return None
            safe, closers = token.end(), open_now
        elif mark == ",":
            safe, closers = token.start(), open_now
        elif open_now[:1] != mark:
            return None
        elif len(open_now) == 1:
            return None  # closed, and yet not JSON: a text that only begins like JSON
        else:
            open_now = open_now[1:]
            safe, closers = token.end(), open_now
    try:
        return orjson.loads(text[:safe] + closers) if safe else None
    except ValueError:
        return None


def as_container(value: object) -> RecoveredValue:
    """The list or mapping that a value is or encodes; value None for anything else."""
    if isinstance(value, (list, dict)):
        return RecoveredValue(value)
    if isinstance(value, str) and looks_structured(value):
        parsed = parse(value)
        if isinstance(parsed.value, (list, dict)):
            return parsed
        if isinstance(parsed.value, tuple):
            return RecoveredValue(list(parsed.value), parsed.complete)
    return RecoveredValue(None, complete=not isinstance(value, str))


def joined_objects(text: str) -> list[object]:
    """The JSON objects that follow one another in a text; empty if it holds anything else.

    >>> joined_objects('{"id": 1}\\n{"id": 2}'), joined_objects('{"id": 1} says so')
    ([{'id': 1}, {'id': 2}], [])
    """
    objects: list[object] = []
    at = 0
    while (start := SPACE.match(text, at).end()) < len(text):  # type: ignore[union-attr]
        try:
            value, at = DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            return []
        objects.append(value)
    return objects if all(isinstance(value, dict) for value in objects) else []


def number(value: object) -> float | None:
    """A finite number from a number or its text; None for anything else.

    >>> number("0.5"), number(True), number("nan")
    (0.5, None, None)
    """
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        result = float(value)
    except (ValueError, OverflowError):
        return None
    return result if -1e300 < result < 1e300 else None


def whole(value: object) -> int | None:
    """A non-negative count from a number or its text; None for anything else.

    >>> whole(3.0), whole("12"), whole(-1)
    (3, 12, None)
    """
    result = number(value)
    return int(result) if result is not None and result >= 0 else None


def text(value: object) -> str:
    """A scalar as text; empty for anything else.

    >>> text(7), text(None), text(["a"])
    ('7', '', '')
    """
    if isinstance(value, str):
        return value
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else ""


def as_json(value: object, separators: tuple[str, str] | None = None) -> str:
    """Any structure as JSON text; empty if JSON cannot express it (odd keys, endless nesting).

    >>> as_json({"n": 2**70}), as_json([None], (",", ":")), as_json({(1, 2): 3})
    ('{"n": 1180591620717411303424}', '[null]', '')
    """
    try:
        return json.dumps(value, ensure_ascii=False, separators=separators, default=str)
    except (ValueError, TypeError, RecursionError):
        return ""


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
    if len(value) > LITERAL_LIMIT or not MEMBER.match(value):
        return None
    members: dict[str, object] = {}
    rest = value.strip()
    while rest:
        name = MEMBER.match(rest)
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
