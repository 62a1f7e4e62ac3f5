"""Live traces close by the clock, a backfill's by their own times; neither moves the other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from collector.assembly.refs import Arrival, SpanRef
from collector.assembly.settings import AssemblyLimits
from collector.spool.frames import Frame
from ragvigil.app.pipeline.assemblies import BACKFILL_IDLE_SECONDS, Assemblies
from ragvigil.model.span import Closed, Signal

LIMITS = AssemblyLimits(quiet_seconds=2, idle_seconds=60, late_seconds=600)
SECOND = 10**9


def frame(seq: int, backfill: str = "") -> Frame:
    return Frame(seq=seq, signal=Signal.TRACES, items=1, backfill=backfill)


def arrival(number: int, *, seq: int, ended: float = 0, is_root: bool = True) -> Arrival:
    """The one span of trace `number`, whose id is that of the frame."""
    return Arrival(
        trace_id=number.to_bytes(16, "big"),
        ref=SpanRef(seq=seq, index=0, span_id=seq.to_bytes(8, "big")),
        is_root=is_root,
        received_unix_nano=seq,
        ended_unix_nano=int(ended * SECOND),
    )


def closings(assemblies: Assemblies, now: float) -> list[tuple[int, Closed]]:
    return [(int(closing.trace_id, 16), closing.reason) for closing in assemblies.close_due(now)]


def test_a_live_trace_closes_by_the_clock_whatever_its_spans_say() -> None:
    assemblies = Assemblies(LIMITS)
    assemblies.add(frame(1), [arrival(1, seq=1, ended=9e8)], now=10)
    assert closings(assemblies, 11.9) == []
    assert closings(assemblies, 12) == [(1, Closed.ROOT_ENDED)]


def test_a_backfill_closes_in_the_order_in_which_things_happened() -> None:
    assemblies = Assemblies(LIMITS)
    for seq, ended in ((1, 100.0), (2, 101.0), (3, 200.0)):
        assemblies.add(frame(seq, "march"), [arrival(seq, seq=seq, ended=ended)], now=10)
    assert closings(assemblies, 10) == [(1, Closed.ROOT_ENDED), (2, Closed.ROOT_ENDED)]
    assert assemblies.open_traces() == 1


def test_a_backfill_that_falls_silent_ends_and_gives_everything_up() -> None:
    assemblies = Assemblies(LIMITS)
    assemblies.add(frame(1, "march"), [arrival(1, seq=1, ended=100, is_root=False)], now=10)
    assert closings(assemblies, 10 + BACKFILL_IDLE_SECONDS) == []
    assert closings(assemblies, 10.1 + BACKFILL_IDLE_SECONDS) == [(1, Closed.BACKFILL_END)]
    assert assemblies.oldest_seq(20) is None


def test_two_backfills_and_the_live_traffic_have_clocks_of_their_own() -> None:
    assemblies = Assemblies(LIMITS)
    assemblies.add(frame(1), [arrival(1, seq=1)], now=10)
    assemblies.add(frame(2, "march"), [arrival(2, seq=2, ended=100)], now=10)
    assemblies.add(frame(3, "april"), [arrival(3, seq=3, ended=1e6)], now=10)
    assert closings(assemblies, 10) == []
    assert assemblies.open_traces() == 3
    assert assemblies.oldest_seq(10) == 1


def test_a_span_that_comes_again_is_a_duplicate_of_its_own_run_only() -> None:
    assemblies = Assemblies(LIMITS)
    assemblies.add(frame(1), [arrival(1, seq=1)], now=10)
    assert closings(assemblies, 12) == [(1, Closed.ROOT_ENDED)]
    again = Arrival(
        trace_id=(1).to_bytes(16, "big"),
        ref=SpanRef(seq=2, index=0, span_id=(1).to_bytes(8, "big")),
        is_root=True,
    )
    assemblies.add(frame(2), [again], now=13)
    assert assemblies.drain_duplicates() == [2]
    assert assemblies.drain_duplicates() == []
    assemblies.add(frame(3, "march"), [again], now=13)
    assert assemblies.drain_duplicates() == []
    assert assemblies.open_traces() == 1


def test_for_memory_the_older_half_of_every_run_closes_and_one_at_least() -> None:
    assemblies = Assemblies(LIMITS)
    for seq in range(1, 5):
        assemblies.add(frame(seq), [arrival(seq, seq=seq)], now=10)
    assemblies.add(frame(9, "march"), [arrival(9, seq=9, ended=100)], now=10)
    found = [(int(closing.trace_id, 16), closing.reason) for closing in assemblies.close_oldest(10)]
    assert found == [(1, Closed.MEMORY), (2, Closed.MEMORY), (9, Closed.MEMORY)]
    assert assemblies.open_traces() == 2


def test_a_closed_live_trace_is_needed_while_late_spans_may_come() -> None:
    assemblies = Assemblies(LIMITS)
    assemblies.add(frame(7), [arrival(1, seq=7)], now=10)
    assert closings(assemblies, 12) == [(1, Closed.ROOT_ENDED)]
    assert assemblies.oldest_seq(12) == 7
    later = 12 + LIMITS.late_seconds + 60  # it is forgotten together with others of its time
    assert closings(assemblies, later) == []
    assert assemblies.oldest_seq(later) is None


def test_a_backfill_that_has_ended_begins_anew_under_its_name() -> None:
    assemblies = Assemblies(LIMITS)
    for now in (10.0, 20.0):
        assemblies.add(frame(1, "march"), [arrival(1, seq=1, ended=100)], now)
        assert closings(assemblies, now + BACKFILL_IDLE_SECONDS + 1) == [(1, Closed.BACKFILL_END)]
    assert assemblies.drain_duplicates() == []


@given(
    st.lists(
        st.tuples(st.integers(1, 6), st.sampled_from(["", "march", "april"]), st.floats(0, 500)),
        max_size=30,
    )
)
def test_every_span_closes_once_however_runs_are_mixed(
    sent: list[tuple[int, str, float]],
) -> None:
    assemblies = Assemblies(LIMITS)
    found: list[int] = []
    for seq, (number, run, ended) in enumerate(sent, start=1):
        now = 10 + seq * 0.01
        assemblies.add(frame(seq, run), [arrival(number, seq=seq, ended=ended)], now)
        found += [ref for closing in assemblies.close_due(now) for ref in closing.stored]
    found += [ref for closing in assemblies.close_due(1e6) for ref in closing.stored]
    assert sorted(found) == list(range(1, len(sent) + 1))
    assert assemblies.open_traces() == 0


def test_a_backfill_does_not_end_while_frames_are_left_unread() -> None:
    assemblies = Assemblies(LIMITS)
    assemblies.add(frame(1, "march"), [arrival(1, seq=1, ended=100, is_root=False)], now=10)
    assemblies.wait(20)
    assert closings(assemblies, 20 + BACKFILL_IDLE_SECONDS) == []
    assert closings(assemblies, 20.1 + BACKFILL_IDLE_SECONDS) == [(1, Closed.BACKFILL_END)]


def test_relief_closes_a_backfill_by_its_own_clock() -> None:
    assemblies = Assemblies(LIMITS)
    times = ((1, 1e9), (2, 1e9 + 1))
    for seq, ended in times:
        arrived = [arrival(seq, seq=seq, ended=ended, is_root=False)]
        assemblies.add(frame(seq, "march"), arrived, now=10)
    assert [int(each.trace_id, 16) for each in assemblies.close_oldest(11)] == [1]
    late = arrival(1, seq=3, ended=1e9 + 2)
    again = Arrival(late.trace_id, late.ref, False, 3, late.ended_unix_nano)
    assemblies.add(frame(3, "march"), [again], now=12)
    found = assemblies.close_due(12 + BACKFILL_IDLE_SECONDS + 1)
    assert {int(each.trace_id, 16): len(each.refs) for each in found} == {1: 2, 2: 1}
