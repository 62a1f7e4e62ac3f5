"""Healthy days as issues: how many a service opens that nothing is wrong with, and their tickets.

Traffic comes by the hour, with what goes wrong by itself; the real grouping runs on it twice an
hour. The watch does not run: what gathers in the issue of an incident would be no ticket.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.rig.issue_incidents import issue_job
from bench.rig.report import progress
from bench.rig.scored_pool import ScoredPool
from bench.rig.truth_clock import copied, opened
from bench.rig.truth_traffic import DAY, HOUR, requests
from clustering.issues import metrics
from clustering.issues.job import IssueJob
from ragvigil.app.sources import issue_gauges
from ragvigil.store.engine.store import Store

MOST_TICKETS = 1.0
"""A week, after the first day."""
TURNS_AN_HOUR = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthyRun:
    """`opened` are issues that opened in these days, `tickets` those that became one."""

    service: str
    days: float
    answers: int
    opened: tuple[str, ...]
    tickets: tuple[str, ...]
    background: tuple[str, ...]

    @property
    def is_good(self) -> bool:
        """Whether there are no more tickets than one a week; of less than a week none is one."""
        return len(self.tickets) <= MOST_TICKETS * max(1.0, self.days / 7)


def rehearse_healthy(
    service: str, pool: ScoredPool, healthy: Path, *, ended: float, days: float, seed: int
) -> HealthyRun:
    """Days of healthy traffic on a copy of a store whose first day is over; `ended` in seconds."""
    rng, asked, tickets = np.random.default_rng(seed), 0, set[str]()
    with copied(healthy) as folder, opened(pool, folder, ended) as rehearsal:
        job = issue_job(pool, rehearsal)
        job.run()
        before = {issue.issue_id for issue in job.issues()}
        step = HOUR / TURNS_AN_HOUR
        for start in np.arange(ended, ended + days * DAY, step):
            arrivals = requests(pool.texts, rng, float(start), float(start + step))
            asked += len(arrivals)
            rehearsal.now = float(start + step)
            rehearsal.write(arrivals, is_live=False)
            job.run()
            tickets |= _tickets(job, rehearsal.store, rehearsal.now)
            if (start + step - ended) % DAY == 0:
                progress(f"{asked} answers, {len(job.issues()) - len(before)} issues opened")
        names = {issue.issue_id: issue.name for issue in job.issues()}
        background = job.background()
    return HealthyRun(
        service=service,
        days=days,
        answers=asked,
        opened=tuple(name for key, name in names.items() if key not in before),
        tickets=tuple(names[key] for key in sorted(tickets)),
        background=tuple(f"{kind.name}: {kind.count.seen}" for kind in background),
    )


def _tickets(job: IssueJob, store: Store, now: float) -> set[str]:
    """The ids of the issues that Prometheus would see as worth a ticket now."""
    issue_gauges.show(store, job.issues(), lambda *labels: labels, now)
    samples = (sample for family in metrics.OPEN.collect() for sample in family.samples)
    return {sample.labels["issue"] for sample in samples if sample.value}
