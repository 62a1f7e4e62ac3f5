"""RE2: linear in the text whatever the expression, and without holding the interpreter lock."""

from __future__ import annotations

from typing import Any

import re2


def compile_bytes(expression: bytes) -> Any:
    """An expression in which a byte is a character, and a dot any of them."""
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.dot_nl = True
    return re2.compile(expression, options)


def compile_text(expression: str, *, memory: int = 8 << 20) -> Any:
    """An expression over UTF-8 bytes; `memory` bounds its automaton, in bytes."""
    options = re2.Options()
    options.max_mem = memory
    return re2.compile(expression.encode(), options)
