"""Counts of several replicas add up to what one would have counted, whatever is counted twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from itertools import count

import pytest

from alerts.deltas.minute_counter import MinuteCounter
from alerts.notices.fingerprint import NUMBERS, VALUES, fingerprint_of
from alerts.settings import AlertsSettings
from alerts.signals.catalogue import signal_choice
from ragvigil.model.outcome import Outcome
from ragvigil.model.record import Absent, ContextSource, Dimensions, Document, RagRecord
from ragvigil.store.engine.store import Store
from ragvigil.store.records.traces import TraceRows
from ragvigil.store.scores import rollups
from ragvigil.store.watch import fingerprints, signals
from ragvigil.store.watch.fingerprints import MOST_VALUES
from ragvigil.store.watch.minute_counts import Counted
from tests.outcomes import NOW, SECOND, outcome_of
from tests.replicas import of_replica
from tests.unit.alerts.stored_requests import FACTS, Served

MINUTE, HOUR = 60, 3600
NOON = NOW // SECOND // HOUR * HOUR - 6 * HOUR
BROKEN, MOVED = AlertsSettings().broken, AlertsSettings().moved
SIGNALS = signals.counted(signal_choice(BROKEN, MOVED))
VERSIONS = count(NOW)
KINDS = (*VALUES, "template", "document", "retrieved", "in_prompt", "top_score", "mean_score")


def write(store: Store, outcomes: Iterable[Outcome]) -> None:
    """Stores what one replica has scored, and rolls its minutes up."""
    rows = TraceRows(FACTS, replica=store.replica)
    for outcome in outcomes:
        rows.add(outcome)
    rollups.recompute(store, store.write(rows.take()).minutes, version=next(VERSIONS))


def counted(store: Store) -> dict[tuple[str, int], tuple[float, ...]]:
    """Sums by signal and minute, added up over all replicas."""
    return {
        (f"{sums.series[place].route} {sums.series[place].rubric}", int(start)): (
            round(n, 6), round(total, 6), round(squares, 6),
        )
        for sums in signals.sums(store, NOON, NOON + HOUR)
        for place, start, n, total, squares in zip(
            sums.index, sums.start, sums.n, sums.total, sums.squares, strict=True
        )
    }  # fmt: skip


def served(number: int) -> Outcome:
    """Requests that differ; one in four asks what others ask."""
    return Served(
        number=number,
        time=NOON + 13 * number,
        route=("/ask", "/find")[number % 5 == 0],
        query="Is it down?" if number % 4 == 0 else f"Question {number}?",
        validity=0.5 if number % 3 else None,
        label="refused" if number % 7 == 0 else "answered",
        ending="truncated" if number % 6 == 0 else "",
        error="502" if number % 11 == 0 else None,
        local=0.25 * (number % 4),
        is_irrelevant=number % 9 == 0,
        measures={"answer_words": 10.0 + number, "seconds_total": 50.0 + number},
    ).outcome()


def shown(number: int) -> Outcome:
    """Requests that differ in what notices compare."""
    made = outcome_of(number, time_unix_nano=(NOON + 13 * number) * SECOND)
    documents = tuple(
        Document(chunk_id=f"c{n}", document_id=f"d{n}", score=1 / (n + number + 1))
        for n in range(number % 4)
    )
    about = Dimensions(
        llm_model=f"m-{number % 2}",
        prompt_version=("v1", "sha:1")[number % 3 == 0],
        temperature=0.1 * (number % 3) if number % 2 else None,
        top_k=4,
        index_epoch=("2026-05", "noticed re-chunked")[number % 2],
        reranker_model="r" if number % 7 == 0 else "",
    )
    absent = [{"reranked": Absent.NOT_RUN}, {"retrieved": Absent.NOT_SENT}, {}][number % 3]
    record = replace(
        made.records[0].record,
        retrieved=documents,
        reranked=documents[:1],
        context=documents[:2],
        context_source=list(ContextSource)[number % len(ContextSource)],
        dimensions=about,
        absent=absent,
        error="502" if number % 11 == 0 else None,
        prompt_template=(1, 2, number % 2),
    )
    return replace(made, records=(replace(made.records[0], record=record),))


def shown_values(record: RagRecord) -> Iterable[tuple[str, str]]:
    """What the table should count of a record, taken as the detectors take it."""
    print_ = fingerprint_of(record, 0)
    yield from zip(map(str, VALUES), print_.values, strict=True)
    yield "template", " ".join(map(str, print_.template))
    yield from (("document", name) for name in {chunk.document for chunk in print_.chunks or ()})
    for kind, number in zip(NUMBERS, print_.numbers, strict=True):
        form = "{:.1e}" if kind.endswith("score") else "{:.0f}"
        if kind in KINDS:
            yield kind, "" if number is None else form.format(number)


def shown_by_value(store: Store) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for hours in fingerprints.by_hour(store, KINDS, 0):
        found[hours.kind, hours.value] += sum(hours.requests)
    return found


def test_signals_of_two_replicas_add_up_to_those_of_one(store: Store) -> None:
    edges = [of_replica(store, name) for name in "ab"]
    outcomes = [served(number) for number in range(120)]
    write(edges[0], outcomes[::3])
    write(edges[1], [outcome for place, outcome in enumerate(outcomes) if place % 3])
    for edge in edges:
        MinuteCounter(edge, SIGNALS).run(NOON)
    both = counted(store)
    for table in ("records", "record_shapes", "scores", "rollups", "signal_minutes"):
        store.change(f"TRUNCATE TABLE {table}")
    write(store, outcomes)
    MinuteCounter(store, SIGNALS).run(NOON)
    assert both == counted(store)
    assert both["/ask error", NOON] == (4, 0, 0)
    # The popular question is one voice of two replicas, as it would be of one.
    assert sum(n for (name, _), (n, *_) in both.items() if name == "/ask answer_words") < 90


def test_fingerprints_of_two_replicas_add_up_to_what_the_records_show(store: Store) -> None:
    edges = [of_replica(store, name) for name in "ab"]
    outcomes = [shown(number) for number in range(60)]
    write(edges[0], outcomes[::2])
    write(edges[1], outcomes[1::2])
    for edge in edges:
        MinuteCounter(edge, fingerprints.COUNTED).run(NOON)
    expected = Counter(
        pair
        for outcome in outcomes
        for pair in shown_values(outcome.records[0].record)
        if pair[1] and pair[0] != "template"
    )
    found = shown_by_value(store)
    # Of sentences those count that a share of the requests have: here all.
    assert {value for kind, value in found if kind == "template"} == {"1 2 0", "1 2 1"}
    assert {pair: n for pair, n in found.items() if pair[0] != "template"} == expected


def test_the_most_frequent_values_are_named_and_the_others_counted(store: Store) -> None:
    outcomes = []
    for number in range(MOST_VALUES + 20):
        made = outcome_of(number, time_unix_nano=NOON * SECOND)
        record = replace(
            made.records[0].record, dimensions=Dimensions(llm_model=f"m-{max(number, 10):03}")
        )
        outcomes.append(replace(made, records=(replace(made.records[0], record=record),)))
    write(store, outcomes)
    MinuteCounter(store, fingerprints.COUNTED).run(NOON)
    models = {value: n for (kind, value), n in shown_by_value(store).items() if kind == "llm_model"}
    assert (models["m-010"], models[""], len(models)) == (11, 10, MOST_VALUES + 1)


@pytest.mark.parametrize("table", [SIGNALS, fingerprints.COUNTED], ids=lambda each: each.table)
def test_what_is_stored_or_counted_twice_counts_once(store: Store, table: Counted) -> None:
    def state() -> object:
        return counted(store), shown_by_value(store)

    outcomes = [served(number) for number in range(20)]
    write(store, outcomes)
    counter = MinuteCounter(store, table)
    counter.run(NOON)
    first = state()
    assert first != ({}, Counter())
    write(store, outcomes)
    counter.run(NOON)
    counter.run(NOON)
    assert state() == first
    # A process that died before it counted: the next goes on from what is stored.
    write(store, [served(number) for number in range(20, 30)])
    MinuteCounter(store, table).run(NOON)
    after = state()
    assert after != first
    MinuteCounter(store, table).run(NOON)
    assert state() == after


def test_another_choice_of_signals_counts_the_past_again(store: Store) -> None:
    write(store, [served(number) for number in range(20)])
    MinuteCounter(store, SIGNALS).run(NOON)
    assert sum(total for (name, _), (_, total, _) in counted(store).items() if "slow" in name) == 9
    quick = BROKEN.model_copy(update={"latency_seconds": 55.0})
    MinuteCounter(store, signals.counted(signal_choice(quick, MOVED))).run(NOON)
    assert sum(total for (name, _), (_, total, _) in counted(store).items() if "slow" in name) == 14


def test_records_that_go_are_taken_off(store: Store) -> None:
    write(store, [served(0), served(1)])
    counter = MinuteCounter(store, SIGNALS)
    counter.run(NOON)
    assert counted(store)["/ask error", NOON] == (1, 0, 0)
    gone = replace(served(1), records=(), gone=(served(1).records[0].record.record_id,))
    trace = replace(gone.trace, spans=(*gone.trace.spans, gone.trace.spans[0]))
    write(store, [replace(gone, trace=trace)])
    rollups.recompute(store, [NOON], version=next(VERSIONS))
    counter.run(NOON)
    assert ("/ask error", NOON) not in counted(store)
