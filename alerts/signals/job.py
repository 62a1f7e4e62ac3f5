"""The job of the signals: reads the minutes that changed, steps what is broken and what moved."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from alerts.signals.broken import Broken
from alerts.signals.catalogue import Accepted, wanted
from alerts.signals.minutes import HOUR, MINUTE, SignalMinutes
from alerts.signals.moved import Moved
from alerts.signals.settings import SignalSettings
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.store.engine.store import Store
from ragvigil.store.watch import signals as stored

CLOSE_LATE_SECONDS = 30
"""How long a minute waits for late records before it is looked at."""
LATEST_SECONDS = 2 * HOUR
"""Older minutes open nothing."""
HOURS_AT_ONCE = 6
NONE_ACCEPTED: Accepted = {}


class SignalJob:
    """Finds what is broken or moved, run after run.

    One job a store: between runs it keeps the sums of the last minutes and hours, so that a run
    reads what changed only. `known` are the findings that were open when an earlier life ended;
    they go on under their ids.
    """

    def __init__(
        self, store: Store, settings: SignalSettings, known: Sequence[Finding] = ()
    ) -> None:
        self._store, self._settings = store, settings
        self._wanted = wanted(settings.broken, settings.moved)
        self._broken = Broken(settings.broken, known)
        self._moved = Moved(settings.moved, known, min_days=settings.baseline_min_days)
        self._table = SignalMinutes()
        self._seen: stored.Changes | None = None
        self._is_complete = False
        self._ahead: set[int] = set()
        self._closed = 0

    def run(self, now: float, accepted: Accepted = NONE_ACCEPTED) -> tuple[Finding, ...]:
        """What is open at `now` (event time, seconds), and what cleared in this run.

        `accepted` levels take the place of a ceiling or of the past, by (service, environment,
        signal, route); `signals.accepted_key` makes the key of a finding. Raises StoreError.
        """
        changed = self._read(int(now))
        closed = (int(now) - CLOSE_LATE_SECONDS) // MINUTE * MINUTE
        ends = list(self._ends(changed, closed))
        self._closed = max(closed, self._closed)
        if not ends:
            return (*self._broken.open, *self._moved.open)
        broken = self._broken.step(self._table, ends, accepted)
        moved = self._moved.step(self._table, closed, accepted)
        return tuple(self._with_traces(one) for one in (*broken, *moved))

    @property
    def table(self) -> SignalMinutes:
        """The sums of the last minutes and hours, for gauges."""
        return self._table

    def _ends(self, changed: Sequence[int], closed: int) -> Iterator[int]:
        """The ends of the windows to look at: those of new and of changed minutes."""
        first = min((*changed, self._closed)) if self._closed else closed - MINUTE
        yield from range(max(first + MINUTE, closed - LATEST_SECONDS), closed + 1, MINUTE)

    def _read(self, now: int) -> list[int]:
        """Brings the table up to `now`; the minutes that differ now, those of late records too.

        A judge's late score counts a minute again and changes no signal.
        """
        self._table.advance(now + 1)
        if self._seen is None:
            self._read_past()
            return []
        found = stored.changes(
            self._store,
            max(0, self._seen.version - (not self._is_complete)),
            self._table.first_hour,
        )
        minutes = {*found.minutes, *self._ahead}
        ahead = {minute for minute in minutes if minute >= self._table.end}
        fresh = sorted(minutes - ahead)
        changed = self._read_minutes([one for one in fresh if one >= self._table.first_minute])
        self._read_hours({one // HOUR * HOUR for one in fresh if one < self._table.first_minute})
        # Only now: what could not be read is read again.
        self._ahead = ahead
        if found.version:
            self._is_complete = (found.version, found.rows) == (self._seen.version, self._seen.rows)
            self._seen = found
        return [one for one in changed if one >= now - LATEST_SECONDS]

    def _read_past(self) -> None:
        # The version first: what comes while the past is read is then read again.
        table, first = self._table, self._table.first_minute
        seen = stored.changes(self._store, 0, table.first_hour)
        self._read_hours({one // HOUR * HOUR for one in seen.minutes if one < first})
        self._read_minutes(list(range(first, table.end, MINUTE)))
        self._ahead = {one for one in seen.minutes if one >= table.end}
        self._seen = seen

    def _read_minutes(self, minutes: Sequence[int]) -> list[int]:
        if not minutes:
            return []
        end = max(minutes) + MINUTE
        found = stored.sums(self._store, self._wanted, min(minutes), end, minutes=minutes)
        return self._table.put_minutes(found, minutes)

    def _read_hours(self, hours: set[int]) -> None:
        """Reads whole hours, a quarter of a day at once, so that neither side holds much."""
        for piece in sorted({hour // HOUR // HOURS_AT_ONCE for hour in hours}):
            mine = sorted(hour for hour in hours if hour // HOUR // HOURS_AT_ONCE == piece)
            found = stored.sums(
                self._store, self._wanted, mine[0], mine[-1] + HOUR, bin_seconds=HOUR
            )
            self._table.put_hours(found, range(mine[0], mine[-1] + HOUR, HOUR))

    def _with_traces(self, finding: Finding) -> Finding:
        if finding.traces or not finding.is_open:
            return finding
        falls = (finding.value or 0.0) < (finding.reference or 0.0)
        found = stored.traces(
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
        shown = replace(finding, traces=found)
        (self._broken if finding.kind is FindingKind.BROKEN else self._moved).put(shown)
        return shown
