"""Measures of a record that need more than a count."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from ragvigil.model.record import Document, RagRecord
from scorers.record_shape import measure


def chunks(names: str, scores: Sequence[float | None] = ()) -> tuple[Document, ...]:
    given = list(scores) or [None] * len(names)
    return tuple(
        Document(chunk_id=name, content="text", score=score)
        for name, score in zip(names, given, strict=True)
    )


RANKED = chunks("abcde", [0.9, 0.8, 0.7, 0.6, 0.5])


@pytest.mark.parametrize(
    ("context", "share"),
    [("abcde", 1.0), ("edcba", 0.0), ("abced", 0.9), ("ace", 1.0), ("a", None), ("xyz", None)],
)
def test_the_order_of_a_context_is_compared_with_the_scores(
    context: str, share: float | None
) -> None:
    record = RagRecord(
        record_id="1", trace_id="1", retrieved=RANKED, context=chunks(context)
    )  # fmt: skip
    assert measure(record)["context_order"] == share


def test_a_reranker_has_the_last_word_on_the_order() -> None:
    reranked = chunks("abc", [0.1, 0.2, 0.3])
    record = RagRecord(
        record_id="1", trace_id="1", retrieved=RANKED, reranked=reranked, context=chunks("cba")
    )
    assert measure(record)["context_order"] == 1.0


def test_equal_scores_have_no_order() -> None:
    record = RagRecord(record_id="1", trace_id="1", context=chunks("abc", [0.5, 0.5, 0.5]))
    assert measure(record)["context_order"] is None
