"""RE2 expressions: linear time for any expression and text, without the interpreter lock."""

from __future__ import annotations

from functools import cache
from typing import Any

import re2

PROBE = b"\x00\x01probe\x01\x00"


def compile_bytes(expression: bytes) -> Any:
    """Compiles an expression whose characters are bytes; a dot matches any byte."""
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.dot_nl = True
    options.log_errors = False  # a full automaton is slower, not wrong; RE2 would write to stderr
    return re2.compile(expression, options)


@cache
def compile_text(expression: str, *, memory: int = 8 << 20) -> Any:
    """Compiles an expression over UTF-8, once; `memory` limits its automaton, in bytes."""
    options = re2.Options()
    options.max_mem = memory
    options.log_errors = False
    return re2.compile(expression.encode(), options)


def compile_set(expressions: list[str], *, memory: int) -> Any:
    """Compiles expressions over UTF-8 that one pass searches together; see `re2.Set`.

    Raises ValueError if `memory` bytes do not suffice: the set would match nothing, silently.
    """
    options = re2.Options()
    options.max_mem = memory
    compiled = re2.Set.SearchSet(options)
    for expression in expressions:
        compiled.Add(expression.encode())
    probe = compiled.Add(PROBE)
    compiled.Compile()
    if compiled.Match(PROBE) != [probe]:
        raise ValueError(f"the patterns need more than {memory} bytes of memory")
    return compiled
