"""Where sentences end, and which characters belong to them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorers.text.sentences import cuts, sentences


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Really?! Yes... Go.", ["Really?!", "Yes...", "Go."]),
        ("What?!so", ["What?!so"]),
        ("Wait...what now? Yes.", ["Wait...what now?", "Yes."]),
        ("One. [a] [b]” Two.", ["One. [a] [b]”", "Two."]),
        ("Mr. Roe asked why... He left.", ["Mr. Roe asked why...", "He left."]),
    ],
)
def test_several_stops_before_a_space_end_one_sentence(text: str, expected: list[str]) -> None:
    assert [sentence.text for sentence in sentences(text)] == expected


@given(st.text("ab .!?\n[]\"'1-", max_size=200))
def test_the_pieces_cover_the_text(text: str) -> None:
    spans = cuts(text)
    assert "".join(text[begin:end] for begin, end in spans) == text


@pytest.mark.parametrize("piece", ["?", ".[.]", ".]", ".\"'", "\n", "\n1", ". ", "[1]"])
def test_a_hundred_thousand_repeats_take_linear_time(piece: str) -> None:
    text = piece * (100_000 // len(piece)) + "x"  # hours, if the time grew with the square
    assert cuts(text)[-1][1] == len(text)
