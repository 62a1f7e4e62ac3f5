"""Bounds the cost of one run: in dollars if the model has a price, else in tokens."""

from __future__ import annotations

from clustering.rca.settings import RootCauseSettings
from ragvigil.llm.outcome import Usage
from ragvigil.llm.prices import Price

SPARE = 2.5
"""The next turn is the last unless this many still fit: a conversation grows with its answers."""


class RunBudget:
    """Decides before each turn whether it may be made, and sums up what turns cost.

    A turn counts beforehand as the most that it can cost, so the cap is never exceeded.
    """

    def __init__(self, settings: RootCauseSettings, price: Price | None) -> None:
        self._price = price
        self._cap = float(settings.max_tokens) if price is None else settings.max_money
        self._spent = 0.0
        self._most = 0.0

    def fits(self, usage: Usage) -> bool:
        """Whether the budget still covers a turn of this usage."""
        self._most = self._cost(usage)
        return self._spent + self._most <= self._cap

    def pay(self, usage: Usage) -> None:
        """Deducts what a turn has cost."""
        self._spent += self._cost(usage)

    @property
    def is_low(self) -> bool:
        """Whether the next turn should be the last."""
        return self._spent + SPARE * self._most > self._cap

    @property
    def dollars(self) -> float | None:
        """The dollars spent; None if the model has no price."""
        return None if self._price is None else self._spent

    def _cost(self, usage: Usage) -> float:
        if self._price is None:
            return float(usage.input_tokens + usage.output_tokens)
        return self._price.cost(usage)
