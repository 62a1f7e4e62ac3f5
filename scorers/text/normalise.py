"""Reduces text to the words that must agree when something is quoted.

Drops case, spacing, punctuation, quotation marks, dashes, ellipses, compatibility forms, invisible
characters and optional vowel points, so that harmless edits compare equal. Keeps every letter,
digit and sign that carries meaning.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from html import unescape

# Scripts that write no spaces between words: every character is a word of its own.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3041-\u3096\u309d-\u30fa"
    "\u30fc-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
# Vowel signs and viramas of the Brahmic scripts: part of the word, yet no letters to `re`.
SIGNS = (
    "\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962-\u0963\u0980-\u0983\u09bc-\u09cd\u0a01-\u0dff"
)
SYMBOLS = "%‰°$€£¥₹₽₩₪"
NUMBER = r"(?:(?<![^\s(])-(?=\d))?\d+(?:\.\d+)*"
COMPARED = r"[<>≤≥](?=\s?\d)"
ASCII_WORD = re.compile(rf"[a-z]+|{NUMBER}|[%$]|{COMPARED}")
ASCII_SIGNS = "0123456789%$"
"""A text without these has only runs of letters, which one `translate` and one `split` find."""
ASCII_LETTERS: dict[int, str | None] = {
    code: chr(code).lower() if chr(code).isalpha() else " " for code in range(128)
} | dict.fromkeys(map(ord, "'`"))
WORD = re.compile(
    rf"(?:[^\W\d_{UNSPACED}{SIGNS}]+|[{SIGNS}]+)+|{NUMBER}|[{UNSPACED}]|[{SYMBOLS}]|{COMPARED}"
)
COMMA = re.compile(r"(?<=\d),(?=\d)")
BROKEN = re.compile("\u00ad\\s*|(?<=[^\\W\\d_])-\n\\s*")
GROUPED = re.compile(r"\d[, ]\d")
THOUSANDS = re.compile(r"(?<=\d)[, ](?=\d{3}(?!\d))")
ELLIPSIS = re.compile(r"[\[(]\s*(?:…|\.{2,}|\. \. \.)\s*[\])]|…+|\.{3,}|\. \. \.|⋯+")
PLAIN = (
    *(("’", "'"), ("‘", "'"), ("“", '"'), ("”", '"'), ("–", "-"), ("—", "-"), ("…", " ")),
    *(("•", " "), ("\u00a0", " "), ("\u00ad", ""), ("\u200b", "")),
)


def _table() -> dict[int, str | None]:
    """The table that drops (None) or replaces characters in one pass over non-ASCII text.

    Drops marks, joiners, optional Hebrew and Arabic points and apostrophes; unifies dashes,
    accented Greek vowels, variants of Arabic letters and the decimal digits of other scripts.
    """
    table: dict[int, str | None] = {}
    dropped = (
        *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xAD, 0x61C,
        0xFEFF, 0x180E, 0x640, *range(0x300, 0x370), *range(0x591, 0x5BE), 0x5BF, 0x5C1, 0x5C2,
        0x5C4, 0x5C5, 0x5C7, *range(0x610, 0x61B), *range(0x64B, 0x660), 0x670,
        *range(0x6D6, 0x6DD), *range(0xFE00, 0xFE10),
    )  # fmt: skip
    table.update(dict.fromkeys(dropped))
    table.update(dict.fromkeys(map(ord, "'`’‘ʼ´′׳"), None))
    table.update(dict.fromkeys(map(ord, "‐‑‒–—―−﹣"), "-"))
    table.update(zip(map(ord, "άέήίόύώϊϋΐΰ"), "αεηιουωιυιυ", strict=True))
    table.update(zip(map(ord, "أإآٱىیکёı"), "ااااييكеi", strict=True))
    for zero in (0x660, 0x6F0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66,
                 0xE50, 0xED0, 0x1040, 0x17E0):  # fmt: skip
        table.update({zero + digit: str(digit) for digit in range(10)})
    return table


TABLE = _table()


def words(text: str) -> list[str]:
    """The words, numbers and meaningful signs of a text, in order and in one spelling.

    >>> words("“Co-op” costs 1,250.50\\u00a0€ — DON’T wait…")
    ['co', 'op', 'costs', '1250.50', '€', 'dont', 'wait']
    >>> words("银行卡退款需要5到7天。")
    ['银', '行', '卡', '退', '款', '需', '要', '5', '到', '7', '天']
    """
    if "&" in text:
        text = unescape(text)
    if "-\n" in text or "\u00ad" in text:
        text = BROKEN.sub("", text)
    if not text.isascii():
        # Most non-ASCII text is English with these few: replacing them allows the fast path below.
        for typographic, simple in PLAIN:
            text = text.replace(typographic, simple)
    if text.isascii():
        if not any(sign in text for sign in ASCII_SIGNS):
            return text.translate(ASCII_LETTERS).split()
        plain = text.lower().replace("'", "").replace("`", "")
        return ASCII_WORD.findall(_without_commas(plain))
    plain = unicodedata.normalize("NFKC", text.casefold()).lower().translate(TABLE)
    return WORD.findall(_without_commas(plain))


def _without_commas(text: str) -> str:
    """Writes `1,000` and `1 000` as 1000, and `3,90` as 3.90: numbers then have one spelling."""
    if GROUPED.search(text) is None:
        return text
    return COMMA.sub(".", THOUSANDS.sub("", text))


def key(tokens: Sequence[str]) -> str:
    """Joins words so that `in` finds a run of whole words and never a part of one.

    >>> key(["30", "days"]) in key(["within", "130", "days"])
    False
    """
    return f" {' '.join(tokens)} "


def parts(quote: str) -> list[str]:
    """Splits a quotation at its ellipses.

    >>> parts("… refunds take [...] business days (…)")
    ['refunds take', 'business days']
    """
    if ".." not in quote and ". ." not in quote and "…" not in quote and "⋯" not in quote:
        return [quote] if quote.strip() else []
    return [bare for part in ELLIPSIS.split(quote) if (bare := part.strip())]


def is_number(word: str) -> bool:
    """Whether a word is a number."""
    return word[-1].isdigit()


def is_unspaced(word: str) -> bool:
    """Whether a word is one character of a script that writes no spaces."""
    return len(word) == 1 and word > "\u0dff"


def length(tokens: Sequence[str]) -> float:
    """Counts words; a character of an unspaced script counts as half a word.

    >>> length(words("退款 within 24 hours"))
    4.0
    """
    return len(tokens) - sum(map(is_unspaced, tokens)) / 2
