"""Paths of the API that hold an id."""

from __future__ import annotations

from urllib.parse import quote


def path_of(kind: str, name: str, verb: str = "") -> str:
    """The path of one trace, issue, incident or case; an id may hold any character.

    >>> path_of("issues", "a/b", "resolve")
    'issues/a%2Fb/resolve'
    """
    return "/".join(filter(None, (kind, quote(name, safe=""), verb)))
