"""The shape of a retrieved list: empty, duplicates, near-duplicates, collapsed scores."""

from __future__ import annotations

import doctest
from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from ragvigil.model.record import Absent, Document, RagRecord, Retrieval
from scorers import retrieval_shape
from scorers.retrieval_shape import RetrievalShape

FIRST = (
    "The warehouse is closed on Sundays. It opens at nine. Parcels wait for a week. Bring an id."
)
OTHER = "Card refunds take five days. Vouchers are not refunded. Ask support. Keep the receipt."


def chunks(texts: Sequence[str | None], scores: Sequence[float | None]) -> tuple[Document, ...]:
    return tuple(
        Document(chunk_id=f"c{rank}", content=text, score=score, rank=rank)
        for rank, (text, score) in enumerate(zip(texts, scores, strict=True))
    )


def record(*lists: tuple[Document, ...]) -> RagRecord:
    retrievals = tuple(
        Retrieval(query="q", documents=documents, span_id=str(place))
        for place, documents in enumerate(lists)
    )
    every = tuple(document for documents in lists for document in documents)
    return RagRecord(record_id="1", trace_id="1", retrieved=every, retrievals=retrievals)


def test_the_example_in_the_docstring_holds() -> None:
    assert doctest.testmod(retrieval_shape).failed == 0


def test_distinct_chunks_with_different_scores_score_1() -> None:
    score = RetrievalShape().score(record(chunks([FIRST, OTHER], [0.9, 0.1])))
    assert (score.value, score.label, score.explanation) == (1.0, "", "2 distinct chunks")


def test_an_empty_retrieval_scores_0() -> None:
    score = RetrievalShape().score(record(()))
    assert (score.value, score.label) == (0.0, "empty")


def test_without_a_retrieval_the_rubric_is_not_applicable() -> None:
    assert RetrievalShape().score(RagRecord(record_id="1", trace_id="1")).value is None


def test_an_absent_list_is_not_applicable_and_named() -> None:
    hidden = replace(record(()), absent={"retrieved": Absent.HIDDEN})
    score = RetrievalShape().score(hidden)
    assert (score.value, score.absent) == (None, "retrieved")


def test_the_same_text_or_id_again_is_a_duplicate() -> None:
    documents = chunks([FIRST, OTHER, FIRST], [3.0, 2.0, 1.0])
    again = replace(documents[1], rank=3, content=None)
    score = RetrievalShape().score(record((*documents, again)))
    assert (score.value, score.label) == (0.5, "duplicate")
    assert score.details["duplicates"] == ["c2", "c1"]


def test_a_chunk_with_one_sentence_changed_is_nearly_the_same() -> None:
    changed = FIRST.replace("Bring an id.", "Bring nothing.") + " Parking is free."
    score = RetrievalShape().score(record(chunks([FIRST + " Ring twice.", changed], [2.0, 1.0])))
    assert score.label == ""
    longer = f"Ring twice. {FIRST}"
    score = RetrievalShape().score(record(chunks([FIRST, longer], [2.0, 1.0])))
    assert (score.value, score.label) == (0.5, "near_duplicate")
    assert score.details["near_duplicates"] == ["c1"]


def test_equal_scores_of_all_chunks_are_collapsed() -> None:
    score = RetrievalShape().score(record(chunks([FIRST, OTHER, "Third."], [0.5] * 3)))
    assert (score.value, score.label) == (0.0, "collapsed_scores")
    assert score.explanation == "all 3 chunks score 0.5"


def test_nearly_equal_scores_are_collapsed() -> None:
    documents = record(chunks([FIRST, OTHER, "Third."], [0.81231, 0.81232, 0.81233]))
    assert RetrievalShape().score(documents).label == "collapsed_scores"
    documents = record(chunks([FIRST, OTHER, "Third."], [0.8131, 0.8123, 0.8112]))
    assert RetrievalShape().score(documents).value == 1.0
    documents = record(chunks([FIRST, OTHER, "Third."], [float("nan")] * 3))
    assert RetrievalShape().score(documents).value == 1.0


def test_short_chunks_are_compared_by_their_words() -> None:
    short = "Vouchers and gift cards are never paid out in cash by any shop."
    documents = record(chunks([short, short.replace("any shop", "a shop")], [2.0, 1.0]))
    assert RetrievalShape().score(documents).label == ""
    documents = record(chunks([short, f"{short} Sorry."], [2.0, 1.0]))
    assert RetrievalShape().score(documents).label == "near_duplicate"


def test_scores_of_different_searches_are_not_compared() -> None:
    first = chunks([FIRST, OTHER, "Third."], [0.5, 0.4, 0.3])
    two = tuple(replace(document, chunk_id=f"d{document.rank}", content=None) for document in first)
    assert RetrievalShape().score(record(first, two)).value == 1.0


def test_placeholders_and_missing_scores_do_not_count() -> None:
    for value in (0.0, 1.0, None):
        documents = chunks([FIRST, OTHER, "Third."], [value] * 3)
        assert RetrievalShape().score(record(documents)).value == 1.0


@given(st.sets(st.integers(0, 99), max_size=60), st.sets(st.integers(0, 99), max_size=6))
def test_no_near_duplicate_slips_through_the_filter(words: set[int], others: set[int]) -> None:
    shape = retrieval_shape.outline(" ".join(f"w{word}" for word in sorted(words)))
    other = retrieval_shape.outline(" ".join(f"w{word}" for word in sorted(words ^ others)))
    either = len(shape.words | other.words)
    if either and len(shape.words & other.words) >= retrieval_shape.NEAR_WORDS * either:
        assert not shape.marks.isdisjoint(other.marks)


@given(
    st.lists(
        st.tuples(st.sampled_from([FIRST, OTHER, "", None]), st.none() | st.floats()), max_size=9
    )
)
def test_the_value_is_a_share_for_any_list(
    rows: list[tuple[str | None, float | None]],
) -> None:
    documents = chunks([text for text, _ in rows], [score for _, score in rows])
    value = RetrievalShape().score(record(documents)).value
    assert value is not None
    assert 0 <= value <= 1
