"""Nothing counts as stored before the store says so; what it refuses counts as quarantined."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from alerts.deltas.metrics import ScoreMetrics
from alerts.settings import MetricsSettings
from collector.assembly.refs import Closing, SpanRef
from collector.spool.frames import Frame
from ragvigil.app.pipeline.dirty_minutes import DirtyMinutes
from ragvigil.app.pipeline.sink import KINDS, Sink
from ragvigil.app.pipeline.summary import Summarizer
from ragvigil.model.outcome import Outcome
from ragvigil.model.span import Closed, Signal
from ragvigil.store.engine.store import Priority, Store
from ragvigil.store.records import ledger
from tests.outcomes import NOW, SECOND, outcome_of

EMPTY = dict.fromkeys(KINDS, 0)
LINGER = 1.5


def frame(seq: int, spans: int, before: int = 0) -> Frame:
    return Frame(
        seq=seq,
        signal=Signal.TRACES,
        items=spans,
        spans_before=before,
        received_unix_nano=NOW,
    )


def closing(outcome: Outcome, *, seq: int = 1, duplicates: tuple[int, ...] = ()) -> Closing:
    """The closing behind an outcome whose spans all came in one frame."""
    spans = outcome.trace.spans
    return Closing(
        trace_id=outcome.trace.trace_id,
        refs=tuple(
            SpanRef(seq=seq, index=index, span_id=bytes.fromhex(span.span_id))
            for index, span in enumerate(spans)
        ),
        reason=Closed.ROOT_ENDED,
        received_unix_nano=NOW,
        first_seq=seq,
        stored=(seq,) * len(spans),
        duplicates=duplicates,
    )


@pytest.fixture
def scores() -> ScoreMetrics:
    return ScoreMetrics(MetricsSettings(), {}, lambda: NOW / SECOND)


@pytest.fixture
def sink(store: Store, scores: ScoreMetrics) -> Sink:
    return sink_with(store, scores)


def sink_with(store: Store, scores: ScoreMetrics, **more: Any) -> Sink:
    """A sink whose summaries keep every outcome and go nowhere."""
    defaults: dict[str, Any] = {
        "summarizer": Summarizer({}, wants=lambda _: True, samples=lambda _: False),
        "on_durable": lambda _: None,
        "sums": EMPTY,
        "dirty_minutes": DirtyMinutes(),
    }
    return Sink(store, scores, {}, clock_unix=lambda: NOW / SECOND, **(defaults | more))


def add_outcome(sink: Sink, number: int = 1) -> Outcome:
    """The outcome of a trace of two spans, in the sink since second 10."""
    outcome = outcome_of(number)
    sink.opened(frame(number, spans=2, before=2 * (number - 1)), arrived=2)
    sink.add([(closing(outcome, seq=number), None)], [outcome], now=10)
    return outcome


def places_of(sink: Sink) -> dict[str, int]:
    """Where the spans are now, kinds without any left out."""
    sink.publish(0)
    named = {kind: getattr(sink.places, kind) for kind in (*KINDS, "waiting")}
    return {kind: number for kind, number in named.items() if number}


def test_spans_wait_until_their_rows_and_the_ledgers_row_are_durable(sink: Sink) -> None:
    add_outcome(sink)
    assert not sink.advance(10.1)
    assert places_of(sink) == {"waiting": 2}
    assert sink.oldest_seq() == 1
    sink.finish(30)
    assert places_of(sink) == {"stored": 2}
    assert sink.oldest_seq() is None


def test_a_batch_is_sent_when_its_oldest_row_has_waited_long_enough(
    sink: Sink, store: Store
) -> None:
    add_outcome(sink)
    sink.advance(10 + LINGER)
    store.read("ledger_sums", {"replica": ""})  # reads come after the writes that wait
    now, deadline = 10 + LINGER, 10 + 500 * LINGER
    while places_of(sink) != {"stored": 2} and now < deadline:
        now += LINGER
        sink.advance(now)
        store.read("ledger_sums", {"replica": ""})
    assert places_of(sink) == {"stored": 2}
    assert ledger.sums(store)["stored"] == 2


def test_what_could_not_be_read_of_a_frame_is_quarantined(sink: Sink, store: Store) -> None:
    sink.opened(frame(1, spans=5), arrived=0)
    sink.finish(30)
    assert places_of(sink) == {"quarantined": 5}
    assert ledger.sums(store)["quarantined"] == 5


def test_a_span_that_the_database_refuses_is_quarantined_and_its_siblings_stored(
    sink: Sink,
) -> None:
    outcome = outcome_of(1, spans=60)
    first, *rest = outcome.trace.spans
    spans = (replace(first, name="\ud800"), *rest)  # no UTF-8
    outcome = replace(outcome, trace=replace(outcome.trace, spans=spans))
    sink.opened(frame(1, spans=60), arrived=60)
    sink.add([(closing(outcome), None)], [outcome], now=10)
    sink.finish(30)
    assert places_of(sink) == {"stored": 59, "quarantined": 1}


def test_a_closing_that_the_store_has_already_only_moves_the_books(
    sink: Sink, store: Store
) -> None:
    sink.opened(frame(1, spans=3), arrived=3)
    known = closing(outcome_of(1), duplicates=(1,))
    sink.account(stored=known.stored, duplicate=known.duplicates)
    sink.finish(30)
    assert places_of(sink) == {"stored": 2, "duplicate": 1}
    assert store.read("traces_by_outcome", priority=Priority.TICK) == []


def test_spans_that_come_again_are_duplicates_of_the_frame_that_brought_them(sink: Sink) -> None:
    sink.opened(frame(4, spans=2), arrived=2)
    sink.account(duplicate=[4, 4])
    sink.finish(30)
    assert places_of(sink) == {"duplicate": 2}


def test_frames_that_an_earlier_life_has_settled_are_not_counted_again(
    store: Store, scores: ScoreMetrics
) -> None:
    sink = sink_with(store, scores, settled={1: 2}, sums=EMPTY | {"stored": 7})
    assert places_of(sink) == {"stored": 7}
    sink.opened(frame(1, spans=2), arrived=2)
    known = closing(outcome_of(1))
    sink.account(stored=known.stored, duplicate=known.duplicates)
    sink.finish(30)
    assert places_of(sink) == {"stored": 7}
    assert ledger.sums(store)["frames"] == 0


def test_a_frame_of_logs_has_no_place_in_the_books_of_spans(sink: Sink) -> None:
    sink.opened(Frame(seq=1, signal=Signal.LOGS, items=9), arrived=9)
    sink.finish(30)
    assert places_of(sink) == {}
    assert sink.oldest_seq() is None


def test_spans_of_a_frame_that_vanished_are_lost(sink: Sink) -> None:
    sink.opened(frame(1, spans=1), arrived=1)
    sink.opened(frame(3, spans=2, before=4), arrived=2)  # frame 2 had 3 spans
    sink.account(duplicate=[1, 3, 3])
    sink.finish(30)
    assert places_of(sink) == {"duplicate": 3, "lost": 3}


def test_an_old_frame_is_needed_until_what_was_made_of_it_is_durable(sink: Sink) -> None:
    outcome = outcome_of(1)
    late = replace(closing(outcome, seq=9), first_seq=4)  # a late span of frame 9 joins frame 4's
    sink.opened(frame(9, spans=2), arrived=2)
    sink.add([(late, None)], [outcome], now=10)
    assert sink.oldest_seq() == 4
    sink.finish(30)
    assert sink.oldest_seq() is None


def test_what_a_replay_will_read_again_is_known_until_it_was_read(
    store: Store, scores: ScoreMetrics
) -> None:
    sink = sink_with(store, scores, settled={1: 2, 3: 2, 5: 5})
    ahead = []
    for seq, spans in ((1, 2), (2, 7), (3, 2), (6, 1)):  # frame 5 is lost
        sink.publish(0)
        ahead.append(sink.places.ahead)
        sink.opened(frame(seq, spans=spans), arrived=spans)
    sink.publish(0)
    assert (ahead, sink.places.ahead) == ([9, 7, 7, 5], 0)


def test_the_minutes_of_what_became_durable_are_out_of_date(
    store: Store, scores: ScoreMetrics
) -> None:
    dirty = DirtyMinutes()
    sink = sink_with(store, scores, dirty_minutes=dirty)
    add_outcome(sink)
    assert dirty.take() == set()
    sink.finish(30)
    assert dirty.take() == {NOW // SECOND // 60 * 60}
    sink.opened(frame(2, spans=2, before=2), arrived=2)
    stored = closing(outcome_of(1), seq=2)
    sink.account(stored=stored.stored)
    sink.finish(30)
    assert dirty.take() == set(), "spans that need no rows change no score"


def test_what_is_the_last_for_now_is_sent_at_once(sink: Sink, store: Store) -> None:
    add_outcome(sink)
    sink.advance(10)
    assert store.read("traces_by_outcome", priority=Priority.TICK) == []
    sink.advance(10, is_last=True)
    assert store.read("traces_by_outcome", priority=Priority.TICK) != []


def test_the_last_for_now_waits_for_others_where_a_batch_was_just_sent(
    sink: Sink, store: Store
) -> None:
    add_outcome(sink, 1)
    stored = []
    for now in (10.0, 10.5, 11.1):
        sink.advance(now, is_last=True)
        stored.append(_stored_traces(store))
        if now == 10.0:
            add_outcome(sink, 2)
    assert stored == [1, 1, 2]


def _stored_traces(store: Store) -> int:
    rows = store.read("traces_by_outcome", priority=Priority.TICK)
    return sum(int(row["traces"]) for row in rows)


def test_a_trace_that_is_not_sent_yet_is_sent_before_it_is_looked_up(
    sink: Sink, store: Store
) -> None:
    outcome = add_outcome(sink)
    sink.send_if_it_holds({"another"})
    assert store.read("traces_by_outcome", priority=Priority.TICK) == []
    sink.send_if_it_holds({outcome.trace.trace_id})
    assert store.read("traces_by_outcome", priority=Priority.TICK) != []
