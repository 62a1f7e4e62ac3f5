"""Compiles patterns with RE2, whose time is linear in the text whatever the pattern."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

MEMORY_BYTES = 64 << 20
"""Most memory of one compiled pattern with its automaton."""


def any_of(patterns: Iterable[str]) -> str:
    """A pattern that matches where one of these does.

    >>> any_of(["refuse", "decline|deny"])
    '(?:refuse)|(?:decline|deny)'
    """
    return "|".join(f"(?:{pattern})" for pattern in patterns)


def compile_pattern(pattern: str, *, ignore_case: bool = False) -> Any:
    """Compiles a pattern in RE2's syntax."""
    import re2

    options = re2.Options()
    options.max_mem = MEMORY_BYTES
    options.log_errors = False  # an error is raised; RE2 would also write it to stderr
    options.case_sensitive = not ignore_case
    return re2.compile(pattern, options)


class LatePattern:
    """A pattern that is compiled at its first use; it has the methods of a compiled one.

    For patterns of one language among many: those of scripts that no answer is written in would
    take 2 MB.

    >>> LatePattern("fee|price").search("a price") is not None
    True
    """

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern

    @cached_property
    def _compiled(self) -> Any:
        return compile_pattern(self._pattern)

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._compiled, name)
        setattr(self, name, method)
        return method


def compile_set(patterns: Iterable[str]) -> Any:
    """Compiles patterns into one automaton; its `Match` gives the places of those that match."""
    import re2

    options = re2.Options()
    options.max_mem = MEMORY_BYTES
    options.log_errors = False
    together = re2.Set.SearchSet(options)
    for pattern in patterns:
        together.Add(pattern)
    together.Compile()
    return together


def encodable(text: str) -> str:
    """The text with lone surrogates replaced, since RE2 reads UTF-8.

    >>> encodable("a\\ud800b")
    'a?b'
    """
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
