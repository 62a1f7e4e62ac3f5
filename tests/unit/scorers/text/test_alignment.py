"""Where a quotation lies in a chunk, and what differs there."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorers.text.alignment import LONGEST, align, is_match
from scorers.text.chunk_text import ChunkText
from scorers.text.normalise import words

WORD = st.text("abcdef", min_size=1, max_size=8)
CHUNK = ChunkText(
    "The fee is 5 EUR. The courier keeps signatures for 18 months. The order is paid back in full"
    " within 10 working days, and the customer is told by letter."
)


def matches(quote: str, chunk: ChunkText = CHUNK) -> bool:
    place = align(words(quote), chunk)
    return place is not None and is_match(words(quote), place, chunk)


def test_differing_words_are_named() -> None:
    place = align(words("keeps signatures for 19 months"), CHUNK)
    assert place is not None
    assert [(change.ours, change.theirs) for change in place.changes] == [(("19",), ("18",))]
    assert place.changes[0].is_number


def test_a_loose_first_word_is_matched_beside_the_rest() -> None:
    place = align(words("The order is paid back in part"), CHUNK)
    assert place is not None
    assert CHUNK.words[place.start : place.start + 2] == ["the", "order"]


@pytest.mark.parametrize(
    "quote",
    [
        "the cour-ier keeps signatures",
        "keeps signatures for 18 mon ths",
        "the custommer is told by letter",
        "signtaures for 18 months",
    ],
)
def test_broken_words_and_typos_are_harmless(quote: str) -> None:
    assert matches(quote)


@pytest.mark.parametrize(
    "quote",
    [
        "keeps signatures for 1 8 months",
        "keeps no signatures for 18 months",
        "never keeps signatures",
        "keeps parcels for 18 months",
        "the order is paid in full",
        "within 100 working days",
    ],
)
def test_other_words_are_not_harmless(quote: str) -> None:
    assert not matches(quote)


def test_texts_without_a_common_word_have_no_alignment() -> None:
    assert align(["zzz"], CHUNK) is None


def test_a_quotation_too_long_to_align_is_not_found_by_its_beginning() -> None:
    text = "word " * (LONGEST + 5)
    assert not matches(text + "other", ChunkText(text))


@given(st.lists(WORD, min_size=1, max_size=60), st.lists(WORD, min_size=1, max_size=60))
def test_alignment_is_total_and_its_numbers_lie_in_range(quote: list[str], text: list[str]) -> None:
    chunk = ChunkText(" ".join(text))
    place = align(quote, chunk)
    if place is not None:
        assert 0 < place.similarity <= 1
        assert 0 <= place.start < place.end <= len(chunk.words)


@given(st.lists(WORD, min_size=4, max_size=60), st.data())
def test_a_verbatim_part_is_always_found(text: list[str], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    stretch = " ".join(text[start : data.draw(st.integers(start + 1, len(text)))])
    assert stretch in " ".join(ChunkText(" ".join(text)).words)
