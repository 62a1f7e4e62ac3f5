"""Which answers a benchmark counts as a fault's own."""

from __future__ import annotations

from bench.rig.issue_incidents import is_given_order, is_made_otherwise
from ragvigil.model.record import Document, RagRecord


def record(*context: str, retrieved: tuple[str, ...] = ()) -> RagRecord:
    return RagRecord(
        record_id="1",
        trace_id="1",
        answer="It takes 5 days [1].",
        context=tuple(Document(chunk_id=text, content=text) for text in context),
        retrieved=tuple(Document(chunk_id=text, content=text) for text in (*context, *retrieved)),
    )


def test_an_order_that_did_not_reach_the_prompt_harmed_nobody() -> None:
    healthy = record("a", "b", retrieved=("c",))
    obeyed = record("a", "an order", retrieved=("b", "c"))
    left_out = record("a", "c", retrieved=("b", "an order"))
    assert is_given_order(obeyed, healthy)
    assert not is_given_order(left_out, healthy)
    assert is_made_otherwise(left_out, healthy)
