"""Words with which an answer names a conflict between its sources, or denies."""

from __future__ import annotations

from scorers.text.negations import BY_LANGUAGE
from scorers.text.normalise import words

NAMES_CONFLICT = (
    "conflict", "conflicts", "conflicting", "contradict", "contradicts", "contradictory",
    "contradiction", "inconsistent", "inconsistency", "discrepancy", "disagree", "disagrees",
    "widerspruch", "widersprechen", "widerspricht", "widersprüchlich", "widersprüchliche",
    "abweichende", "contradictoire", "contradictoires", "contredisent", "incohérence",
    "contradictorio", "contradictoria", "contradicen", "discrepancia", "contraddicono",
    "contraddittorie", "contradizem", "contraditórias", "tegenstrijdig", "tegenstrijdige",
)  # fmt: skip
"""English, German, French, Spanish, Italian, Portuguese, Dutch."""
DENIES = tuple(BY_LANGUAGE["en"].split())


def naming_conflict(text: str) -> tuple[str, ...]:
    """The words that name a conflict; those that a text about something else has are left out.

    >>> "conflict" in naming_conflict("A long conflict followed.")
    False
    """
    taken = set(words(text))
    return tuple(word for word in NAMES_CONFLICT if taken.isdisjoint(words(word)))
