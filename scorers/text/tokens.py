"""Splits text of any script into words for bag-of-words comparison."""

from __future__ import annotations

import re
import unicodedata

# Scripts without spaces are cut into overlapping pairs: Han, kana, Thai, Lao, Khmer, Burmese.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]+|[^\W{_UNSPACED}]+", re.UNICODE)
_ASCII_WORDS = {
    code: chr(code).lower() if chr(code).isalnum() or chr(code) == "_" else " "
    for code in range(128)
}
_IS_UNSPACED = re.compile(rf"[{_UNSPACED}]")


def tokens(text: str) -> list[str]:
    """Lower-case words in compatibility form; overlapping pairs in scripts without spaces.

    >>> tokens("Refunds take 5-7 days, Ｅ-mail us.")
    ['refunds', 'take', '5', '7', 'days', 'e', 'mail', 'us']
    >>> tokens("退款需要5天")
    ['退款', '款需', '需要', '5', '天']
    """
    if text.isascii():
        return ascii_words(text).split()
    plain = unicodedata.normalize("NFKC", text)
    words: list[str] = []
    for word in _WORD.findall(plain.lower()):
        if _IS_UNSPACED.match(word):
            words += [word[i : i + 2] for i in range(len(word) - 1)] or [word]
        else:
            words.append(word)
    return words


def ascii_words(text: str) -> str:
    """Lower-cases ASCII text and blanks everything but words; character offsets stay the same."""
    return text.translate(_ASCII_WORDS)
