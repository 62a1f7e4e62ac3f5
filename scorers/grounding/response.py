"""From the sentences of an answer to the answer."""

from __future__ import annotations

from collections.abc import Sequence

WEAKEST = 2
"""Sentences that speak for an answer: a hallucination hides among many that are supported."""


def value(probabilities: Sequence[float]) -> float:
    """The mean probability of the weakest sentences, 0..1.

    >>> value([0.9, 0.2, 0.8])
    0.5
    """
    weakest = sorted(probabilities)[:WEAKEST]
    return sum(weakest) / len(weakest)
