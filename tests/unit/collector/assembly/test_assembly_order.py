"""The algebra of assembly: order does not matter, replays agree, every span is accounted for."""

from __future__ import annotations

import random
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from collector.assembly.assembly import Assembly
from collector.assembly.closed_traces import ClosedTrace, has_log, pack, unpack, weight_of
from collector.assembly.refs import Arrival, Closing, LogRef, SpanRef
from collector.assembly.settings import AssemblyLimits
from ragvigil.model.span import Closed

LIMITS = AssemblyLimits(max_spans=1000)

SPANS = st.lists(
    st.tuples(
        st.integers(0, 2),  # trace
        st.integers(0, 5),  # span
        st.integers(0, 3),  # attributes
        st.floats(0, 20),  # seconds since the one before
    ),
    max_size=25,
)


def arrivals(rows: list[tuple[int, int, int, float]]) -> list[Arrival]:
    return [
        Arrival(
            trace_id=bytes([trace]) * 16,
            ref=SpanRef(seq=seq, index=0, span_id=bytes([number]) * 8, weight=weight, size=1),
            is_root=number == 0,
            received_unix_nano=seq,
        )
        for seq, (trace, number, weight, _) in enumerate(rows)
    ]


def run(spans: list[Arrival], waits: list[float], limits: AssemblyLimits = LIMITS) -> list[Closing]:
    assembly, now, closings = Assembly(limits), 0.0, list[Closing]()
    for arrival, wait in zip(spans, waits, strict=True):
        now += wait
        closings += assembly.close_due(now)
        assembly.add(arrival, now)
    closings += assembly.close_all(Closed.SHUTDOWN)
    assert assembly.open_count == 0
    late = assembly.drain_duplicates()
    counted = Counter(late)
    for closing in closings:
        counted.update(closing.stored)
        counted.update(closing.duplicates)
    assert counted == Counter(arrival.ref.seq for arrival in spans)
    return closings


def last_refs(closings: list[Closing]) -> dict[str, tuple[SpanRef, ...]]:
    forget_size = lambda ref: SpanRef(  # noqa: E731
        seq=ref.seq, index=ref.index, span_id=ref.span_id, weight=ref.weight
    )
    return {closing.trace_id: tuple(map(forget_size, closing.refs)) for closing in closings}


@given(SPANS, st.randoms(use_true_random=False))
def test_the_order_of_arrival_does_not_matter(
    rows: list[tuple[int, int, int, float]], rng: random.Random
) -> None:
    spans, waits = arrivals(rows), [0.0] * len(rows)
    shuffled = rng.sample(spans, len(spans))
    assert last_refs(run(spans, waits)) == last_refs(run(shuffled, waits))


@given(SPANS)
def test_slow_arrival_ends_with_the_same_spans_as_fast(
    rows: list[tuple[int, int, int, float]],
) -> None:
    spans = arrivals(rows)
    slow = run(spans, [wait for *_, wait in rows])
    assert last_refs(slow) == last_refs(run(spans, [0.0] * len(rows)))


@given(SPANS)
def test_a_replay_gives_the_same_generations(rows: list[tuple[int, int, int, float]]) -> None:
    spans = arrivals(rows)
    once = run(spans, [0.0] * len(rows))
    twice = run(spans + spans, [0.0] * 2 * len(rows), LIMITS)
    size = lambda closings: {closing.trace_id: len(closing.refs) for closing in closings}  # noqa: E731
    assert size(once) == size(twice)


@given(SPANS)
def test_the_time_of_receipt_stays_through_all_generations(
    rows: list[tuple[int, int, int, float]],
) -> None:
    closings = run(arrivals(rows), [wait for *_, wait in rows])
    received = {(closing.trace_id, closing.received_unix_nano) for closing in closings}
    assert len(received) == len({closing.trace_id for closing in closings})


@given(SPANS, st.integers(1, 4))
def test_caps_lose_no_span(rows: list[tuple[int, int, int, float]], cap: int) -> None:
    limits = AssemblyLimits(max_spans=cap, max_open_traces=1)
    run(arrivals(rows), [wait for *_, wait in rows], limits)  # accounts for every span itself


IDS = st.binary(min_size=8, max_size=8)
REFS = st.builds(
    SpanRef,
    seq=st.integers(1000, 2000),
    index=st.integers(0, 10_000),
    span_id=IDS,
    weight=st.integers(0, 65_535),
    size=st.just(0),
)
LOGS = st.builds(
    LogRef,
    seq=st.integers(1000, 2000),
    index=st.integers(0, 10_000),
    span_id=IDS,
    digest=st.integers(0, 2**64 - 1),
    size=st.just(0),
)


@given(
    st.lists(REFS, max_size=6, unique_by=lambda ref: ref.span_id), st.lists(LOGS, max_size=4), IDS
)
def test_a_closed_trace_is_unpacked_as_it_was_packed(
    spans: list[SpanRef], logs: list[LogRef], unknown: bytes
) -> None:
    trace = ClosedTrace(
        closed_at=1.5,
        received_unix_nano=7,
        first_seq=1000,
        size=9,
        part=2,
        spans=tuple(spans),
        logs=tuple(logs),
    )
    packed = pack(trace)
    assert packed is not None
    assert unpack(packed) == trace
    assert all(weight_of(packed, ref.span_id) == ref.weight for ref in spans)
    assert all(has_log(packed, ref.span_id, ref.digest) for ref in logs)
    if all(ref.span_id != unknown for ref in spans):
        assert weight_of(packed, unknown) is None


def test_a_span_id_is_not_found_across_two_entries() -> None:
    spans = (
        SpanRef(seq=1, index=0, span_id=bytes(8), weight=0),
        SpanRef(seq=1, index=0, span_id=b"\1" * 8, weight=3),
    )
    trace = ClosedTrace(
        closed_at=0, received_unix_nano=0, first_seq=1, size=0, part=0, spans=spans, logs=()
    )
    packed = pack(trace)
    assert packed is not None
    assert weight_of(packed, bytes(7) + b"\1") is None
    assert weight_of(packed, b"\1" * 8) == 3
