"""Assembly: when a trace closes, for which reason, and what is in it."""

from __future__ import annotations

from collector.assembly.assembly import Assembly
from collector.assembly.refs import Arrival, AssemblyCount, Closing, LogArrival, LogRef, SpanRef
from collector.assembly.settings import AssemblyLimits
from ragvigil.model.span import Closed

LIMITS = AssemblyLimits(
    quiet_seconds=2, idle_seconds=60, max_age_seconds=600, late_seconds=600, max_spans=100
)
TRACE = bytes(15) + b"\x01"


def span(
    number: int,
    *,
    seq: int = 1,
    trace: bytes = TRACE,
    root: bool = False,
    weight: int = 1,
    size: int = 10,
    received: int = 1000,
) -> Arrival:
    span_id = number.to_bytes(8, "big")
    ref = SpanRef(seq=seq, index=number, span_id=span_id, weight=weight, size=size)
    return Arrival(trace_id=trace, ref=ref, is_root=root, received_unix_nano=received)


def log(number: int, digest: int, *, seq: int = 1, trace: bytes = TRACE) -> LogArrival:
    ref = LogRef(seq=seq, index=0, span_id=number.to_bytes(8, "big"), digest=digest, size=10)
    return LogArrival(trace_id=trace, ref=ref, received_unix_nano=1000)


def numbers(closing: Closing) -> list[int]:
    return [int.from_bytes(ref.span_id, "big") for ref in closing.refs]


def test_a_trace_closes_two_quiet_seconds_after_its_root() -> None:
    assembly = Assembly(LIMITS)
    assembly.add(span(1), 0.0)
    assembly.add(span(2, root=True), 5.0)
    assert assembly.close_due(6.9) == []
    (closing,) = assembly.close_due(7.0)
    assert (closing.reason, numbers(closing)) == (Closed.ROOT_ENDED, [1, 2])
    assert closing.trace_id == TRACE.hex()
    assert assembly.open_count == 0


def test_spans_after_the_root_prolong_the_quiet() -> None:
    assembly = Assembly(LIMITS)
    assembly.add(span(1, root=True), 0.0)
    assembly.add(span(2), 1.5)
    assert assembly.close_due(2.0) == []
    assert len(assembly.close_due(3.5)) == 1


def test_a_trace_without_a_root_closes_when_idle() -> None:
    assembly = Assembly(LIMITS)
    assembly.add(span(1), 0.0)
    assembly.add(span(2), 50.0)
    assert assembly.close_due(109.0) == []
    (closing,) = assembly.close_due(110.0)
    assert closing.reason is Closed.IDLE


def test_the_local_root_of_an_inner_service_waits_for_the_outer_one() -> None:
    assembly = Assembly(LIMITS)
    assembly.add(span(1), 0.0)  # its parent lives in another service and comes later
    assert assembly.close_due(55.0) == []
    assembly.add(span(2, root=True), 55.0)
    (closing,) = assembly.close_due(57.0)
    assert (closing.reason, numbers(closing)) == (Closed.ROOT_ENDED, [1, 2])


def test_a_trace_that_never_rests_closes_by_age() -> None:
    assembly = Assembly(LIMITS)
    closings = []
    for second in range(700):
        closings += assembly.close_due(float(second))
        assembly.add(span(second % 90, root=True), float(second))
    assert [closing.reason for closing in closings] == [Closed.AGE]


def test_a_trace_closes_at_its_span_cap_and_goes_on_as_another_part() -> None:
    assembly = Assembly(LIMITS.model_copy(update={"max_spans": 3}))
    for number in range(5):
        assembly.add(span(number), 0.0)
    (full,) = assembly.close_due(0.0)
    (rest,) = assembly.close_due(2.0)
    assert (full.reason, numbers(full), full.part) == (Closed.SPAN_CAP, [0, 1, 2], 0)
    assert (rest.reason, numbers(rest), rest.part) == (Closed.LATE_SPAN, [3, 4], 1)
    assert len(full.stored) + len(rest.stored) == 5


