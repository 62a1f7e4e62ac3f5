"""A quote proves something only if the record contains it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorers.text.quotation import is_quoted

CHUNK = "Card refunds take 5 to 7 business days. Refunds to an account are not free of charge."


@pytest.mark.parametrize(
    "quote",
    [
        "refunds take 5 to 7 business days",
        "“Refunds take 5 to 7 BUSINESS days.”",
        "Card refunds … business days",
        "are not free of charge",
        "refunds take 5 to 7 busines days",
    ],
)
def test_a_quote_of_the_chunk_is_found(quote: str) -> None:
    assert is_quoted(quote, ["Something else.", CHUNK])


@pytest.mark.parametrize(
    "quote",
    [
        "", "…", "refunds", "the", "Card refunds", "refunds take 6 to 7 business days",
        "are free of charge", "Refunds are never paid out", "business days are not free of charge",
    ],
)  # fmt: skip
def test_other_words_and_single_words_prove_nothing(quote: str) -> None:
    assert not is_quoted(quote, [CHUNK])


def test_a_short_text_may_be_quoted_whole() -> None:
    assert is_quoted("Berlin.", ["Berlin"])
    assert is_quoted("退款需要5天", ["银行卡退款需要5天。"])
    assert not is_quoted("退款需要9天", ["银行卡退款需要5天。"])


@given(st.lists(st.sampled_from(CHUNK.split()), min_size=1, max_size=8))
def test_any_quote_gets_an_answer(some: list[str]) -> None:
    quote = " ".join(some)
    assert is_quoted(quote, [CHUNK]) in (True, False)
    assert not is_quoted(quote, [])
