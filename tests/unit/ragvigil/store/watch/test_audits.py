"""Audits in the embedded store: what is known of each, its pairs, and records it may judge."""

from __future__ import annotations

from dataclasses import replace

from ragvigil.model.audit import Audit, AuditResult, AuditState, Pair, Side, Verdict
from ragvigil.model.notice import Cause
from ragvigil.model.score import Layer
from ragvigil.store.engine.store import Store
from ragvigil.store.records.traces import TraceRows
from ragvigil.store.watch import audits
from ragvigil.store.watch.audits import Place
from tests.judged import RUBRICS, ids
from tests.outcomes import NOW, SECOND, outcome_of

RESULT = AuditResult(
    rubric="groundedness", layer=Layer.GENERATION, n=2, before=0.9, after=0.8, change=-0.1, low=-0.2
)
AUDIT = Audit(
    audit_id="a",
    service="helpdesk",
    environment="prod",
    anchor_unix_nano=NOW - 60 * SECOND,
    started_unix_nano=NOW,
    routes=("/ask", "/chat"),
    since_unix_nano=(NOW - 60 * SECOND, NOW - 30 * SECOND),
    sources=("n1", "n2"),
    reason="prompt",
    causes=(Cause.GENERATION,),
    results=(RESULT,),
    progress="after 2 of 300 pairs",
)


def side(number: int, *values: float | None) -> Side:
    trace_id, record_id = ids(number)
    rubrics = (("context_relevance", Layer.RETRIEVAL), ("groundedness", Layer.GENERATION))
    return Side(
        trace_id=trace_id,
        record_id=record_id,
        route="/ask",
        verdicts=tuple(
            Verdict(rubric=name, layer=layer, value=value, scorer="openai:m", version="1")
            for (name, layer), value in zip(rubrics, values, strict=False)
        ),
    )


def pair(number: int, *values: float | None) -> Pair:
    return Pair(
        number=number,
        before=side(2 * number, *values),
        after=side(2 * number + 1, *values),
        likeness=0.5,
    )


def keep(store: Store, numbers: range, *, at: int, route: str = "/ask", step: int = 0) -> None:
    rows = TraceRows(RUBRICS)
    for place, number in enumerate(numbers):
        time = at + place * step
        rows.add(outcome_of(number, time_unix_nano=time, received=time, route=route))
    store.write(rows.take())


def found(store: Store, **more: object) -> set[str]:
    service, environment = service_of()
    place = {"service": service, "environment": environment, "since": NOW / 1e9 - 600, **more}
    given = Place(**{"until": NOW / 1e9 + 600, **place})  # type: ignore[arg-type]
    return {candidate.trace_id for candidate in audits.candidates(store, given)}


def service_of() -> tuple[str, str]:
    scored = outcome_of(1).records[0].record
    return scored.service, scored.environment


def test_an_audit_is_read_as_it_was_written_last(store: Store) -> None:
    ended = replace(
        AUDIT, state=AuditState.DROPPED, ended_unix_nano=NOW + SECOND, pairs=2, why="enough"
    )
    store.write(audits.batch(AUDIT, [], NOW))
    assert audits.find(store) == [AUDIT]
    store.write(audits.batch(ended, [pair(0, 1.0, 0.5)], NOW + 1))
    assert audits.find(store, service="helpdesk") == [ended]
    assert audits.find(store, audit_id="b") == []
    assert audits.find(store, service="other") == []
    assert audits.find(store, since=NOW // SECOND + 60) == []


def test_the_newest_audit_comes_first(store: Store) -> None:
    later = replace(AUDIT, audit_id="b", started_unix_nano=NOW + 5 * SECOND)
    for audit in (later, AUDIT):
        store.write(audits.batch(audit, [], NOW))
    assert [audit.audit_id for audit in audits.find(store)] == ["b", "a"]


def test_pairs_are_read_as_they_were_judged_and_no_value_stays_none(store: Store) -> None:
    pairs = [pair(0, 1.0, None), pair(1, 0.0, 0.25)]
    store.write(audits.batch(AUDIT, pairs, NOW))
    assert audits.pairs_of(store, "a") == pairs
    assert audits.pairs_of(store, "b") == []


def test_a_pair_that_is_judged_by_one_more_rubric_keeps_its_other_verdicts(store: Store) -> None:
    store.write(audits.batch(AUDIT, [pair(0, 1.0)], NOW))
    store.write(audits.batch(AUDIT, [pair(0, 1.0, 0.5)], NOW + 1))
    assert audits.pairs_of(store, "a") == [pair(0, 1.0, 0.5)]


def test_candidates_lie_within_the_span_of_time_and_on_the_routes(store: Store) -> None:
    keep(store, range(1, 4), at=NOW)
    keep(store, range(4, 6), at=NOW, route="/chat")
    keep(store, range(6, 8), at=NOW - 700 * SECOND)
    assert found(store) == {ids(number)[0] for number in range(1, 6)}
    assert found(store, routes=("/chat",), since_unix_nano=(0,)) == {ids(4)[0], ids(5)[0]}
    assert found(store, until=(NOW - SECOND) / 1e9) == set()
    assert found(store, service="other") == set()


def test_each_route_has_its_own_beginning(store: Store) -> None:
    keep(store, range(1, 3), at=NOW, step=SECOND)
    keep(store, range(3, 5), at=NOW, step=SECOND, route="/chat")
    routes = {"routes": ("/ask", "/chat"), "since_unix_nano": (NOW, NOW + SECOND)}
    assert found(store, **routes) == {ids(number)[0] for number in (1, 2, 4)}


def test_records_of_a_backfill_are_candidates_too(store: Store) -> None:
    rows = TraceRows(RUBRICS)
    old = outcome_of(1)
    rows.add(replace(old, trace=replace(old.trace, backfill="import")))
    store.write(rows.take())
    assert found(store) == {ids(1)[0]}


def test_more_candidates_come_after_fewer_of_the_same(store: Store) -> None:
    keep(store, range(1, 30), at=NOW)
    few, more = found(store, limit=10), found(store, limit=20)
    assert (len(few), len(more)) == (10, 20)
    assert few < more
