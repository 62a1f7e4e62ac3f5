"""The canary: frozen records, and the verdicts of every run over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score
from ragvigil.store.engine.batch import Batch, token_of
from ragvigil.store.engine.priority import Priority
from ragvigil.store.records.frozen import freeze, thaw
from ragvigil.store.records.record_rows import RubricFacts, segment
from ragvigil.store.records.span_rows import nanos

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

LAST_RUNS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryRecord:
    """A record as it was when the canary was chosen; `kind` is good, bad or borderline."""

    record: RagRecord
    kind: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CanarySet:
    """The records of one canary, in the order of their ids."""

    set_id: str
    chosen_unix_nano: int
    members: tuple[CanaryRecord, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CanaryScore:
    """What one run said of one record by one rubric; no value where there was no verdict."""

    run_id: str
    time_unix_nano: int
    trace_id: str
    record_id: str
    rubric: str
    segment: str
    scorer: str = ""
    version: str = ""
    value: float | None = None
    label: str = ""
    absent: str = ""


def members_batch(chosen: CanarySet, *, replica: str = "", epoch: int = 0) -> Batch:
    """A batch that stores a set."""
    found = [
        (
            chosen.set_id,
            nanos(chosen.chosen_unix_nano),
            one.kind,
            one.record.trace_id,
            one.record.record_id,
            one.record.service,
            one.record.environment,
            one.record.route,
            freeze(one.record),
            replica,
            epoch,
        )
        for one in chosen.members
    ]
    return Batch(rows={"canary_members": found}, token=token_of("canary", *found))


def scores_batch(
    set_id: str,
    scores: Sequence[CanaryScore],
    received_unix_nano: int,
    *,
    replica: str = "",
    epoch: int = 0,
) -> Batch:
    """A batch that stores verdicts of a run."""
    found = [
        (
            set_id,
            one.run_id,
            nanos(one.time_unix_nano),
            received_unix_nano,
            one.trace_id,
            one.record_id,
            one.rubric,
            one.segment,
            one.scorer,
            one.version,
            one.value,
            one.label,
            one.absent,
            replica,
            epoch,
        )
        for one in scores
    ]
    return Batch(rows={"canary_scores": found}, token=token_of("canary_scores", *found))


def scored(
    run_id: str,
    time_unix_nano: int,
    record: RagRecord,
    scores: Sequence[Score],
    rubrics: Mapping[str, RubricFacts],
) -> list[CanaryScore]:
    """The scores of one member in one run; `time_unix_nano` is that of the run's beginning."""
    return [
        CanaryScore(
            run_id=run_id,
            time_unix_nano=time_unix_nano,
            trace_id=record.trace_id,
            record_id=record.record_id,
            rubric=one.rubric,
            segment=segment(rubrics.get(one.rubric, RubricFacts()), one),
            scorer=one.scorer,
            version=one.version,
            value=one.value,
            label=one.label,
            absent=one.absent,
        )
        for one in scores
    ]


def current(store: Store) -> CanarySet | None:
    """The set that was chosen last, None where there is none."""
    rows = store.read("canary_newest", priority=Priority.TICK)
    if not rows:
        return None
    return CanarySet(
        set_id=rows[0]["set_id"],
        chosen_unix_nano=rows[0]["chosen_nanos"],
        members=tuple(CanaryRecord(record=thaw(row["record"]), kind=row["kind"]) for row in rows),
    )


def runs(store: Store, set_id: str, *, last: int = LAST_RUNS) -> list[list[CanaryScore]]:
    """The first run of a set and the `last` ones, oldest first; a run is there once."""
    asked = {"set_id": set_id, "last": last}
    found: dict[str, list[CanaryScore]] = {}
    for row in store.read("canary_runs", asked, priority=Priority.TICK):
        found.setdefault(row["run_id"], []).append(_score(row))
    return list(found.values())


def _score(row: Mapping[str, Any]) -> CanaryScore:
    values = {name: value for name, value in row.items() if name != "time_nanos"}
    return CanaryScore(time_unix_nano=row["time_nanos"], **values)
