"""A price is found by name and day, and never guessed."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragvigil.llm.outcome import Usage
from ragvigil.llm.prices import DatedPrice, Price, find_price, published
from ragvigil.llm.settings import PROVIDERS

OLD, NEW, LONG = (
    Price(input=1.0, output=2.0),
    Price(input=3.0, output=4.0),
    Price(input=1.0, output=2.0, long_from=100, long_input=10.0, long_output=20.0),
)
TABLE = [
    DatedPrice(model="openai:m", since=date(2026, 1, 1), price=OLD),
    DatedPrice(model="openai:m", since=date(2026, 6, 1), price=NEW),
    DatedPrice(model="openai:m-2026-02-03", since=date(2026, 1, 1), price=LONG),
]


@pytest.mark.parametrize(
    ("model", "day", "price"),
    [
        ("openai:m", date(2026, 5, 31), OLD),
        ("openai:m", date(2026, 6, 1), NEW),
        ("openai:m", date(2025, 12, 31), None),
        ("openai:m-2026-05-06", date(2026, 7, 1), NEW),
        ("openai:m-20260506", date(2026, 7, 1), NEW),
        ("openai:m-2026-02-03", date(2026, 7, 1), LONG),
        ("openai:m-mini", date(2026, 7, 1), None),
        ("anthropic:m", date(2026, 7, 1), None),
        ("", date(2026, 7, 1), None),
    ],
)
def test_a_price_is_found_by_name_and_day(model: str, day: date, price: Price | None) -> None:
    assert find_price(model, day, TABLE) == price


def test_a_long_call_costs_the_long_price_as_a_whole() -> None:
    assert LONG.cost(Usage(input_tokens=100, output_tokens=10)) == pytest.approx(120e-6)
    assert LONG.cost(Usage(input_tokens=101, output_tokens=10)) == pytest.approx(1210e-6)


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_more_tokens_never_cost_less(input_tokens: int, output_tokens: int, more: int) -> None:
    for price in {dated.price for dated in published()}:
        fewer = price.cost(Usage(input_tokens=input_tokens, output_tokens=output_tokens))
        assert fewer <= price.cost(
            Usage(input_tokens=input_tokens + more, output_tokens=output_tokens + more)
        )


def test_every_published_price_is_a_price_of_a_known_provider() -> None:
    assert len(published()) > 20
    for dated in published():
        provider, _, name = dated.model.partition(":")
        assert provider in PROVIDERS
        assert name
        assert 0 < dated.price.input <= dated.price.output, dated.model
        if dated.price.long_from is not None:
            assert dated.price.long_input > dated.price.input
            assert dated.price.long_output > dated.price.output
    assert len({(dated.model, dated.since) for dated in published()}) == len(published())
