"""Records by the meaning of their questions: nearness to a vector, among the vectors stored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragvigil.store.records import records
from ragvigil.store.records.record_filter import RecordFilter

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

LEAST_LIKENESS = 0.4
"""Cosine under which questions are not about the same. Eight questions and their paraphrases in
other words lie over it (0.45 to 0.66), their 56 other pairs under it (at most 0.38)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryVector:
    """The vector of what is looked for, of length 1, and the model's version that made it."""

    model: str
    values: Sequence[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorCounts:
    """Of so many answers with a question, how many have a vector of it."""

    answers: int
    with_vector: int


def nearest(store: Store, filter_: RecordFilter, vector: QueryVector) -> list[dict[str, Any]]:
    """The `limit` nearest records that match, as `records.find` gives them, with `likeness`.

    Raises as `Store.read` does.
    """
    near = store.read(
        "records_near",
        {
            **filter_.parameters(),
            "limit": filter_.limit,
            "vector": list(vector.values),
            "vector_model": vector.model,
            "least": LEAST_LIKENESS,
        },
    )
    likeness = {(row["trace_id"], row["record_id"]): float(row["likeness"]) for row in near}
    return [
        {**form, "likeness": likeness[form["trace_id"], form["record_id"]]}
        for form in records.summaries(store, near)
    ]


def vector_counts(store: Store, filter_: RecordFilter, model: str) -> VectorCounts:
    """How many of the records that match can be found by meaning. Raises as `Store.read` does."""
    (row,) = store.read("records_with_vectors", {**filter_.parameters(), "vector_model": model})
    return VectorCounts(answers=int(row["answers"]), with_vector=int(row["with_vector"]))
