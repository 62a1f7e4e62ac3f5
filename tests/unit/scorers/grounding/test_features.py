"""Features of a sentence: their meaning, and their range for any text."""

from __future__ import annotations

import math

from hypothesis import given, settings
from hypothesis import strategies as st

from scorers.grounding.claims import Weights
from scorers.grounding.evidence import LACK, SUPPORT
from scorers.grounding.features import NAMES, measure

PLAIN = Weights(by_word={"the": 1.0, "a": 1.0, "is": 1.5, "take": 4.5}, most=7.0)
CHUNK = "Card refunds take 5 business days. The bank in Lisbon is not open on Sundays."
TEXTS = st.one_of(
    st.text(st.characters(), max_size=80),
    st.lists(
        st.sampled_from(
            [
                CHUNK,
                "退款需要5天。",
                "الاسترداد 5 أيام؟",
                "\ud800",
                "\x00",
                "- ",
                "5%",
                "...",
                "[1]",
                "İ",
            ]
        ),
        max_size=8,
    ).map(" ".join),
)


def rows_of(answer: str, *contents: str, question: str = "") -> list[dict[str, float]]:
    measured = measure(answer, question, contents, PLAIN)
    return [dict(zip(NAMES, row, strict=True)) for row in measured.rows]


def test_a_copied_sentence_has_all_support_and_lacks_nothing() -> None:
    (row,) = rows_of("Card refunds take 5 business days.", CHUNK)
    full = ("coverage", "stem_coverage", "rare_coverage", "pair_coverage", "longest_run", "line",
            "two_lines", "aligned", "chunk", "grams", "together", "tail")  # fmt: skip
    assert {name: row[name] for name in full} == dict.fromkeys(full, 1.0)
    assert all(row[name] == 0 for name in LACK)


def test_a_foreign_sentence_has_no_support() -> None:
    (row,) = rows_of("Zebras gallop quickly", CHUNK)
    assert {name: row[name] for name in SUPPORT if row[name]} == {}
    assert row["missing"] == math.log(1 + 3 * 7.0)


def test_a_number_that_the_context_lacks_is_counted() -> None:
    (row,) = rows_of("Card refunds take 9 business days.", CHUNK)
    assert row["numbers_missing"] == math.log(2)
    assert row["numbers_off_line"] == 1
    assert row["number_pairs_missing"] == math.log(3)


def test_a_name_that_the_context_lacks_is_counted() -> None:
    (own,) = rows_of("The bank in Lisbon is closed.", CHUNK)
    (other,) = rows_of("The bank in Madrid is closed.", CHUNK)
    assert (own["names_missing"], other["names_missing"]) == (0, math.log(2))


def test_a_negation_that_the_nearest_line_lacks_is_a_mismatch() -> None:
    (same,) = rows_of("The bank in Lisbon is not open on Sundays.", CHUNK)
    (other,) = rows_of("The bank in Lisbon is open on Sundays.", CHUNK)
    assert (same["negation"], other["negation"]) == (0, 1)


def test_words_of_the_question_do_not_count_as_missing() -> None:
    (row,) = rows_of("Zebras take days.", CHUNK, question="How long do zebras take?")
    assert row["missing_unasked"] == 0 < row["missing"]


def test_the_best_chunk_is_named_if_any_word_agrees() -> None:
    measured = measure(
        "Refunds take 5 days. Zebras gallop.", "", ["The shop sells tea.", CHUNK], PLAIN
    )
    assert measured.chunks == (1, -1)


def test_citation_markers_are_no_words_of_a_sentence() -> None:
    with_marker = rows_of("Card refunds take 5 business days [refund-02].", CHUNK)
    assert with_marker == rows_of("Card refunds take 5 business days .", CHUNK)


def test_neighbours_are_those_before_and_behind() -> None:
    copied, foreign = rows_of("Card refunds take 5 business days. Zebras gallop.", CHUNK)
    assert copied["after_missing"] == foreign["missing"]
    assert foreign["before_pair_coverage"] == copied["pair_coverage"] == 1
    assert copied["mean_missing"] == foreign["missing"] / 2


@settings(max_examples=150, deadline=None)
@given(answer=TEXTS, question=TEXTS, contents=st.lists(TEXTS, max_size=4))
def test_every_text_gives_finite_numbers_in_their_range(
    answer: str, question: str, contents: list[str]
) -> None:
    for row in rows_of(answer, *contents, question=question):
        assert all(math.isfinite(value) for value in row.values())
        assert all(-1e-9 <= row[name] <= 1 + 1e-9 for name in SUPPORT)
        assert all(row[name] >= 0 for name in LACK)


@settings(max_examples=60, deadline=None)
@given(answer=TEXTS, contents=st.lists(TEXTS, min_size=1, max_size=3), more=TEXTS)
def test_another_chunk_never_lowers_coverage(answer: str, contents: list[str], more: str) -> None:
    before = rows_of(answer, *contents)
    after = rows_of(answer, *contents, more)
    for old, other in zip(before, after, strict=True):
        assert other["coverage"] >= old["coverage"] - 1e-9
        assert other["pair_coverage"] >= old["pair_coverage"]
        assert other["missing"] <= old["missing"] + 1e-9
