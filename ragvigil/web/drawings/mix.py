"""Shares of a golden set against the shares that it should have."""

from __future__ import annotations

from dataclasses import dataclass

from ragvigil.model import figures

WIDTH = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class MixBar:
    """A bar as wide as the share, and the place of the aim; both in parts of a hundred."""

    name: str
    cases: int
    share: float | None
    missing: int
    width: float
    aim: float
    says: str


def mix_bar(name: str, cases: int, share: float | None, aim: float, missing: int) -> MixBar:
    """Draws the share of one type of query; no share is an empty bar.

    >>> mix_bar("failure", 14, 0.22, 0.3, 6).says
    '22 % of the set; 30 % is a good share'
    """
    return MixBar(
        name=name,
        cases=cases,
        share=share,
        missing=missing,
        width=round(WIDTH * (share or 0), 1),
        aim=round(WIDTH * aim, 1),
        says=f"{figures.share(share)} of the set; {figures.share(aim)} is a good share",
    )
