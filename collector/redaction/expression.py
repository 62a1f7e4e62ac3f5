"""RE2 expressions: linear time for any expression and text, without the interpreter lock."""

from __future__ import annotations

from typing import Any

import re2


def compile_bytes(expression: bytes) -> Any:
    """Compiles an expression whose characters are bytes; a dot matches any byte."""
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.dot_nl = True
    return re2.compile(expression, options)


def compile_text(expression: str, *, memory: int = 8 << 20) -> Any:
    """Compiles an expression over UTF-8; `memory` limits its automaton, in bytes."""
    options = re2.Options()
    options.max_mem = memory
    return re2.compile(expression.encode(), options)
