"""Kappa with its interval on a scale from chance, 0, to full agreement, 1."""

from __future__ import annotations

from dataclasses import dataclass

from ragvigil.model import figures

WIDTH = 160
INSET = 4
BAR = 0.7
"""Least kappa of a trusted judge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """Places on the scale, in px; None for what is unknown. `says` is the drawing in words."""

    says: str
    bar: float
    dot: float | None = None
    low: float | None = None
    high: float | None = None
    is_alarm: bool = False


def agreement(kappa: float | None, low: float | None, high: float | None) -> Agreement:
    """Draws a kappa; under 0 it is clipped, since it is then no better than chance.

    >>> drawn = agreement(0.5, 0.25, 0.6)
    >>> drawn.dot, drawn.low, drawn.high, drawn.is_alarm
    (80.0, 42.0, 95.2, True)
    >>> drawn.says
    'kappa 0.50, between 0.25 and 0.60; a judge is trusted from 0.70'
    >>> agreement(None, None, None).says
    'not known yet'
    """
    return Agreement(
        says=_words(kappa, low, high),
        bar=_place(BAR),
        dot=None if kappa is None else _place(kappa),
        low=None if low is None else _place(low),
        high=None if high is None else _place(high),
        is_alarm=high is not None and high < BAR,
    )


def _place(kappa: float) -> float:
    return round(INSET + min(max(kappa, 0.0), 1.0) * (WIDTH - 2 * INSET), 2)


def _words(kappa: float | None, low: float | None, high: float | None) -> str:
    if kappa is None:
        return "not known yet"
    known = low is not None and high is not None
    interval = f", between {figures.score(low)} and {figures.score(high)}" if known else ""
    trusted = figures.score(BAR)
    return f"kappa {figures.score(kappa)}{interval}; a judge is trusted from {trusted}"
