"""Paths into JSON: `answer`, `data.text`, `messages[0].content`, `chunks[*].id`.

>>> find({"chunks": [{"id": "a"}, {"id": "b"}]}, "chunks[*].id")
['a', 'b']
>>> built({"input.messages[0].text": "Why?", "model": "m"})
{'input': {'messages': [{'text': 'Why?'}]}, 'model': 'm'}
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

STEP = re.compile(r"\[(\d+|\*)\]|([^.\[\]]+)")
MOST_PLACES = 100
"""Longest list in a body."""


class NotThere(LookupError):
    """A path leads nowhere; `str(error)` says how far it goes."""


def find(value: object, path: str) -> Any:
    """The value at a path; with `[*]` a list of every element's value. Raises NotThere."""
    return _value_at(value, _steps(path), path)


def _value_at(value: object, steps: list[str | int], path: str) -> Any:
    for place, step in enumerate(steps):
        if step == "*" and isinstance(value, list):
            return [_value_at(item, steps[place + 1 :], path) for item in value]
        is_place = isinstance(step, int) and isinstance(value, list) and step < len(value)
        if not is_place and not (isinstance(value, Mapping) and step in value):
            raise NotThere(f"{path}: the reply has nothing at {step}")
        value = value[step]  # type: ignore[index]
    return value


def built(values: Mapping[str, object]) -> dict[str, Any]:
    """A JSON object with these values at their paths; lists are as long as their indexes need.

    Raises ValueError if two paths exclude each other, or a path has `[*]`.
    """
    whole: dict[str, Any] = {}
    for path, value in values.items():
        try:
            _place(whole, _steps(path), value)
        except (AttributeError, TypeError, KeyError, IndexError) as error:
            raise ValueError(f"{path} does not fit the other paths of the body") from error
    return whole


def _place(container: Any, steps: list[str | int], value: object) -> None:
    first, *rest = steps
    if first == "*":
        raise ValueError("[*] names no single place of the body")
    if isinstance(first, int):
        if first >= MOST_PLACES:
            raise IndexError(first)
        container.extend([None] * (first + 1 - len(container)))
        child = container[first]
    else:
        child = container.get(first)
    if not rest:
        container[first] = value
        return
    if child is None:
        child = container[first] = [] if isinstance(rest[0], int) else {}
    _place(child, rest, value)


def _steps(path: str) -> list[str | int]:
    return [name or (place if place == "*" else int(place)) for place, name in STEP.findall(path)]
