"""What one run may cost: dollars where the model has a price, else tokens."""

from __future__ import annotations

from clustering.rca.settings import RootCauseSettings
from ragvigil.llm.outcome import Usage
from ragvigil.llm.prices import Price

SPARE = 2.5
"""Turns that must still fit for the next one not to be the last: answers make them longer."""


class RunBudget:
    """Says before a turn whether it may be made, and keeps count.

    A turn is measured by the most that it can cost, so the cap is never passed.
    """

    def __init__(self, settings: RootCauseSettings, price: Price | None) -> None:
        self._price = price
        self._cap = float(settings.max_tokens) if price is None else settings.max_money
        self._spent = 0.0
        self._most = 0.0

    def fits(self, usage: Usage) -> bool:
        """Whether the run may still cost so much."""
        self._most = self._cost(usage)
        return self._spent + self._most <= self._cap

    def pay(self, usage: Usage) -> None:
        """Takes out what a turn has cost."""
        self._spent += self._cost(usage)

    @property
    def is_low(self) -> bool:
        """Whether the next turn should be the last."""
        return self._spent + SPARE * self._most > self._cap

    @property
    def dollars(self) -> float | None:
        """What the run has cost; None where the model has no price."""
        return None if self._price is None else self._spent

    def _cost(self, usage: Usage) -> float:
        if self._price is None:
            return float(usage.input_tokens + usage.output_tokens)
        return self._price.cost(usage)
