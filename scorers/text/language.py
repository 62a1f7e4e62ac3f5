"""Names the language of a text, or says nothing where it is not sure.

    >>> language("The parcel is sent on the next working day.")
    'en'
    >>> language("Das Paket wird am nächsten Werktag verschickt.")
    'de'
    >>> language("iPhone 15 Pro Max, 256 GB") is None
    True

Naive Bayes over byte n-grams: py3langid, its model of 139 languages. It sees the words of running
text alone: a name, a number, an address or a line of a table says nothing about the language.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

from scorers.text.language_model import mapped_identifier
from scorers.text.own_words import own_words
from scorers.text.patterns import any_of, compile_pattern, encodable
from scorers.text.sentences import sentences

MOST_SENTENCES = 24
MOST_CHARACTERS = 400
"""The start of a text that names its language: more is slower and no surer."""
LEAST_SHARE = 0.8
"""Least probability of a language, its kin included: from it the detector errs on 3 of 9,500
questions, under it on 150."""
LEAST_WORDS = 3
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
)
_UNSPACED_RUN = re.compile(f"{_UNSPACED.pattern}+")
"""Without spaces a sentence is one word; a number in it is no reason to leave out the rest."""
_CHARACTERS_A_WORD = 2
"""Characters of a word in scripts without spaces."""
_CODE = re.compile(r"[\d_=<>@\\|{}/$%^~#]|\w[.:]\w|\[")
_LETTER = re.compile(r"[^\W\d_]")
_AROUND = "*-–—•·\"'()[]¿¡«»„“”,;"
_ENDS = (".", "!", "?", ":", "…")
_KANA = re.compile("[\u3040-\u30ff]")
_HAN = re.compile("[\u3400-\u9fff]")
LEAST_HAN = 12
"""Fewer Chinese characters without kana may be Japanese."""


@lru_cache(maxsize=512)
def language(text: str, least_words: int = LEAST_WORDS) -> str | None:
    """The ISO 639 code of a text's language; None for too few words, or where it is not sure.

    Caches the last 512 texts.
    """
    running, count = running_words(text)
    return _detect(running) if count >= least_words else None


def are_alike(first: str, second: str) -> bool:
    """Whether two languages are one, or so near that a detector confuses them.

    >>> are_alike("nn", "da"), are_alike("en", "de")
    (True, False)
    """
    kin = _data().kin
    return kin.get(first, first) == kin.get(second, second)


def share_in(text: str, code: str) -> float:
    """The share of a text's words that stand in sentences which, read alone, are in a language.

    >>> share_in("Please sum up this letter: Das Paket ist nicht da.", "en")
    0.5
    """
    start = text[: 4 * MOST_CHARACTERS]
    lines = start.replace(": ", ":\n").splitlines()
    parts = [running_words(part.text) for line in lines for part in sentences(line)]
    words = [(count, _detect(running)) for running, count in parts[:MOST_SENTENCES]]
    inside = sum(count for count, own in words if own is not None and are_alike(own, code))
    return inside / max(1, sum(count for count, _ in words))


def asks_for_another(question: str) -> bool:
    """Whether a question names a language or asks for a translation."""
    return bool(_data().asks_for_another.search(encodable(question[:MOST_CHARACTERS].lower())))


def known_languages() -> frozenset[str]:
    """The ISO 639 codes of the languages that can be named."""
    return _data().known


def running_words(text: str) -> tuple[list[str], int]:
    """The words of running text, and how many words there are with the names.

    Leaves out numbers, addresses, code, quotations and tables. A word with a capital is a name
    unless it begins a sentence.

    >>> running_words("Press the Reset button of the AX-200. Then wait.")
    (['Press', 'the', 'button', 'of', 'the', 'Then', 'wait.'], 8)
    """
    words = list(_words(own_words(text[: 2 * MOST_CHARACTERS])[:MOST_CHARACTERS]))
    return [word for word, is_name in words if not is_name], _count(word for word, _ in words)


def _words(text: str) -> Iterator[tuple[str, bool]]:
    """Yields every word, and whether it is written like a name."""
    for line in text.splitlines():
        if line.lstrip().startswith("|"):
            continue
        begins = True
        for raw in line.split():
            if raw.isalpha() and raw.islower():  # most words, and four times as fast
                yield raw, False
                begins = False
                continue
            word = raw.strip(_AROUND)
            if not _LETTER.search(word):
                continue
            if not word.isascii() and (runs := _UNSPACED_RUN.findall(word)):
                yield from ((run, False) for run in runs)
                continue
            rest = word[1:] if begins else word
            if not _CODE.search(word):
                yield word, rest != rest.lower()
            begins = raw.endswith(_ENDS)


def _count(words: Iterable[str]) -> int:
    """How many words there are; scripts without spaces have one in every two characters."""
    return sum(1 if word.isascii() else _count_unspaced(word) for word in words)


def _count_unspaced(word: str) -> int:
    return max(1, len(_UNSPACED.findall(word)) // _CHARACTERS_A_WORD)


def _detect(words: Sequence[str]) -> str | None:
    if _count(words) < LEAST_WORDS:
        return None
    text = encodable(" ".join(words))
    if not _KANA.search(text) and 0 < len(_HAN.findall(text)) < LEAST_HAN:
        return None
    code, share = _identifier().classify(text)
    if share < LEAST_SHARE:  # the ranking takes as long again
        code, share = _with_kin(_identifier().rank(text))
    return None if share < LEAST_SHARE or code in _data().none else code


def _with_kin(ranking: Sequence[tuple[str, float]]) -> tuple[str, float]:
    """The likeliest language with the share of all its kin."""
    kin = _data().kin
    shares: dict[str, float] = {}
    for code, share in ranking:
        shares[kin.get(code, code)] = shares.get(kin.get(code, code), 0.0) + share
    family = max(shares, key=shares.__getitem__)
    return next(code for code, _ in ranking if kin.get(code, code) == family), shares[family]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Data:
    """`kin` maps a language to the first of its row."""

    kin: Mapping[str, str]
    known: frozenset[str]
    none: frozenset[str]
    asks_for_another: Any


@cache
def _data() -> _Data:
    table = tomllib.loads(files("scorers").joinpath("text/languages.toml").read_text("utf-8"))
    return _Data(
        kin={code: row[0] for row in table["kin"] for code in row},
        known=frozenset(table["known"]),
        none=frozenset(table["none"]),
        asks_for_another=compile_pattern(any_of(table["asks_for_another"])),
    )


@cache
def _identifier() -> Any:
    """The detector: 0.8 s, and the part of 70 MB that texts touch: loaded when the first text
    needs it."""
    return mapped_identifier()
