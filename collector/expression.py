"""RE2 over raw bytes: linear in the text whatever the expression, and without the interpreter lock."""

from __future__ import annotations

from typing import Any

import re2


def compile_bytes(expression: bytes, *, memory: int = 8 << 20) -> Any:
    """An expression in which a byte is a character; `memory` bounds its automaton, in bytes."""
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.max_mem = memory
    options.dot_nl = True
    return re2.compile(expression, options)
