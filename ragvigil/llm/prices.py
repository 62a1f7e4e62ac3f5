"""What a call costs, by the prices of prices.toml.

A model is found by its exact name, or by its name without the date that pins it. Nothing else is
guessed: a model without a price is unpriced, not free.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files

from ragvigil.llm.outcome import Usage

PIN = re.compile(r"-(20\d{2}-?[01]\d-?[0-3]\d)$")
"""The date at the end of a pinned model's name: `-2026-03-05`, `-20260305`."""
MILLION = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """US dollars per million tokens; a call of more than `long_from` input tokens pays `long_*`.

    >>> Price(input=1.0, output=5.0).cost(Usage(input_tokens=1_000_000, output_tokens=100_000))
    1.5
    """

    input: float
    output: float
    long_from: int | None = None
    long_input: float = 0.0
    long_output: float = 0.0

    def cost(self, usage: Usage) -> float:
        """US dollars for these tokens, as one call."""
        is_long = self.long_from is not None and usage.input_tokens > self.long_from
        input_price = self.long_input if is_long else self.input
        output_price = self.long_output if is_long else self.output
        return (usage.input_tokens * input_price + usage.output_tokens * output_price) / MILLION


@dataclass(frozen=True, slots=True, kw_only=True)
class DatedPrice:
    """A price and the first day on which it is valid."""

    model: str
    since: date
    price: Price


def find_price(model: str, day: date, table: Iterable[DatedPrice] | None = None) -> Price | None:
    """The price of `openai:gpt-…` on a day; None if the table (default: prices.toml) has none."""
    listed = tuple(published() if table is None else table)
    for name in (model, PIN.sub("", model)):
        valid = [dated for dated in listed if dated.model == name and dated.since <= day]
        if valid:
            return max(valid, key=lambda dated: dated.since).price
    return None


@cache
def published() -> tuple[DatedPrice, ...]:
    """Every price of prices.toml."""
    text = (files("ragvigil.llm") / "prices.toml").read_text(encoding="utf-8")
    return tuple(
        DatedPrice(model=row.pop("model"), since=row.pop("since"), price=Price(**row))
        for row in tomllib.loads(text)["price"]
    )
