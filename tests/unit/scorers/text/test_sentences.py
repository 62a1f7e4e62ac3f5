"""Where sentences end; what belongs to the one before, and what to none."""

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
def test_several_stops_are_one_end_where_space_follows(text: str, expected: list[str]) -> None:
    assert [sentence.text for sentence in sentences(text)] == expected


@given(st.text("ab .!?\n[]\"'1-", max_size=200))
def test_the_pieces_are_the_text(text: str) -> None:
    spans = cuts(text)
    assert "".join(text[begin:end] for begin, end in spans) == text


@pytest.mark.parametrize("piece", ["?", ".[.]", ".]", ".\"'", "\n", "\n1", ". ", "[1]"])
def test_a_hundred_thousand_of_anything_come_to_an_end(piece: str) -> None:
    text = piece * (100_000 // len(piece)) + "x"  # hours, were the time to grow with the square
    assert cuts(text)[-1][1] == len(text)
