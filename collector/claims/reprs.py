"""Texts in Python reprs, which instrumentors write where a framework's object is no JSON."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from contextlib import suppress

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
