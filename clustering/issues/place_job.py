"""The minute's turn: failing records that changed are read, get vectors, and join issues.

Failures are stored before what is made of them: a turn that fails between leaves records that are
in no issue, and the next one, as the first after a start, takes the newest of those up again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from clustering import metrics
from clustering.failures.change_feed import ChangeFeed, read_updates
from clustering.issues import matching
from clustering.issues.background_rate import LEAST_MEMBERS
from clustering.issues.ledger import family_of
from clustering.issues.matching import Placement
from clustering.issues.provisional import Key, key_of, key_of_issue
from ragvigil.model.issue import Failure, FailureKind
from ragvigil.store.engine.priority import Priority
from ragvigil.store.issues import failing_changes as failing
from ragvigil.store.issues import failing_rows as failed
from ragvigil.store.issues.failing_rows import KeptFailure
from ragvigil.store.issues.failing_rows import MemberOf as Where

if TYPE_CHECKING:
    from clustering.failures.change_feed import FailureUpdates
    from clustering.failures.embedding import FailureEmbedder
    from clustering.issues.failure_baseline import FailureBaseline
    from clustering.issues.ledger import IssueIndex, IssueLedger
    from clustering.settings import ClusteringSettings
    from ragvigil.store.engine.store import Store
    from ragvigil.store.issues.failing_changes import Key as RecordKey
    from ragvigil.store.issues.memberships import Tally

DAY, NANOS = 86_400, 10**9
UNKNOWN = "?"
"""No model has this version: everything waits for vectors of the first one."""
AGAIN = 1.1
"""A key that did not stand out is looked at again when it has so many times the records."""
MOST_LOOSE = 5000
"""Records of one key that open an issue at once; the rest joins it as it is looked at."""


class PlaceJob:
    """One turn at a time. `joined` hears of every record that came into an issue."""

    def __init__(
        self,
        store: Store,
        ledger: IssueLedger,
        vectors: FailureEmbedder,
        baseline: FailureBaseline,
        settings: ClusteringSettings,
        fails_below: Mapping[str, float],
        joined: Callable[[Sequence[Failure]], None],
    ) -> None:
        self._store, self._ledger, self._vectors = store, ledger, vectors
        self._baseline, self._settings, self._fails_below = baseline, settings, fails_below
        self._joined = joined
        self._feed = ChangeFeed(store, fails_below)
        self._refused: dict[Key, int] = {}
        self._is_whole = False
        self.waiting = 0
        """Records of the last days without vectors of the present model, as far as was seen."""

    @property
    def pending(self) -> int | None:
        """Minutes that are still to be looked at; None before the first look."""
        return self._feed.pending

    def run(self, now: float) -> set[str]:
        """Ids of the issues that got members. Raises StoreError: the next turn does it again."""
        takes_up, self._is_whole = not self._is_whole, False
        changes = self._feed.take(now, self._settings.records)
        fresh = read_updates(self._store, changes, self._fails_below, self._baseline.usual(now))
        candidates = self._with_vectors(fresh, now)
        with self._ledger.locked() as index:
            self._leave(fresh, index)
            self._ledger.keep(failures=candidates)
            loose = self._loose(candidates, index) | (self._left_over(now) if takes_up else {})
            grown = self._place(list(loose.values()), index, now)
        if changes and not (fresh.failing or fresh.gone):
            self._feed.skip(changes)
        self._feed.done(now)
        self._is_whole = True
        metrics.PENDING_MINUTES.set(self._feed.pending or 0)
        return grown

    def _with_vectors(self, fresh: FailureUpdates, now: float) -> list[KeptFailure]:
        """The fresh ones, and older ones that got vectors at last; as far as there are any."""
        wanted = failed.FailureFilter(
            without_vectors_of=self._vectors.model or self._model_of_issues(),
            since=self._since(now),
            limit=self._settings.records,
        )
        older = failed.find(self._store, wanted, priority=Priority.TICK)
        gone = {one.key for one in fresh.gone}
        known = {one.key: one for one in (*older, *fresh.failing) if one.key not in gone}
        filled = self._vectors.fill(list(known.values())[: self._settings.records])
        with_vectors = {one.key: one for one in filled}
        self.waiting = len(known) - len(with_vectors)
        metrics.WAITING.set(self.waiting)
        return [with_vectors.pop(one.key, one) for one in fresh.failing] + list(
            with_vectors.values()
        )

    def _model_of_issues(self) -> str:
        """What the last start embedded with, as long as nothing was embedded since this one."""
        with self._ledger.locked() as index:
            return next((one.vector_model for one in index if one.vector_model), UNKNOWN)

    def _leave(self, fresh: FailureUpdates, index: IssueIndex) -> None:
        """Records that fail no more, or of another cause, leave their issues."""
        moved = [
            one for one in fresh.failing if one.membership and not matching.still_fits(one, index)
        ]
        homes = [
            home for one in (*fresh.gone_failures, *moved) if (home := index.home(one)) is not None
        ]
        left = Counter(one.issue_id for one in homes)
        issues = [
            matching.without_members(one, left[one.issue_id])
            for one in {one.issue_id: one for one in homes}.values()
        ]
        self._ledger.keep(issues=issues)
        failing.release(self._store, moved, self._ledger.next_nanos())
        failing.bury(self._store, fresh.gone, self._ledger.next_nanos())
        for one in fresh.gone_failures:
            metrics.FAILURES.labels(one.failure.family, "gone").inc()

    def _loose(
        self, candidates: Sequence[KeptFailure], index: IssueIndex
    ) -> dict[RecordKey, KeptFailure]:
        """Those of the candidates that are in no issue."""
        loose = {one.key: one for one in candidates if not matching.still_fits(one, index)}
        for one in candidates:
            if one.key not in loose:
                metrics.FAILURES.labels(one.failure.family, "same").inc()
        return loose

    def _left_over(self, now: float) -> dict[RecordKey, KeptFailure]:
        """The newest records in no issue, with the vectors they have: a turn ended before them."""
        wanted = failed.FailureFilter(
            placed=Where.LOOSE, since=self._since(now), newest_first=True, limit=MOST_LOOSE
        )
        found = failed.find(self._store, wanted, priority=Priority.TICK)
        model = self._vectors.model
        alike = [one for one in found if model and one.vector_model == model]
        known = failed.with_vectors(self._store, alike, model)
        others = [one for one in found if not model or one.vector_model != model]
        return {one.key: one for one in (*others, *known)}

    def _place(self, loose: Sequence[KeptFailure], index: IssueIndex, now: float) -> set[str]:
        placed = matching.match_centroids(loose, index, self._vectors.model)
        self._keep(placed)
        settled = {one.key for one, _ in placed.members}
        rest = [one for one in loose if one.key not in settled]
        by_key = self._by_key(rest, index, now)
        self._keep(by_key)
        self._count(loose, placed + by_key)
        return {one.issue_id for one in (*placed.issues, *by_key.issues)}

    def _by_key(self, rest: Sequence[KeptFailure], index: IssueIndex, now: float) -> Placement:
        """To provisional issues that are open, and to those that can be opened now."""
        taken = matching.open_keys(index)
        wanted = {key_of(one.failure) for one in rest} - taken
        counts = _counts(self._baseline.refresh(now)) if wanted else Counter[Key]()
        tried = {
            key: counts[key]
            for key in sorted(wanted)
            if counts[key] >= max(LEAST_MEMBERS, AGAIN * self._refused.get(key, 0))
        }
        taken |= tried.keys()
        found = {one.key: one for key in tried for one in self._of_key(key, now)}
        found |= {one.key: one for one in rest if key_of(one.failure) in taken}
        together = Counter((family_of(one.failure), one.failure.route) for one in found.values())

        def is_above(failures: Sequence[Failure]) -> bool:
            """Keys that come together are no background of one another."""
            routes = {(family_of(one), one.route) for one in failures}
            return self._baseline.is_above(failures, loose=sum(together[one] for one in routes))

        placed = matching.match_keys(found.values(), index, is_above, int(now * NANOS))
        self._refused |= tried
        for issue in placed.issues:
            self._refused.pop(key_of_issue(issue), None)
        return placed

    def _of_key(self, key: Key, now: float) -> list[KeptFailure]:
        wanted = failed.FailureFilter(
            service=key.service,
            environment=key.environment,
            family=key.family,
            rubric=key.rubric,
            placed=Where.LOOSE,
            since=self._since(now),
            newest_first=True,
            limit=MOST_LOOSE,
        )
        found = failed.find(self._store, wanted, priority=Priority.TICK)
        return [one for one in found if key_of(one.failure) == key]

    def _keep(self, placed: Placement) -> None:
        self._ledger.keep(members=placed.members, events=placed.events, issues=placed.issues)
        self._joined([one.failure for one, _ in placed.members])

    def _count(self, loose: Sequence[KeptFailure], placed: Placement) -> None:
        by = {one.key: membership.by for one, membership in placed.members}
        for one in loose:
            metrics.FAILURES.labels(one.failure.family, by.get(one.key, "loose")).inc()

    def _since(self, now: float) -> int:
        return max(0, int(now - self._settings.residue_days * DAY))


def _counts(loose: Sequence[Tally]) -> Counter[Key]:
    counts: Counter[Key] = Counter()
    for one in loose:
        by_rubric = one.kind is FailureKind.RUBRIC
        key = Key(
            service=one.service,
            environment=one.environment,
            family=one.family,
            rubric=one.rubric if by_rubric else "",
            label=one.label if by_rubric else one.kind.value,
        )
        counts[key] += one.records
    return counts
