"""Says what a sentence denies, and of whom, by classes of words that occur in it together.

    >>> english = denials()["en"]
    >>> english.refuses("about pets the leaflet does not say a word")
    True
    >>> english.refuses("pets must not enter the leaflet room")
    False

The order of the classes is free, as it is in most languages; what must stand together (a negation
and its verb) is one class. The classes are data, per language (`denials.toml`).
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any
from unicodedata import normalize

from scorers.text.patterns import compile_pattern, compile_set

CLASSES = ("source", "untold", "me", "unknown", "topic", "unfound", "plain", "none", "tell")
_SHARED = {"gap": "(?:[^ ,;:]+ ){0,3}", "end": r"[ .!。।\[\]\d]*$"}
_NOTHING = r"[^\s\S]"


def _bits(names: Iterable[str]) -> int:
    return sum(1 << CLASSES.index(name) for name in names)


_ROWS = (("source", "untold"), ("me", "unknown"), ("topic", "unfound"), ("plain",))
"""Classes that refuse where all of a row occur in one sentence."""
_REFUSING = tuple(map(_bits, _ROWS))
_MATTER = _bits(("source", "me", "topic", "plain"))
"""Classes that make a reason one of the answer, not one of the world."""
_ALL = _bits(CLASSES)
_SOURCE, _NONE, _TELL = _bits(("source",)), _bits(("none",)), _bits(("tell",))


_TOGETHER = 3
"""Languages in one automaton: five thrash its memory, one takes twice the time of three."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Denials:
    """The classes of words of a language. `letters`: its script, if that is not Latin.

    `match` gives the places of the patterns of several languages; its own begin at `first`.
    """

    letters: Any
    match: Callable[[str], Sequence[int] | None]
    first: int

    def is_written_in(self, text: str) -> bool:
        """Whether a text has a letter of the language's script."""
        return self.letters is None or self.letters.search(text) is not None

    def refuses(self, text: str) -> bool:
        """Whether a normalised sentence denies that the answer is there."""
        bits = self._bits_of(text)
        return any(bits & row == row for row in _REFUSING) if bits else False

    def are_explained(self, main: str, reason: str) -> bool:
        """Whether the world is why the sources are silent: *no fee is named, as entry is free*."""
        if not self._bits_of(main) & _SOURCE:
            return False
        bits = self._bits_of(reason)
        return not bits & _MATTER and bool(bits & _NONE or not bits & _TELL)

    def _bits_of(self, text: str) -> int:
        bits = 0
        for place in self.match(text) or ():
            bits |= 1 << place
        return bits >> self.first & _ALL


@cache
def denials() -> Mapping[str, Denials]:
    """The denials of each language, by its ISO 639 code."""
    text = normalize("NFKC", files("scorers").joinpath("text/denials.toml").read_text("utf-8"))
    tables = sorted(tomllib.loads(text).items(), key=lambda item: "letters" in item[1])
    groups = [tables[start : start + _TOGETHER] for start in range(0, len(tables), _TOGETHER)]
    return {code: each for group in groups for code, each in _compiled(group)}


def _compiled(group: Sequence[tuple[str, Mapping[str, Any]]]) -> Iterator[tuple[str, Denials]]:
    @cache  # compiled when a text may be in one of the languages
    def together() -> Any:
        return compile_set(_pattern(table, name) for _, table in group for name in CLASSES)

    match = lru_cache(maxsize=4)(lambda text: together().Match(text))  # asked for each language
    for place, (code, table) in enumerate(group):
        letters = compile_pattern(table["letters"]) if "letters" in table else None
        yield code, Denials(letters=letters, match=match, first=place * len(CLASSES))


def _pattern(table: Mapping[str, Any], name: str) -> str:
    """A class as one pattern, with the parts that its language names in braces."""
    parts = {**table.get("names", {}), **_SHARED}
    pattern = table.get(name) or parts.get(name, _NOTHING)
    for part, words in parts.items():
        pattern = pattern.replace(f"{{{part}}}", words)
    return f"(?m){pattern}"
