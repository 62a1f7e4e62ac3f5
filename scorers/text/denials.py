"""Says what a sentence denies, and of whom, by classes of words that occur in it together.

    >>> denies("en", "whether pets are allowed is nothing that the leaflet goes into")
    False
    >>> denies("en", "the leaflet does not go into pets")
    True
    >>> denies("de", "zu haustieren steht im merkblatt nichts")
    True

The order of the classes is free, as it is in most languages; what must stand together (a negation
and its verb) is one class. The classes are data, per language (`denials.toml`).
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any
from unicodedata import normalize

from scorers.text.patterns import compile_pattern, compile_set

CLASSES = ("source", "untold", "me", "unknown", "topic", "unfound", "plain", "none", "tell")
REFUSING = (
    frozenset({"source", "untold"}),
    frozenset({"me", "unknown"}),
    frozenset({"topic", "unfound"}),
    frozenset({"plain"}),
)
"""Classes that refuse where all of a row occur in one sentence."""
MATTER = frozenset({"source", "me", "topic", "plain"})
"""Classes that make a reason one of the answer, not one of the world."""
_SHARED = {"gap": "(?:[^ ,;:]+ ){0,3}", "end": r"[ .!。।\[\]\d]*$"}
_NOTHING = r"[^\s\S]"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Classes:
    """`together` finds all classes of a text at once; `letters` the script, if it is not Latin."""

    letters: Any
    together: Any


def denies(code: str, text: str) -> bool:
    """Whether a normalised sentence denies that the answer is there, or a text may do so."""
    found = classes_of(code, text)
    return any(row <= found for row in REFUSING)


def explains(code: str, main: str, reason: str) -> bool:
    """Whether the world is why the sources are silent: *no fee is named, because entry is free*."""
    if "source" not in classes_of(code, main):
        return False
    found = classes_of(code, reason)
    return MATTER.isdisjoint(found) and ("none" in found or "tell" not in found)


def classes_of(code: str, text: str) -> frozenset[str]:
    """The classes of words that a normalised text holds in a language."""
    classes = _classes()[code]
    return frozenset(CLASSES[place] for place in classes.together.Match(text) or ())


def is_written(code: str, text: str) -> bool:
    """Whether a text has a letter of the language's script."""
    letters = _classes()[code].letters
    return letters is None or (not text.isascii() and letters.search(text) is not None)


@cache
def _classes() -> Mapping[str, _Classes]:
    text = files("scorers").joinpath("text/denials.toml").read_text("utf-8")
    return {code: _compiled(table) for code, table in tomllib.loads(normalize("NFKC", text)).items()}


def _compiled(table: Mapping[str, Any]) -> _Classes:
    parts = {**table.get("names", {}), **_SHARED}

    def filled(pattern: str) -> str:
        for name, part in parts.items():
            pattern = pattern.replace(f"{{{name}}}", part)
        return f"(?m){pattern}"

    return _Classes(
        letters=compile_pattern(table["letters"]) if "letters" in table else None,
        together=compile_set([filled(table.get(name) or parts.get(name, _NOTHING)) for name in CLASSES]),
    )
