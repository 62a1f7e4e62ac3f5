"""Finds XML-like elements in a text, in one pass however many are never closed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

NAME = re.compile(r"<([^\s<>/]+)")


class Element(NamedTuple):
    """An element: its offsets, what stands in its opening tag, and the offsets of its body.

    `body` is None for one that closes itself (`<source id=1/>`).
    """

    start: int
    end: int
    attributes: str
    body: tuple[int, int] | None


def elements(text: str, names: tuple[str, ...]) -> Iterator[Element]:
    """The elements of these names, in order, each up to its next closing tag; none within another.

    >>> text = "<doc>never closed <doc id=1>A.</doc> <src id=2/>"
    >>> [(text[slice(*found.body)], found.attributes) for found in elements(text, ("doc",))]
    [('never closed <doc id=1>A.', '')]
    >>> [found.attributes for found in elements(text, ("src",))]
    [' id=2']
    """
    found: list[Element] = []
    closing: dict[str, re.Match[str]] = {}
    # From the end, so that the next closing tag is known at once.
    for tag in reversed(list(_tags(names).finditer(text))):
        name, closed, attributes = tag["name"], tag["closed"], tag["attributes"]
        if closed:
            closing[closed.lower()] = tag
        elif attributes.endswith("/"):
            found.append(Element(*tag.span(), attributes[:-1], None))
        elif end := closing.get(name.lower()):
            found.append(Element(tag.start(), end.end(), attributes, (tag.end(), end.start())))
    place = 0
    for element in reversed(found):
        if element.start >= place:
            place = element.end
            yield element


def innermost(text: str, element: Element) -> Element:
    """The element from its last opening tag on: one further up is a mention, and never closed.

    >>> text = "Use the <doc> tags. <doc id=1>A.</doc>"
    >>> found = innermost(text, next(elements(text, ("doc",))))
    >>> text[slice(*found.body)], found.attributes
    ('A.', ' id=1')
    """
    name = NAME.match(text, element.start)
    if element.body is None or name is None:
        return element
    again = re.compile(rf"<{re.escape(name[1])}\b([^<>]*)>", re.IGNORECASE)
    openings = [tag for tag in again.finditer(text, *element.body) if not tag[1].endswith("/")]
    if not openings:
        return element
    last = openings[-1]
    return Element(last.start(), element.end, last[1], (last.end(), element.body[1]))


@cache
def _tags(names: tuple[str, ...]) -> re.Pattern[str]:
    """Opening and closing tags. Cohere repeats what it cites in the closing one: `</co: 1>`."""
    alternatives = "|".join(names)
    return re.compile(
        rf"<(?:/(?P<closed>{alternatives})(?::[^<>]*)?>"
        rf"|(?P<name>{alternatives})\b(?P<attributes>[^<>]*)>)",
        re.IGNORECASE,
    )
