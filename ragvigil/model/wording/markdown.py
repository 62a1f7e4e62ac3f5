"""Text of others in Markdown."""

from __future__ import annotations

import re

from ragvigil.model.text import one_line

_MARKUP = re.compile(r"([\\`*_{}\[\]|~>&<]|:(?=//)|(?<=www)\.)")
_MENTION = re.compile(r"((?<!\w)[@#])(?=\w)")
"""GitHub links a person or an issue whatever is escaped; a space without width prevents it."""


def plain(text: str) -> str:
    r"""A text without meaning to Markdown, on one line.

    >>> print(plain("a *b*"))
    a \*b\*
    """
    return _MENTION.sub("\\1\u200b", _MARKUP.sub(r"\\\1", one_line(text)))
