"""Says under which value a local model's score has its label, and who set it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragvigil.model.figures import count, score, share

SHIPPED_IS = {
    "contradiction": "the label is on a sentence denied with {} or more, the shipped value",
    "citation_support": "the label is on a cited sentence under {}, the shipped value",
}
SHIPPED = "the label is on a sentence under {}, the shipped value"


def bar_words(rubric: str, details: Mapping[str, Any]) -> str:
    """The bar of a score's details in words; empty where it has none.

    >>> bar = {"below": 0.31, "of": "route", "share": 0.05, "answers": 812, "version": "…"}
    >>> print(bar_words("groundedness", {"bar": bar}))
    the label is under 0.31: 5 % of 812 healthy answers of this route lie there
    >>> bar_words("groundedness", {"bar": {"below": 0.2, "of": "setting"}})
    'the label is under 0.20, as the settings say'
    """
    bar = details.get("bar")
    if not isinstance(bar, Mapping) or not isinstance(bar.get("below"), int | float):
        return ""
    below = score(bar["below"])
    if bar.get("of") == "shipped":
        return SHIPPED_IS.get(rubric, SHIPPED).format(below)
    if bar.get("of") == "setting":
        return f"the label is under {below}, as the settings say"
    healthy = f"{count(bar['answers'])} healthy answers of this {bar['of']}"
    return f"the label is under {below}: {share(bar['share'])} of {healthy} lie there"
