"""The canary: frozen records, and the verdicts of each run over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score
from ragvigil.store.engine.batch import Batch, token_of
from ragvigil.store.engine.json_values import load
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.table import table
from ragvigil.store.records.record_rows import RubricFacts, as_json, segment

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
    """The score of one record by one rubric in one run; no value if there was no verdict."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class _MemberRow:
    """A record of a set, frozen as JSON, and what it can be found by."""

    chosen_unix_nano: int
    kind: str
    trace_id: str
    record_id: str
    service: str
    environment: str
    route: str
    record: str


MEMBERS = table("canary_members", _MemberRow)
SCORES = table("canary_scores", CanaryScore)


def members_batch(chosen: CanarySet, *, replica: str = "", epoch: int = 0) -> Batch:
    """A batch that stores a set."""
    rows = MEMBERS.rows(
        (
            _MemberRow(
                chosen_unix_nano=chosen.chosen_unix_nano,
                kind=member.kind,
                trace_id=member.record.trace_id,
                record_id=member.record.record_id,
                service=member.record.service,
                environment=member.record.environment,
                route=member.record.route,
                record=freeze(member.record),
            )
            for member in chosen.members
        ),
        set_id=chosen.set_id,
        replica=replica,
        epoch=epoch,
    )
    return Batch(rows={MEMBERS.name: rows}, token=token_of("canary", rows))


def scores_batch(
    set_id: str,
    scores: Sequence[CanaryScore],
    received_unix_nano: int,
    *,
    replica: str = "",
    epoch: int = 0,
) -> Batch:
    """A batch that stores verdicts of a run."""
    rows = SCORES.rows(
        scores, set_id=set_id, received=received_unix_nano, replica=replica, epoch=epoch
    )
    return Batch(rows={SCORES.name: rows}, token=token_of("canary_scores", rows))


def scores_of_run(
    run_id: str,
    time_unix_nano: int,
    record: RagRecord,
    scores: Sequence[Score],
    rubrics: Mapping[str, RubricFacts],
) -> list[CanaryScore]:
    """The scores of one member in one run; `time_unix_nano` is when the run began."""
    return [
        CanaryScore(
            run_id=run_id,
            time_unix_nano=time_unix_nano,
            trace_id=record.trace_id,
            record_id=record.record_id,
            rubric=score.rubric,
            segment=segment(rubrics.get(score.rubric, RubricFacts()), score),
            scorer=score.scorer,
            version=score.version,
            value=score.value,
            label=score.label,
            absent=score.absent,
        )
        for score in scores
    ]


def current(store: Store) -> CanarySet | None:
    """The set that was chosen last, None if there is none."""
    rows = store.read("canary_newest", priority=Priority.TICK)
    if not rows:
        return None
    return CanarySet(
        set_id=rows[0]["set_id"],
        chosen_unix_nano=rows[0]["chosen_nanos"],
        members=tuple(CanaryRecord(record=thaw(row["record"]), kind=row["kind"]) for row in rows),
    )


def runs(store: Store, set_id: str, *, last: int = LAST_RUNS) -> list[list[CanaryScore]]:
    """The first run of a set and the newest `last` ones, oldest first, each once."""
    parameters = {"set_id": set_id, "last": last}
    by_run: dict[str, list[CanaryScore]] = {}
    for score in SCORES.read(store, "canary_runs", parameters, priority=Priority.TICK):
        by_run.setdefault(score.run_id, []).append(score)
    return list(by_run.values())


def freeze(record: RagRecord) -> str:
    """A whole record as JSON, which stays as it is when its rows change or age away."""
    return as_json(asdict(record))


def thaw(text: str) -> RagRecord:
    """The record of a frozen text. Raises ValueError, KeyError or TypeError if it holds none."""
    record: RagRecord = load(RagRecord, text)
    return record
