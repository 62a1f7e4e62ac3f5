"""Failures in no issue: the kinds of them with their rates, and groups of them where asked for.

What fails anyhow on a healthy route makes no issue and no ticket. It is clustered only for a person
who asks, and nothing of that is kept.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clustering.failures.primary_failure import fails_without_incident
from clustering.issues.counts import Count, SampledMembers, count
from clustering.issues.failure_baseline import key_of_tally
from clustering.issues.names import name, telling
from clustering.issues.provisional import Key
from ragvigil.inference.outcome import Unavailable
from ragvigil.store.engine.priority import Priority
from ragvigil.store.issues import failing_rows as failed
from ragvigil.store.issues import memberships
from ragvigil.store.issues.failing_rows import MemberOf

if TYPE_CHECKING:
    from clustering.issues.recluster_job import Cluster
    from ragvigil.store.engine.store import Store
    from ragvigil.store.issues.failing_rows import KeptFailure
    from ragvigil.store.issues.memberships import Tally

DAY = 86_400
MOST = 5000
"""Newest failures that are clustered for a person, who waits."""
LEAST = 20
"""Fewer are read sooner than they are clustered."""
EXAMPLES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundKind:
    """Failures of one rubric and label in no issue, on their routes.

    `answers` are all of these routes in that time; `rate` (0..1) is None where none were counted.
    `last_day` is the count of the last 24 hours, to the hour.
    """

    key: Key
    name: str
    routes: tuple[str, ...]
    count: Count
    last_day: int
    answers: int

    @property
    def rate(self) -> float | None:
        """The share of the routes' answers that fail so, estimated."""
        return min(1.0, self.count.about / self.answers) if self.answers else None


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundGroup:
    """Failures in no issue that are alike; `examples` are those nearest to their middle."""

    name: str
    failures: int
    examples: tuple[KeptFailure, ...]


class TooFew(ValueError):
    """There is nothing to cluster; `str(error)` says why."""


def kinds(
    store: Store, now: float, days: int, fails_below: Mapping[str, float]
) -> list[BackgroundKind]:
    """What fails outside of issues since `days` before `now` (seconds), the most first.

    `fails_below` maps rubrics to bars (0..1); what fails by none of them is only of an incident.
    """
    since = int(now) - days * DAY
    loose = memberships.tally(store, since, is_loose=True)
    traffic = memberships.requests(store, since)
    by_key: dict[Key, list[Tally]] = defaultdict(list)
    for tally in loose:
        if fails_without_incident(tally, fails_below):
            by_key[key_of_tally(tally)].append(tally)
    found = []
    for key, rows in by_key.items():
        routes = tuple(sorted({row.route for row in rows}))
        found.append(
            BackgroundKind(
                key=key,
                name=name(key.rubric, key.label, [], routes=routes),
                routes=routes,
                count=count(map(_sampled, rows)),
                last_day=sum(row.records for row in rows if row.start + 3600 > now - DAY),
                answers=sum(
                    row.requests
                    for row in traffic
                    if (row.service, row.environment) == (key.service, key.environment)
                    and row.route in routes
                ),
            )
        )
    return sorted(found, key=lambda kind: (-kind.count.about, kind.key))


def groups(
    store: Store, cluster: Cluster, model: str, now: float, days: int
) -> list[BackgroundGroup]:
    """The failures outside of issues, clustered now; the largest group first. Takes seconds.

    Raises TooFew, also where no local model has embedded them.
    """
    from clustering.failures.embedding import joint_vectors
    from clustering.issues.recluster_job import strata

    filter_ = failed.FailureFilter(
        placed=MemberOf.LOOSE, since=int(now) - days * DAY, newest_first=True, limit=MOST
    )
    rows = failed.find(store, filter_, priority=Priority.SCAN)
    kept = failed.with_vectors(
        store, [row for row in rows if row.vector_model == model != ""], model
    )
    if len(kept) < LEAST:
        raise TooFew(
            f"{len(kept)} failing answers outside of issues have vectors; {LEAST} make groups"
        )
    clustering = cluster(joint_vectors(kept), strata(kept))
    if isinstance(clustering, Unavailable):
        raise TooFew(f"they could not be clustered: {clustering}")
    labels, strengths = clustering.labels.tolist(), clustering.strengths.tolist()
    members = [
        [kept[row] for row in _nearest_first(labels, strengths, place)]
        for place in range(clustering.count)
    ]
    return sorted(_named(members), key=lambda group: -group.failures)


def _named(members: Sequence[Sequence[KeptFailure]]) -> Iterable[BackgroundGroup]:
    texts = [[record.masked for record in group] for group in members]
    for place, group in enumerate(members):
        others = [text for other, rows in enumerate(texts) if other != place for text in rows]
        rubric, label = _commonest((row.failure.rubric, row.failure.label) for row in group)
        yield BackgroundGroup(
            name=name(
                rubric,
                label,
                [row.failure.question or "" for row in group],
                phrases=telling(texts[place], others),
                routes=sorted({row.failure.route for row in group}),
            ),
            failures=len(group),
            examples=tuple(group[:EXAMPLES]),
        )


def _nearest_first(labels: Iterable[int], strengths: Sequence[float], place: int) -> list[int]:
    rows = [row for row, label in enumerate(labels) if label == place]
    return sorted(rows, key=lambda row: (-strengths[row], row))


def _commonest(pairs: Iterable[tuple[str, str]]) -> tuple[str, str]:
    counts = Counter(pairs)
    return max(counts, key=lambda pair: (counts[pair], pair))


def _sampled(tally: Tally) -> SampledMembers:
    return SampledMembers(
        stream=tally.stream,
        inclusion_probability=tally.inclusion_probability,
        members=tally.records,
    )
