"""Usual traces are scored in batches; suspects and large ones hold no other up."""

from __future__ import annotations

from collections.abc import Sequence

from collector.assembly.refs import Closing, SpanRef
from ragvigil.app.pipeline.backlog import LARGE_BYTES, TURN_BYTES, Backlog
from ragvigil.model.span import Closed


def closing(name: str, *, size: int = 1000, seq: int = 1) -> Closing:
    return Closing(
        trace_id=name,
        refs=(SpanRef(seq=seq, index=0, span_id=b"12345678", size=size),),
        reason=Closed.ROOT_ENDED,
        received_unix_nano=0,
        first_seq=seq,
    )


def backlog(*closings: Closing, suspects: Sequence[str] = ()) -> Backlog:
    made = Backlog(lambda each: each.trace_id in suspects)
    made.add(closings)
    return made


def names(batch: Sequence[Closing]) -> list[str]:
    return [each.trace_id for each in batch]


def test_a_suspect_comes_alone_and_in_its_turn() -> None:
    waiting = backlog(*map(closing, "abcde"), suspects="bc")
    assert [names(waiting.next_batch(9)) for _ in range(4)] == [["a"], ["b"], ["c"], ["d", "e"]]


def test_usual_traces_overtake_large_ones() -> None:
    waiting = backlog(closing("a"), closing("large", size=LARGE_BYTES), closing("b"))
    assert names(waiting.next_batch(9)) == ["a", "b"]
    large = waiting.next_large(())
    assert large is not None
    assert large.trace_id == "large"
    assert not waiting


def test_generations_of_a_large_trace_come_one_after_the_other() -> None:
    # What a closed trace had before counts no bytes when a late span opens it again.
    first, late = closing("large", size=LARGE_BYTES), closing("large", size=0)
    waiting = backlog(first, late)
    assert waiting.next_batch(9) == []
    assert waiting.next_large(()) is first
    assert waiting.next_large({"large"}) is None
    assert waiting.next_large(()) is late


def test_a_trace_that_grew_large_waits_for_its_usual_generation() -> None:
    small, large = closing("a"), closing("a", size=LARGE_BYTES)
    waiting = backlog(small, large)
    assert waiting.next_large(()) is None
    assert waiting.next_batch(9) == [small]
    assert waiting.next_large(()) is large


def test_a_large_suspect_is_no_matter_for_a_worker() -> None:
    waiting = backlog(closing("large", size=LARGE_BYTES), suspects=["large"])
    assert waiting.next_large(()) is None
    assert names(waiting.next_batch(9)) == ["large"]


def test_a_batch_ends_at_its_bytes() -> None:
    half = TURN_BYTES // 16
    waiting = backlog(*(closing(str(number), size=half) for number in range(20)))
    assert len(waiting.next_batch(99)) == 16
    assert len(waiting) == 4


def test_the_oldest_frame_of_both_kinds_is_still_needed() -> None:
    assert backlog().oldest_seq() is None
    waiting = backlog(closing("a", seq=7), closing("large", size=LARGE_BYTES, seq=3))
    assert waiting.oldest_seq() == 3


def test_what_is_put_back_comes_first_in_the_same_order() -> None:
    waiting = backlog(*map(closing, "abc"), closing("large", size=LARGE_BYTES))
    taken, large = waiting.next_batch(2), waiting.next_large(())
    assert large is not None
    waiting.put_back([large])
    waiting.put_back(taken)
    assert names(waiting.next_batch(9)) == ["a", "b", "c"]
    assert waiting.next_large(()) is large