def test_a_trace_closes_at_its_byte_cap() -> None:
    assembly = Assembly(LIMITS.model_copy(update={"max_bytes": 1000}))
    assembly.add(span(1, size=600), 0.0)
    assembly.add(span(2, size=600), 0.0)
    assert [closing.reason for closing in assembly.close_due(0.0)] == [Closed.BYTE_CAP]


def test_above_the_open_limit_the_oldest_trace_closes() -> None:
    assembly = Assembly(LIMITS.model_copy(update={"max_open_traces": 2}))
    for number in range(3):
        assembly.add(span(1, trace=bytes([number]) * 16), 0.0)
    (closing,) = assembly.close_due(0.0)
    assert (closing.trace_id, closing.reason) == ("00" * 16, Closed.MEMORY)
    assert [closing.reason for closing in assembly.close_oldest(1, 0.0)] == [Closed.MEMORY]
    assert assembly.open_count == 1


def test_of_two_of_one_span_the_richer_stays_and_the_other_is_counted() -> None:
    assembly = Assembly(LIMITS)
    assembly.add(span(1, seq=1, weight=2), 0.0)
    assembly.add(span(1, seq=2, weight=9), 0.0)
    assembly.add(span(1, seq=3, weight=9), 0.0)
    (closing,) = assembly.close_all(Closed.SHUTDOWN)
    assert [ref.seq for ref in closing.refs] == [2]
    assert (closing.stored, closing.duplicates) == ((2,), (1, 3))
    assert assembly.counts[AssemblyCount.DUPLICATE_SPAN] == 2


def test_a_late_span_closes_the_trace_again_with_everything() -> None:
    assembly = Assembly(LIMITS)
    assembly.add(span(1, seq=4, root=True, received=777), 0.0)
    assembly.close_due(2.0)
    assembly.add(span(2, seq=9, received=999), 500.0)
    assert assembly.close_due(501.9) == []
    (closing,) = assembly.close_due(502.0)
    assert (closing.reason, numbers(closing)) == (Closed.LATE_SPAN, [1, 2])
    assert (closing.received_unix_nano, closing.first_seq) == (777, 4)
    assert closing.stored == (9,)


def test_a_late_duplicate_does_not_close_the_trace_again() -> None:
    assembly = Assembly(LIMITS)
    assembly.add(span(1, root=True, weight=5), 0.0)
    assembly.close_due(2.0)
    assembly.add(span(1, seq=8, root=True, weight=5), 3.0)
    assert assembly.open_count == 0
    assert assembly.drain_duplicates() == [8]
    assert assembly.drain_duplicates() == []


def test_a_late_richer_duplicate_closes_the_trace_again() -> None:
    assembly = Assembly(LIMITS)
    assembly.add(span(1, root=True, weight=5), 0.0)
    assembly.close_due(2.0)
    assembly.add(span(1, seq=8, root=True, weight=6), 3.0)
    (closing,) = assembly.close_due(5.0)
    assert [ref.seq for ref in closing.refs] == [8]
    assert (closing.stored, closing.duplicates) == ((), (8,))


def test_a_span_that_comes_too_late_begins_a_new_trace() -> None:
    assembly = Assembly(LIMITS)
    assembly.add(span(1, root=True), 0.0)
    assembly.close_due(2.0)
    assembly.add(span(2), 700.0)
    (closing,) = assembly.close_due(760.0)
    assert (closing.reason, numbers(closing)) == (Closed.IDLE, [2])


def test_logs_are_joined_and_equal_ones_counted_once() -> None:
    assembly = Assembly(LIMITS)
    assembly.add(log(1, 11), 0.0)
    assembly.add(span(1, root=True), 1.0)
    assembly.add(log(1, 12), 1.0)
    assembly.add(log(1, 11, seq=2), 1.0)
    (closing,) = assembly.close_due(3.0)
    assert [ref.digest for ref in closing.logs] == [11, 12]
    assert assembly.counts[AssemblyCount.DUPLICATE_LOG] == 1


