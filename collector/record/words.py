"""The words of a text in any script."""

from __future__ import annotations

import re

UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # kana, Chinese characters
)
"""Letters of scripts that put no spaces between words: two of them are about a word."""
WORD = re.compile(rf"[{UNSPACED}]{{1,2}}|[^\W{UNSPACED}]+")
PAIR = re.compile(rf"[{UNSPACED}]{{2}}")


def words(text: str) -> list[str]:
    """The words of a text in lower case; of scripts without spaces pairs of letters.

    >>> words("Within 30 days!"), words("三十天内可退款")
    (['within', '30', 'days'], ['三十', '天内', '可退', '款'])
    """
    return WORD.findall(text.casefold())


def have_common(listed: list[str], text: str) -> bool:
    """Whether a text has any of these words; pairs of letters count wherever they stand.

    >>> have_common(["天内"], "在三十天内"), have_common(["天"], "在三十天内")
    (True, False)
    """
    folded = text.casefold()
    pairs = [word for word in listed if PAIR.fullmatch(word)]
    return any(pair in folded for pair in pairs) or not set(listed).isdisjoint(words(text))
