"""The dimension that an audit's drop goes with, read from a real store."""

from __future__ import annotations

from dataclasses import replace

from alerts.verdict.job import DimensionJob
from ragvigil.model.audit import Audit, AuditResult, AuditState, Pair, Side, Verdict
from ragvigil.model.record import Dimensions
from ragvigil.model.score import Layer
from ragvigil.store.engine.store import Store
from ragvigil.store.records.traces import TraceRows
from ragvigil.store.watch import audits
from tests.judged import RUBRICS
from tests.outcomes import NOW, SECOND, outcome_of

ANCHOR = NOW - 1000 * SECOND
PAIRS = 60


def keep(store: Store) -> list[Pair]:
    """Stores pairs of records; after the change, every second one has a model that does worse."""
    rows, pairs = TraceRows(RUBRICS), []
    for number in range(PAIRS):
        is_worse = number % 2 == 1
        before = _side(rows, number + 1, ANCHOR - (number + 1) * 10 * SECOND, "small", 0.9)
        model, value = ("large", 0.3) if is_worse else ("small", 0.9)
        after = _side(rows, number + 1001, ANCHOR + (number + 1) * 10 * SECOND, model, value)
        pairs.append(Pair(number=number, before=before, after=after))
    store.write(rows.take())
    return pairs


def _side(rows: TraceRows, number: int, at: int, model: str, value: float) -> Side:
    outcome = outcome_of(number, time_unix_nano=at, received=at)
    scored = outcome.records[0]
    dimensions = Dimensions(llm_model=model, tenant=str(number % 3))
    record = replace(scored.record, dimensions=dimensions)
    rows.add(replace(outcome, records=(replace(scored, record=record),)))
    verdict = Verdict(
        rubric="groundedness", layer=Layer.GENERATION, value=value - 0.02 * (number % 5)
    )
    return Side(
        trace_id=record.trace_id, record_id=record.record_id, route="/ask", verdicts=(verdict,)
    )


def dropped(**known: object) -> Audit:
    result = AuditResult(
        rubric="groundedness", layer=Layer.GENERATION, state=AuditState.DROPPED, n=PAIRS,
        before=0.9, after=0.7, change=-0.2, low=-0.3, high=-0.1,
    )  # fmt: skip
    given = {"state": AuditState.DROPPED, "ended_unix_nano": NOW, "results": (result,), **known}
    return Audit(
        audit_id="a", service="s", environment="", anchor_unix_nano=ANCHOR,
        started_unix_nano=ANCHOR, **given,
    )  # type: ignore[arg-type]  # fmt: skip


def test_a_drop_is_told_with_the_value_that_it_goes_with_and_read_once(store: Store) -> None:
    pairs = keep(store)
    store.write(audits.batch(dropped(), pairs, NOW))
    job = DimensionJob(store)
    (audit,) = job.run([dropped()])
    assert audit.goes_with[0].startswith("llm_model large: 6")
    assert "% of the drop, first seen 0 min after the onset" in audit.goes_with[0]
    store.write(audits.batch(dropped(), [], NOW + 1))
    assert job.run([dropped()]) == (audit,)


def test_an_audit_that_runs_or_found_nothing_is_not_read(store: Store) -> None:
    store.write(audits.batch(dropped(), keep(store), NOW))
    job = DimensionJob(store)
    for other in (dropped(ended_unix_nano=0), dropped(state=AuditState.STEADY)):
        assert job.run([other]) == (other,)


def test_records_that_are_no_longer_stored_tell_nothing(store: Store) -> None:
    gone = [
        Pair(number=0, before=Side(trace_id="1", record_id="1", route="/ask"),
             after=Side(trace_id="2", record_id="2", route="/ask")),
    ]  # fmt: skip
    store.write(audits.batch(dropped(), gone, NOW))
    assert DimensionJob(store).run([dropped()])[0].goes_with == ()
