"""An incident's answers as issues: how much of a fault is in one issue, how pure, how soon.

The real watch and the real grouping run on a virtual clock (`truth_clock.py`), a turn a minute. No
model embeds: answers of incidents are grouped by what they fail. An answer is harmed where the
fault changed what the user or the model saw.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bench.rig.scored_pool import Case, Request, ScoredPool
from bench.rig.truth_clock import Rehearsal, copied, opened, play
from bench.rig.truth_traffic import MINUTE, Episode
from clustering.issues.job import IssueJob
from clustering.settings import ClusteringSettings
from ragvigil.inference.outcome import Reason, Unavailable
from ragvigil.inference.process import Inference
from ragvigil.inference.settings import InferenceSettings
from ragvigil.model.issue import Issue
from ragvigil.store.issues import failing_rows as failed

if TYPE_CHECKING:
    import numpy as np

    from bench.rig.truth_faults import Fault

BEFORE_MINUTES, FAULT_MINUTES = 10, 45
ENOUGH, SHARE, PURE, SOON, OTHERS = 30, 0.80, 0.85, 15.0, 1
MOST = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentRun:
    """One fault; `minutes` are from the opening of its first incident to that of its issue.

    `share` of the harmed answers are in the issue that has most of them; `others` are further
    issues that opened while the fault lasted, with at least ENOUGH members.
    """

    fault: str
    harmed: int
    incidents: int
    name: str
    share: float
    purity: float
    minutes: float | None
    others: int
    other_names: tuple[str, ...]

    @property
    def counts(self) -> bool:
        """Whether the bars hold for it: enough answers, and the watch saw it."""
        return self.harmed >= ENOUGH and self.incidents > 0

    @property
    def is_good(self) -> bool:
        """Whether it is within every bar."""
        return (
            self.share >= SHARE
            and self.purity >= PURE
            and self.minutes is not None
            and self.minutes <= SOON
            and self.others <= OTHERS
        )


def rehearse_incident(
    pool: ScoredPool, healthy: Path, fault: Fault, *, ended: float, seed: int
) -> IncidentRun:
    """One fault on all routes, on a copy of a store whose traffic `ended` then (seconds)."""
    fresh, sizes, opened_at, asked = _rehearsed(pool, healthy, fault, ended=ended, seed=seed)
    harmed = sum(_is_harmed(pool, _case(request), fault) for request in asked)
    best = max(fresh, key=lambda issue: sum(sizes[issue.issue_id]), default=None)
    own = sizes[best.issue_id] if best else []
    others = [
        issue for issue in fresh if issue is not best and len(sizes[issue.issue_id]) >= ENOUGH
    ]
    is_timed = best is not None and opened_at
    return IncidentRun(
        fault=fault.name,
        harmed=harmed,
        incidents=len(opened_at),
        name=best.name if best else "",
        share=round(sum(own) / harmed, 3) if harmed else 0.0,
        purity=round(sum(own) / len(own), 3) if own else 0.0,
        minutes=round((best.opened_unix_nano - min(opened_at)) / 6e10, 1)
        if is_timed and best
        else None,
        others=len(others),
        other_names=tuple(issue.name for issue in others),
    )


def _rehearsed(
    pool: ScoredPool, healthy: Path, fault: Fault, *, ended: float, seed: int
) -> tuple[list[Issue], dict[str, list[bool]], list[int], list[Request]]:
    """The new issues, which of their members were harmed, when incidents opened, what was asked."""
    pool.prepare(fault.name)
    begin = ended + BEFORE_MINUTES * MINUTE
    end = begin + FAULT_MINUTES * MINUTE
    asked: list[Request] = []

    def remember(_: np.random.Generator, arrivals: list[Request], __: Rehearsal) -> list[Request]:
        asked.extend(arrivals)
        return arrivals

    with copied(healthy) as folder, opened(pool, folder, ended) as rehearsal:
        job = _job(pool, rehearsal)

        def group() -> bool:
            job.run()
            return False

        group()
        episode = Episode(fault=fault, start=begin, end=end)
        play(rehearsal, begin, [], seed=seed, each_minutes=5, until=group)
        before = {issue.issue_id for issue in job.issues()}
        play(rehearsal, end, [episode], seed=seed + 1, habit=remember, until=group)
        fresh = [issue for issue in job.issues() if issue.issue_id not in before]
        opened_at = [one.opened_unix_nano for one in rehearsal.incidents(begin)]
        sizes = {issue.issue_id: _members(rehearsal, pool, issue, fault) for issue in fresh}
    return fresh, sizes, opened_at, asked


def _job(pool: ScoredPool, rehearsal: Rehearsal) -> IssueJob:
    def cluster(*_: object) -> Unavailable:
        return Unavailable(reason=Reason.OFF, detail="nothing is clustered here")

    bars = {name: facts.fails_below for name, facts in pool.facts.items()}
    return IssueJob(
        rehearsal.store,
        Inference(InferenceSettings(enabled=False)),
        ClusteringSettings(),
        {name: bar for name, bar in bars.items() if bar is not None},
        cluster,
        lambda: rehearsal.now,
    )


def _members(rehearsal: Rehearsal, pool: ScoredPool, issue: Issue, fault: Fault) -> list[bool]:
    """Whether each member of an issue was harmed by the fault."""
    filter_ = failed.FailureFilter(issue_ids=(issue.issue_id,), limit=MOST)
    rows = failed.find(rehearsal.store, filter_)
    return [_is_harmed(pool, pool.case_of(row.failure.trace_id), fault) for row in rows]


def _case(request: Request) -> Case:
    return Case(question=request.question, state=request.state, accident=request.accident)


def _is_harmed(pool: ScoredPool, case: Case, fault: Fault) -> bool:
    """Whether the fault met the answer and changed its text, its context or how it ended."""
    if case.state != fault.name:
        return False
    ours = pool.scored(case).record
    healthy = pool.scored(Case(question=case.question)).record
    seen, usual = (
        (one.answer, one.truncated, [chunk.content for chunk in one.context])
        for one in (ours, healthy)
    )
    return seen != usual


def incident_runs(
    pool: ScoredPool, healthy: Path, faults: Sequence[Fault], *, ended: float, seed: int
) -> Iterator[IncidentRun]:
    """A run of each fault."""
    for place, fault in enumerate(faults):
        yield rehearse_incident(pool, healthy, fault, ended=ended, seed=seed + 10 * place)


def incident_bars(runs: Sequence[IncidentRun]) -> dict[str, bool]:
    """The bars of the faults that count."""
    counted = [run for run in runs if run.counts]
    return {
        f"a fault with >= {ENOUGH} harmed answers is one issue: >= {SHARE} of them, purity >= "
        f"{PURE}, <= {SOON:g} min after the incident, <= {OTHERS} other": bool(counted)
        and all(run.is_good for run in counted)
    }
