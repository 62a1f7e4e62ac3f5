"""The pure parts of clustering as the daemon runs them, over simulated days: no store, no clock."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from clustering.failures.masking import masked, with_label
from clustering.grouping.cluster import clusters
from clustering.grouping.vectors import Vectors, centroid, joint
from clustering.issues.background_rate import Background, is_above
from clustering.issues.members import assign_all
from clustering.issues.merges import merge, propose, redirect
from clustering.issues.provisional import group
from clustering.issues.reconcile import Residue, reconcile
from ragvigil.model.issue import Failure, Issue, IssuePair, Membership, PairVerdict
from ragvigil.model.score import Layer

RESIDUE_DAYS, RESIDUE_LEAST = 7, 60
REQUESTS_A_DAY = 3000
DAY_NANOS = 86_400 * 10**9

Key = tuple[str, str]
Embed = Callable[[Sequence[str]], Vectors]


@dataclass(slots=True)
class Kept:
    """What the daemon's store would hold: failures with vectors, issues and memberships."""

    embed: Embed
    model: str
    seed: int
    failures: dict[Key, Failure] = field(default_factory=dict)
    vectors: dict[Key, Vectors] = field(default_factory=dict)
    issues: dict[str, Issue] = field(default_factory=dict)
    homes: dict[Key, str] = field(default_factory=dict)
    pairs: list[IssuePair] = field(default_factory=list)

    def issue_of(self, key: Key) -> str:
        """The id that a record has now, through merges; empty for not grouped."""
        return redirect(self.homes.get(key, ""), self.issues)

    def take(self, fresh: Sequence[Failure], now: int) -> None:
        """The minute's turn: assigned, else by key."""
        self.failures |= {failure.key: failure for failure in fresh}
        rows = vectors(self.embed, fresh)
        self.vectors |= {failure.key: row for failure, row in zip(fresh, rows, strict=True)}
        for family in Layer:
            mine = [failure for failure in fresh if failure.family is family]
            if mine:
                found = assign_all(mine, self._rows(mine), self._of(family))
                self._put(
                    found.issues, [membership for membership in found.memberships if membership]
                )
            waiting = [
                failure for failure in self._recent(family, now) if not self.issue_of(failure.key)
            ]
            grouped = group(
                waiting,
                self._of(family),
                lambda some: self._is_above(some, loose=len(some), now=now),
                now,
            )
            self._put(grouped.issues, grouped.memberships)

    def cluster(self, now: int) -> None:
        """The hour's turn: the residue of seven days."""
        for family in Layer:
            residue = self._residue(family, now)
            if len(residue.failures) >= RESIDUE_LEAST:
                found = reconcile(
                    residue,
                    clusters(residue.vectors, seed=self.seed),
                    lambda some, *, loose: self._is_above(some, loose=loose, now=now),
                    now,
                )
                self._put((*found.opened, *found.refined, *found.changed), found.memberships)
                for key in found.released:
                    self.homes.pop(key)

    def merge(self, now: int) -> None:
        """The night's turn: what is sure is merged, the rest waits for a person."""
        for family in Layer:
            mine = [failure for failure in self.failures.values() if failure.family is family]
            if len(mine) < RESIDUE_LEAST:
                continue
            found = clusters(self._rows(mine), seed=self.seed)
            members = [self.issue_of(failure.key) for failure in mine]
            for pair in propose(found, members, self._of(family), self.pairs, now):
                self.pairs.append(pair)
                if pair.verdict is PairVerdict.MERGED:
                    two = self.issues[pair.kept], self.issues[pair.merged]
                    kept, merged, _ = merge(*two, time_unix_nano=now)
                    self._put((kept, merged), ())

    def restarted(self) -> Kept:
        """The same from what is stored."""
        return Kept(
            embed=self.embed,
            model=self.model,
            seed=self.seed,
            failures=dict(self.failures),
            vectors=dict(self.vectors),
            issues=dict(self.issues),
            homes=dict(self.homes),
            pairs=list(self.pairs),
        )

    def with_model(self, embed: Embed, model: str) -> Kept:
        """Vectors and centroids computed anew from the stored texts; ids and members stay."""
        new = replace(self.restarted(), embed=embed, model=model)
        failures = list(self.failures.values())
        new.vectors = dict(
            zip((failure.key for failure in failures), vectors(embed, failures), strict=True)
        )
        for issue in self.issues.values():
            rows = [new.vectors[key] for key in self.homes if self.issue_of(key) == issue.issue_id]
            if issue.centroid and rows:
                mean = tuple(centroid(np.stack(rows)).tolist())
                new.issues[issue.issue_id] = replace(issue, centroid=mean, vector_model=model)
        return new

    def _residue(self, family: Layer, now: int) -> Residue:
        homes = {failure.key: self.issue_of(failure.key) for failure in self._recent(family, now)}
        loose = [
            self.failures[key]
            for key, home in homes.items()
            if not home or self.issues[home].is_provisional
        ]
        return Residue(
            failures=loose,
            vectors=self._rows(loose),
            vector_model=self.model,
            held={failure.key: homes[failure.key] for failure in loose if homes[failure.key]},
            issues={issue.issue_id: issue for issue in self._of(family)},
        )

    def _is_above(self, failures: Sequence[Failure], *, loose: int, now: int) -> bool:
        """As the daemon asks: against what else is in no issue on the same routes."""
        routes = {failure.route for failure in failures}
        others = sum(
            failure.route in routes and not self.issue_of(failure.key)
            for failure in self._recent(failures[0].family, now)
        )
        share = REQUESTS_A_DAY * len(routes) / 3
        first = min(failure.time_unix_nano for failure in self.failures.values())
        known_days = min((now - first) / DAY_NANOS, RESIDUE_DAYS)
        seen_days = (now - min(failure.time_unix_nano for failure in failures)) / DAY_NANOS
        background = Background(failing=max(0, others - loose), requests=round(share * known_days))
        return is_above(len(failures), max(len(failures), round(share * seen_days)), background)

    def _recent(self, family: Layer, now: int) -> list[Failure]:
        since = now - RESIDUE_DAYS * DAY_NANOS
        return [
            failure
            for failure in self.failures.values()
            if failure.family is family and failure.time_unix_nano >= since
        ]

    def _rows(self, failures: Sequence[Failure]) -> Vectors:
        rows = [self.vectors[failure.key] for failure in failures]
        return np.stack(rows) if rows else np.zeros((0, 0), np.float32)

    def _of(self, family: Layer) -> list[Issue]:
        return [
            issue
            for issue in self.issues.values()
            if issue.family is family and not issue.merged_into
        ]

    def _put(self, issues: Sequence[Issue], memberships: Sequence[Membership]) -> None:
        self.issues |= {issue.issue_id: issue for issue in issues}
        self.homes |= {membership.key: membership.issue_id for membership in memberships}


def vectors(embed: Embed, failures: Sequence[Failure]) -> Vectors:
    """Joint vectors of failures."""
    reasons = [
        with_label(masked(failure.reason, failure.question), failure.label) for failure in failures
    ]
    return joint(embed(reasons), embed([failure.question or "" for failure in failures]))


def lived(kept: Kept, several: Mapping[int, Sequence[Failure]], *, hours: int = 12) -> Kept:
    """Runs days of failures, each day in steps of several hours; returns the state at the end."""
    for day in sorted(several):
        left = sorted(several[day], key=lambda failure: failure.time_unix_nano)
        for turn in range(24 // hours):
            now = day * DAY_NANOS + (turn + 1) * hours * 3600 * 10**9
            fresh = [record for record in left if record.time_unix_nano < now]
            left = left[len(fresh) :]
            kept.take(fresh, now)
            kept.cluster(now)
        kept.merge(now)
    return kept
