"""A ticket for a slice that got worse: one a service, with its slice named; never a page.

The slices are compared once an hour, when its sums are there. A slice that is worse in several
rubrics and windows, and others that hold the same answers (a tier that speaks one language), are
one drop: the clearest is named, and its ticket ends once the slice is no longer worse in anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from alerts.deltas.settings import DeltaSettings
from alerts.signals.catalogue import OF_SLICE, Accepted, is_expected
from alerts.slices.compare import DAY, HOUR, PAST_DAYS, SliceDelta, slice_deltas
from alerts.slices.job import SUMMED_SECONDS
from alerts.slices.settings import SliceSettings
from ragvigil.model.figures import between, in_points, share
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.identity import identity
from ragvigil.model.score import Layer
from ragvigil.store.issues import topics
from ragvigil.store.scores import slice_sums
from ragvigil.store.scores.slice_sums import OTHER

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

NANOS = 10**9
SECONDS = {"6h": 6 * HOUR, "24h": DAY}
NONE_ACCEPTED: Accepted = {}
Place = tuple[str, str]


class SliceTickets:
    """The open drops of slices, one a service; `findings` are those of an earlier process.

    `look` may run in another thread than `run`.
    """

    def __init__(
        self,
        store: Store,
        rules: DeltaSettings,
        settings: SliceSettings,
        findings: Iterable[Finding] = (),
    ) -> None:
        self._store, self._rules, self._settings = store, rules, settings
        self._open = {
            (each.service, each.environment): each
            for each in findings
            if each.finding_id.startswith(OF_SLICE) and each.is_open
        }
        self._looked = 0
        # Without a dimension nothing is compared any more, and what was open ends.
        self._worse: tuple[SliceDelta, ...] | None = None if settings.by else ()

    def look(self, now: float) -> None:
        """Compares the slices at the last summed hour, once an hour. Raises StoreError."""
        end = int(now) - SUMMED_SECONDS
        end -= end % HOUR
        if end == self._looked or not self._settings.by:
            return
        sums = slice_sums.read(self._store, end - PAST_DAYS * DAY, end)
        rows = slice_deltas(sums, end, self._rules, self._settings.most)
        self.see(self._named([row for row in rows if row.is_worse]))
        self._looked = end

    def see(self, worse: Sequence[SliceDelta]) -> None:
        """Takes what is worse now, the clearest first."""
        self._worse = tuple(worse)

    def run(self, now: float, accepted: Accepted = NONE_ACCEPTED) -> tuple[Finding, ...]:
        """The drops that last at `now` (seconds), and those that have just ended.

        Before the first look those of an earlier process go on.
        """
        seen = int(now * NANOS)
        if self._worse is None:
            return tuple(replace(each, seen_unix_nano=seen) for each in self._open.values())
        return tuple(self._step(self._worse, seen, accepted))

    def _step(
        self, worse: Sequence[SliceDelta], seen: int, accepted: Accepted
    ) -> Iterator[Finding]:
        by_place: dict[Place, list[SliceDelta]] = {}
        for row in worse:
            by_place.setdefault((row.service, row.environment), []).append(row)
        for place in {*by_place, *self._open}:
            rows, known = by_place.get(place, []), self._open.get(place)
            same = [row for row in rows if known and known.finding_id.startswith(_id(row))]
            if known and (not same or is_expected(known, accepted)):
                del self._open[place]
                words = "the slice is as good as it was, or as the rest of its service"
                yield replace(known, cleared_unix_nano=seen, words=words)
                continue
            finding = _finding((same or rows)[0], known, seen)
            if not is_expected(finding, accepted):
                self._open[place] = finding
                yield finding

    def _named(self, rows: Sequence[SliceDelta]) -> list[SliceDelta]:
        """The rows with the names of their topics."""
        names = topics.slice_names(self._store) if rows else {}
        return [replace(row, name=names.get((row.dimension, row.value), "")) for row in rows]


def _id(row: SliceDelta) -> str:
    return f"{OF_SLICE}{identity(row.service, row.environment, row.dimension, row.value)}-"


def _finding(row: SliceDelta, known: Finding | None, seen: int) -> Finding:
    """The finding of a slice; one that is known keeps its id and its onset."""
    since = known.since_unix_nano if known else (row.tick - SECONDS[row.window]) * NANOS
    return Finding(
        finding_id=known.finding_id if known else f"{_id(row)}{since // NANOS}",
        kind=FindingKind.LIMIT,
        service=row.service,
        environment=row.environment,
        routes=(),
        signal=row.rubric,
        layer=Layer(row.layer),
        value=row.mean,
        reference=row.mean - row.delta,
        low=row.low,
        high=row.high,
        n=row.n,
        since_unix_nano=since,
        seen_unix_nano=seen,
        words=words(row),
    )


def words(row: SliceDelta) -> str:
    """What fell, in a line.

    >>> words(SliceDelta(service="desk", environment="", dimension="language", value="de",
    ...       rubric="groundedness", layer="generation", window="24h", tick=0, share=0.1, n=400,
    ...       mean=0.8, baseline=0.9, delta=-0.12, low=-0.18, high=-0.06, rest_delta=0.01,
    ...       is_worse=True))  # doctest: +NORMALIZE_WHITESPACE
    'groundedness of language de, 10 % of the answers, fell by 12 points [between 6 and 18] in 24h;
     the rest moved by 1 point'
    """
    rest = "" if row.rest_delta is None else f"; the rest moved by {in_points(row.rest_delta)}"
    name = f"{row.dimension} {row.name or row.value}"
    if row.value == OTHER:
        name = f"all rarer {row.dimension} values"
    return (
        f"{row.rubric} of {name}, {share(row.share)} of the answers, fell by "
        f"{in_points(row.delta)} [{between(row.low, row.high)}] in {row.window}{rest}"
    )