def test_a_late_log_closes_the_trace_again_and_an_equal_one_does_not() -> None:
    assembly = Assembly(LIMITS)
    assembly.add(span(1, root=True), 0.0)
    assembly.close_due(2.0)
    assembly.add(log(1, 11, seq=5), 10.0)
    (closing,) = assembly.close_due(12.0)
    assert [ref.digest for ref in closing.logs] == [11]
    assert (closing.reason, closing.stored) == (Closed.LATE_SPAN, ())
    assembly.add(log(1, 11, seq=6), 13.0)
    assert assembly.open_count == 0


def test_logs_without_a_trace_are_dropped_when_idle_and_counted() -> None:
    assembly = Assembly(LIMITS)
    assembly.add(log(1, 11), 0.0)
    assembly.add(log(2, 12), 0.0)
    assert assembly.close_due(60.0) == []
    assert assembly.open_count == 0
    assert assembly.counts[AssemblyCount.ORPHANED_LOG] == 2


def test_open_and_lately_closed_traces_hold_the_spool() -> None:
    assembly = Assembly(LIMITS)
    assert assembly.oldest_open_seq() is None
    assembly.add(span(1, seq=3, root=True), 0.0)
    assembly.add(span(1, seq=8, trace=b"b" * 16), 1.0)
    assert assembly.oldest_open_seq() == 3
    assembly.close_due(2.0)
    assert (assembly.oldest_open_seq(), assembly.oldest_needed_seq(500.0)) == (8, 3)
    assert assembly.oldest_needed_seq(625.0) == 8


def test_what_is_closed_and_not_handed_out_holds_the_spool_too() -> None:
    assembly = Assembly(LIMITS.model_copy(update={"max_spans": 1}))
    assembly.add(span(1, seq=3), 0.0)
    assert assembly.oldest_open_seq() == 3
    assembly.close_due(0.0)
    assert assembly.oldest_open_seq() is None


def test_closed_traces_are_forgotten_for_memory_oldest_first() -> None:
    assembly = Assembly(LIMITS.model_copy(update={"max_remembered_bytes": 2000}))
    for number in range(100):
        assembly.add(span(1, trace=number.to_bytes(16, "big"), root=True), float(number * 10))
        assembly.close_due(number * 10 + 5.0)
    assert assembly.counts[AssemblyCount.FORGOTTEN_TRACE] == 100 - len(assembly.closed)
    assert assembly.closed.size_bytes <= 2000
    assembly.add(span(2, trace=(99).to_bytes(16, "big")), 996.0)
    (closing,) = assembly.close_due(998.0)
    assert closing.reason is Closed.LATE_SPAN


def test_a_backfill_closes_by_event_time_that_jumps_ahead_and_back() -> None:
    day = 86_400.0
    assembly = Assembly(LIMITS)
    assembly.add(span(1, trace=b"a" * 16, root=True), 0.0)
    first = assembly.close_due(8 * day)
    assembly.add(span(1, trace=b"b" * 16, root=True), 8 * day)
    assembly.add(span(1, trace=b"c" * 16, root=True), 1 * day)
    earlier = assembly.close_due(1 * day + 2)
    rest = assembly.close_all(Closed.BACKFILL_END)
    ids = [[closing.trace_id[:2] for closing in part] for part in (first, earlier, rest)]
    assert ids == [["61"], ["63"], ["62"]]


def test_closing_all_leaves_nothing_open() -> None:
    assembly = Assembly(LIMITS)
    for number in range(5):
        assembly.add(span(1, trace=bytes([number]) * 16), 0.0)
    assert {closing.reason for closing in assembly.close_all(Closed.SHUTDOWN)} == {Closed.SHUTDOWN}
    assert (assembly.open_count, assembly.close_due(1e9)) == (0, [])
