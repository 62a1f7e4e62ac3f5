"""The job of the signals: reads the minutes that changed and steps the detectors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import structlog

from alerts.deltas.minute_counter import MinuteCounter
from alerts.signals.broken import BrokenDetector
from alerts.signals.catalogue import Accepted, signal_choice
from alerts.signals.minutes import HOUR, MINUTE, SignalMinutes
from alerts.signals.moved import MovedDetector
from alerts.signals.settings import SignalSettings
from alerts.signals.traffic import TrafficDetector
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.store.engine.store import Store
from ragvigil.store.watch import minute_counts
from ragvigil.store.watch import signals as stored
from ragvigil.store.watch.signals import SIGNAL_MINUTES

log = structlog.get_logger()

CLOSE_LATE_SECONDS = 30
"""Seconds that a minute waits for late records before the detectors see it."""
LATEST_SECONDS = 2 * HOUR
"""Minutes that change later than this open no finding."""
BACK_SECONDS = 10 * MINUTE
"""By how much a clock may be put back before what it counted under the later time is given up."""
HOURS_AT_ONCE = 6
"""Hours of the past read by one query: a quarter of a day keeps both sides small."""
NONE_ACCEPTED: Accepted = {}


class SignalJob:
    """Finds rates that are broken, numbers that moved and traffic that is lost, run after run.

    A store has one such job: between runs it keeps the sums of the last minutes and hours, so that
    a run reads only what changed. `findings` are those of an earlier process: the open ones go on
    under their ids, and what the others reported is over.
    """

    def __init__(
        self, store: Store, settings: SignalSettings, findings: Sequence[Finding] = ()
    ) -> None:
        self._store, self._settings = store, settings
        self._begin(findings)

    def _begin(self, findings: Sequence[Finding]) -> None:
        """Begins to read the store, with these findings open."""
        settings = self._settings
        wanted = stored.counted(signal_choice(settings.broken, settings.moved))
        self._counter = MinuteCounter(self._store, wanted)
        self._broken = BrokenDetector(settings.broken, findings)
        self._moved = MovedDetector(settings.moved, findings, min_days=settings.baseline_min_days)
        self._traffic = TrafficDetector(
            settings.broken, findings, min_days=settings.baseline_min_days
        )
        self._table = SignalMinutes()
        self._seen: dict[str, int] = {}
        self._is_past_read = False
        self._ahead: set[int] = set()
        self._closed = 0
        self.held: dict[str, tuple[str, ...]] = {}
        """For each open rate of several causes, the numbers that tell them apart and held."""

    def run(self, now: float, accepted: Accepted = NONE_ACCEPTED) -> tuple[Finding, ...]:
        """Returns the findings open at `now` (event time, seconds), and those that just cleared.

        An `accepted` level replaces a ceiling or the past, by (service, environment, signal,
        route); `catalogue.accepted_key` makes the key of a finding. Raises StoreError.
        """
        closed = (int(now) - CLOSE_LATE_SECONDS) // MINUTE * MINUTE
        if closed < self._closed - BACK_SECONDS:
            log.warning(
                "the clock was put back: the past is read again", seconds=self._closed - closed
            )
            self._begin(self._open())
        if closed == self._closed:
            # Until another minute closes there is nothing to see; what came late waits as long.
            return self._open()
        changed = self._read(int(now), closed)
        ends = list(self._ends(changed, closed))
        self._closed = max(closed, self._closed)
        if not ends:
            return self._open()
        broken = self._broken.step(self._table, ends, accepted)
        moved = self._moved.step(self._table, closed, accepted)
        traffic = self._traffic.step(self._table, closed, accepted)
        self.held = {
            finding.finding_id: self._moved.held(self._table, finding, closed)
            for finding in self._broken.open
            if len(finding.causes) > 1
        }
        return (*(self._with_traces(finding) for finding in (*broken, *moved)), *traffic)

    def _open(self) -> tuple[Finding, ...]:
        return (*self._broken.open, *self._moved.open, *self._traffic.open)

    @property
    def table(self) -> SignalMinutes:
        """The sums of the last minutes and hours, for gauges."""
        return self._table

    def _ends(self, changed: Sequence[int], closed: int) -> Iterator[int]:
        """Yields the ends of the windows to check: of new and of changed minutes."""
        first = min((*changed, self._closed)) if self._closed else closed - MINUTE
        yield from range(max(first + MINUTE, closed - LATEST_SECONDS), closed + 1, MINUTE)

    def _read(self, now: int, closed: int) -> list[int]:
        """Brings the table up to `closed` and returns the minutes whose sums differ now.

        A judge's late score counts a minute again but changes no signal, so such a minute is read
        and not returned.
        """
        table = self._table
        table.advance(now + 1)
        self._counter.run(table.first_hour, closed)
        counted, seen = minute_counts.replaced(
            self._store, SIGNAL_MINUTES, self._seen, table.first_hour
        )
        minutes = {*counted, *self._ahead}
        ahead = {minute for minute in minutes if minute >= table.end}
        first = table.first_minute
        self._read_hours({minute // HOUR * HOUR for minute in minutes if minute < first})
        single = sorted(minute for minute in minutes - ahead if minute >= first)
        changed = self._read_minutes(single)
        is_news, self._is_past_read = self._is_past_read, True
        # Assigned only now: if a read above raised, the next run reads the same changes again.
        self._ahead, self._seen = ahead, seen
        return [minute for minute in changed if is_news and minute >= now - LATEST_SECONDS]

    def _read_minutes(self, minutes: Sequence[int]) -> list[int]:
        if not minutes:
            return []
        end = max(minutes) + MINUTE
        sums = stored.sums(self._store, min(minutes), end, minutes=minutes)
        return self._table.put_minutes(sums, minutes)

    def _read_hours(self, hours: set[int]) -> None:
        """Reads whole hours, HOURS_AT_ONCE by one query."""
        for piece in sorted({hour // HOUR // HOURS_AT_ONCE for hour in hours}):
            hours_of_piece = sorted(
                hour for hour in hours if hour // HOUR // HOURS_AT_ONCE == piece
            )
            sums = stored.sums(
                self._store,
                hours_of_piece[0],
                hours_of_piece[-1] + HOUR,
                bin_seconds=HOUR,
            )
            self._table.put_hours(sums, range(hours_of_piece[0], hours_of_piece[-1] + HOUR, HOUR))

    def _with_traces(self, finding: Finding) -> Finding:
        if finding.traces or not finding.is_open:
            return finding
        falls = (finding.value or 0.0) < (finding.reference or 0.0)
        traces = stored.traces(
            self._store,
            finding.signal,
            service=finding.service,
            environment=finding.environment,
            routes=finding.routes,
            start=finding.since_unix_nano // 10**9,
            end=finding.seen_unix_nano // 10**9,
            measures=self._settings.moved.measures,
            falls=falls and finding.kind is FindingKind.MOVED,
        )
        complete = replace(finding, traces=traces)
        (self._broken if finding.kind is FindingKind.BROKEN else self._moved).put(complete)
        return complete
