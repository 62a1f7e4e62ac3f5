"""An incident's answers as issues: how much of a fault is in one issue, how pure, how soon.

The real watch and the real grouping run on a virtual clock (`truth_clock.py`), a turn a minute. No
model embeds: answers of incidents are grouped by what they fail. An answer is harmed where the user
got another one than without the fault; it is the fault's own where its chunks changed, too. The
same words that cite the same texts are the same answer, whatever number the texts have by now.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from bench.rig.scored_pool import HEALTHY, Case, Request, ScoredPool
from bench.rig.truth_clock import Rehearsal, copied, opened, play
from bench.rig.truth_traffic import MINUTE, Episode
from clustering.issues.job import IssueJob
from clustering.settings import ClusteringSettings
from examples.helpdesk.faults import Fault as Switch
from ragvigil.inference.outcome import Reason, Unavailable
from ragvigil.inference.process import Inference
from ragvigil.inference.settings import InferenceSettings
from ragvigil.model.issue import Issue
from ragvigil.store.issues import failing_rows as failed

if TYPE_CHECKING:
    import numpy as np

    from bench.rig.truth_faults import Fault
    from ragvigil.model.record import RagRecord

BEFORE_MINUTES, FAULT_MINUTES = 10, 45
ENOUGH, SHARE, PURE, SOON, OTHERS = 30, 0.80, 0.85, 15.0, 1
MOST = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentRun:
    """One fault; `minutes` are from the opening of its first incident to that of its issue.

    `share` of the harmed answers are in the issue that has most of them, and `share_met` of those
    whose chunks alone changed, too; `purity` of its answers are these. `others` are further
    issues that opened while the fault lasted, with at least ENOUGH members.
    """

    fault: str
    harmed: int
    met: int
    incidents: int
    name: str
    share: float
    share_met: float
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
    fresh, members, opened_at, asked = _rehearsed(pool, healthy, fault, ended=ended, seed=seed)
    cases = [_case(request) for request in asked]
    harmed = sum(_is_harmed(pool, case, fault) for case in cases)
    met = sum(_is_met(pool, case, fault) for case in cases)

    def of_fault(issue: Issue) -> int:
        return sum(_is_met(pool, case, fault) for case in members[issue.issue_id])

    best = max(fresh, key=of_fault, default=None)
    own = members[best.issue_id] if best else []
    own_harmed = sum(_is_harmed(pool, case, fault) for case in own)
    own_met = of_fault(best) if best else 0
    others = [
        issue for issue in fresh if issue is not best and len(members[issue.issue_id]) >= ENOUGH
    ]
    is_timed = best is not None and opened_at
    return IncidentRun(
        fault=fault.name,
        harmed=harmed,
        met=met,
        incidents=len(opened_at),
        name=best.name if best else "",
        share=round(own_harmed / harmed, 3) if harmed else 0.0,
        share_met=round(own_met / met, 3) if met else 0.0,
        purity=round(own_met / len(own), 3) if own else 0.0,
        minutes=round((best.opened_unix_nano - min(opened_at)) / 6e10, 1)
        if is_timed and best
        else None,
        others=len(others),
        other_names=tuple(issue.name for issue in others),
    )


def _rehearsed(
    pool: ScoredPool, healthy: Path, fault: Fault, *, ended: float, seed: int
) -> tuple[list[Issue], dict[str, list[Case]], list[int], list[Request]]:
    """The new issues, their members, when incidents opened, and what was asked."""
    pool.prepare(fault.name)
    begin = ended + BEFORE_MINUTES * MINUTE
    end = begin + FAULT_MINUTES * MINUTE
    asked: list[Request] = []

    def remember(_: np.random.Generator, arrivals: list[Request], __: ScoredPool) -> list[Request]:
        asked.extend(arrivals)
        return arrivals

    with copied(healthy) as folder, opened(pool, folder, ended) as rehearsal:
        job = issue_job(pool, rehearsal)

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
        members = {issue.issue_id: _members(rehearsal, pool, issue) for issue in fresh}
    return fresh, members, opened_at, asked


def issue_job(pool: ScoredPool, rehearsal: Rehearsal) -> IssueJob:
    """The grouping of failing answers on a rehearsal's store and clock, without local models."""

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


def _members(rehearsal: Rehearsal, pool: ScoredPool, issue: Issue) -> list[Case]:
    """The cases of an issue's answers."""
    filter_ = failed.FailureFilter(issue_ids=(issue.issue_id,), limit=MOST)
    return [pool.case_of(row.failure.trace_id) for row in failed.find(rehearsal.store, filter_)]


def _case(request: Request) -> Case:
    return Case(question=request.question, state=request.state, accident=request.accident)


def _is_harmed(pool: ScoredPool, case: Case, fault: Fault) -> bool:
    """Whether the user got another answer than without the fault."""
    ours, healthy = _both(pool, case)
    return case.state == fault.name and _told(ours) != _told(healthy)


def _told(record: RagRecord) -> tuple[object, ...]:
    """What the user reads: words, and the texts that they cite; a marker's number tells nothing."""
    words = record.answer or ""
    for citation in record.citations:
        words = words.replace(citation.marker, "")
    texts = {chunk.chunk_id: chunk.content for chunk in record.context}
    cited = [texts.get(each.chunk_id or "", each.target) for each in record.citations]
    return words, cited, record.truncated


def _is_met(pool: ScoredPool, case: Case, fault: Fault) -> bool:
    """Whether the fault changed the answer, or the chunks that it was made from."""
    is_changed = is_given_order if fault.name == Switch.INJECTED_DOCUMENT else is_made_otherwise
    return case.state == fault.name and is_changed(*_both(pool, case))


def is_made_otherwise(ours: RagRecord, healthy: RagRecord) -> bool:
    """Whether an answer, or the chunks of its prompt in their order, are others."""
    first, second = (
        [record.answer, record.truncated, *(chunk.content for chunk in record.context)]
        for record in (ours, healthy)
    )
    return first != second


def is_given_order(ours: RagRecord, healthy: RagRecord) -> bool:
    """Whether a prompt holds a chunk that the healthy service does not give it: the order.

    An order that was retrieved and did not reach the prompt harmed nobody, though it pushed
    another chunk aside.
    """
    known = {chunk.content for chunk in (*healthy.context, *healthy.retrieved)}
    return any(chunk.content not in known for chunk in ours.context)


def _both(pool: ScoredPool, case: Case) -> tuple[RagRecord, RagRecord]:
    """The record of a case, and that of the same request without the fault."""
    without = replace(case, state=HEALTHY)
    return pool.scored(case).record, pool.scored(without).record


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
