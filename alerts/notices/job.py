"""The job of change notices: takes fingerprints of all traffic, makes and stores notices."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from math import inf
from threading import Lock

import structlog

from alerts.deltas.minute_counter import MinuteCounter
from alerts.notices.blind import NO_MENDING, Mending, findings, lack_of
from alerts.notices.detect import NOTHING_KNOWN, TEMPLATE, RouteNotices
from alerts.notices.fingerprint import VALUES, Fingerprint, Place, fingerprint_of
from alerts.notices.known import Known, known_values
from alerts.notices.metrics import UNNOTICED
from alerts.notices.rare import LONG_WINDOW
from alerts.notices.settings import NoticeSettings
from alerts.notices.values import KNOWN_NANOS
from ragvigil.model.clock import Clock
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.notice import NOTICED_EPOCH, ChangeKind, Notice
from ragvigil.store.engine.errors import QueryFailed
from ragvigil.store.engine.store import Store
from ragvigil.store.watch import fingerprints
from ragvigil.store.watch import notices as stored

log = structlog.get_logger()

NANOS = 10**9
HOUR = 3600
REBUILT_HOURS = (72, 12, 2)
"""Hours of the past that are read at start; the next shorter where the store refuses that many."""
COUNT_SECONDS = 300
"""Seconds between two counts of what notices compare: only a start reads them."""
STORED_EACH = 20
PATIENCE_SECONDS = 600
"""Seconds after which a change is named on a route that gets no further requests."""
MOST_WAITING, MOST_HELD = 20_000, 4_000
"""Fingerprints that may wait for `run`, and that may wait for earlier records (`is_held`)."""
MOST_ROUTES = 200
"""Routes with a detector; each takes 1 to 2 MB."""
MOST_KNOWN = 50_000
"""Keys of records that are remembered, so that a record counts once."""
_INDEX = VALUES.index(ChangeKind.INDEX)
OF_INDEX = frozenset(
    {
        ChangeKind.RECHUNKED,
        ChangeKind.REEMBEDDED,
        ChangeKind.DOCUMENTS,
        ChangeKind.REINDEXED,
        ChangeKind.EMBEDDING_MODEL,
    }
)
"""Kinds of change after which a route's index counts as another one."""


class NoticeJob:
    """The detectors of all routes.

    The pipeline's thread calls `offer`, the job's thread everything else; only `_waiting` is shared
    and guarded by the lock. The state is in memory, and rebuilt at the first run from the newest
    stored records, notices and counts, and from the open findings `blind` of the process before.
    """

    def __init__(
        self,
        store: Store,
        settings: NoticeSettings,
        clock: Clock,
        mending: Mending = NO_MENDING,
        blind: Iterable[Finding] = (),
    ) -> None:
        self._store, self._settings, self._clock = store, settings, clock
        self._mending = mending
        self._resumed = [finding for finding in blind if finding.kind is FindingKind.BLIND]
        self._lock = Lock()
        self._waiting: deque[tuple[str, Fingerprint]] = deque()
        self._routes: OrderedDict[Place, RouteNotices] = OrderedDict()
        self._changing: dict[Place, float] = {}
        self._keys: OrderedDict[str, None] = OrderedDict()
        self._epochs: dict[Place, str] = {}
        self._stated: dict[Place, bool] = {}
        self._counter = MinuteCounter(store, fingerprints.COUNTED)
        self._is_counting = True
        self._counted_at = -inf
        self._known: dict[Place, Known] = {}
        self._unwritten: list[Notice] = []
        self._is_rebuilt = False
        self.is_held = False
        """Whether earlier records than those offered may still come: while it is set, fingerprints
        wait for them, up to MOST_HELD. Detectors need requests in order of their time."""

    def offer(self, prints: Iterable[tuple[str, Fingerprint]]) -> None:
        """Takes the fingerprints of stored records, each under the name of its record."""
        with self._lock:
            self._waiting.extend(prints)
            while len(self._waiting) > MOST_WAITING:
                self._waiting.popleft()
                UNNOTICED.labels("shed").inc()

    def epochs(self) -> dict[Place, str]:
        """The name of each route's index since its last change, for routes that send none."""
        return {
            place: epoch
            # Copied, as the pipeline's thread reads while the job writes.
            for place, epoch in dict(self._epochs).items()
            if not self._stated.get(place)
        }

    def run(self) -> tuple[Notice, ...]:
        """Feeds what was offered to the detectors; returns the new notices once they are stored.

        Raises StoreError; the notices are then stored and returned by the next run.
        """
        self._count()
        if not self._is_rebuilt:
            self._rebuild()
        for key, request in sorted(self._take(), key=lambda pair: pair[1].time_unix_nano):
            if self._is_first(key):
                self._step(self._detector(request), request)
        self._settle()
        return self._write()

    def blind(self) -> tuple[Finding, ...]:
        """What is no longer sent, and once what is sent again, or whose route has no request."""
        now = int(self._clock() * NANOS)
        for detector in self._routes.values():
            detector.sight.end_silent(now)
        lacks = [
            (place, lack)
            for place, detector in self._routes.items()
            for lack in (*detector.sight.open, *detector.sight.take_over())
        ]
        return findings(lacks, self._mending, now)

    def _count(self) -> None:
        """Stores the counts of what notices compare; detectors go on without them."""
        now = self._clock()
        if abs(now - self._counted_at) < COUNT_SECONDS:  # a clock may be put back
            return
        self._counted_at = now
        try:
            self._counter.run(int(now) - KNOWN_NANOS // NANOS)
        except QueryFailed as error:
            if self._is_counting:
                log.warning("fingerprints_not_counted", reason=str(error))
            self._is_counting = False
        else:
            if not self._is_counting:
                log.info("fingerprints_counted_again")
            self._is_counting = True

    def _take(self) -> Sequence[tuple[str, Fingerprint]]:
        with self._lock:
            if self.is_held and len(self._waiting) <= MOST_HELD:
                return ()
            waiting, self._waiting = self._waiting, deque()
            return waiting

    def _step(self, detector: RouteNotices, request: Fingerprint) -> None:
        late = detector.late
        self._add(detector.step(request))
        UNNOTICED.labels("late").inc(detector.late - late)

    def _settle(self) -> None:
        """Makes the notices of routes that changed and get no further requests."""
        now = self._clock()
        changing = [place for place, detector in self._routes.items() if detector.is_changing]
        self._changing = {place: self._changing.get(place, now) for place in changing}
        for place, since in self._changing.items():
            if now - since >= PATIENCE_SECONDS:
                self._add(self._routes[place].settle())

    def _add(self, notices: Iterable[Notice]) -> None:
        for notice in notices:
            self._unwritten.append(notice)
            self._remember(notice)

    def _remember(self, notice: Notice) -> None:
        if notice.kind in OF_INDEX:
            place = (notice.service, notice.environment, notice.route)
            self._epochs[place] = epoch_name(notice)

    def _write(self) -> tuple[Notice, ...]:
        if not self._unwritten:
            return ()
        now = int(self._clock() * NANOS)
        replica, epoch = self._store.replica, self._store.epoch
        self._store.write(stored.batch(self._unwritten, now, replica=replica, epoch=epoch))
        written, self._unwritten = tuple(self._unwritten), []
        for notice in written:
            log.info("notice", kind=notice.kind, service=notice.service, route=notice.route)
        return written

    def _is_first(self, key: str) -> bool:
        """Whether a record comes for the first time: late spans and replays bring some again."""
        if key in self._keys:
            return False
        self._keys[key] = None
        if len(self._keys) > MOST_KNOWN:
            self._keys.popitem(last=False)
        return True

    def _detector(self, request: Fingerprint) -> RouteNotices:
        """The detector of the request's route; a new one replaces the least recently used."""
        if request.place not in self._routes:
            known = self._known.pop(request.place, NOTHING_KNOWN)
            self._routes[request.place] = RouteNotices(request.place, self._settings, known)
            if len(self._routes) > MOST_ROUTES:
                gone, _ = self._routes.popitem(last=False)
                self._stated.pop(gone, None)
                self._epochs.pop(gone, None)
        self._routes.move_to_end(request.place)
        self._stated[request.place] = bool(request.values[_INDEX])
        return self._routes[request.place]

    def _rebuild(self) -> None:
        """Learns from the stored past; notices that were made from it are not made again."""
        notices: dict[Place, list[Notice]] = {}
        for notice in reversed(stored.newest(self._store, each=STORED_EACH)):
            self._remember(notice)
            place = (notice.service, notice.environment, notice.route)
            notices.setdefault(place, []).append(notice)
        past = self._past()
        self._known = self._usual_values(notices, past)
        # Notices are accepted between the records that came before and after them.
        for name, request in prints_of(self._store, past):
            self._is_first(name)
            detector = self._detector(request)
            self._accept(detector, notices.get(request.place, []), request.time_unix_nano)
            detector.learn(request)
        for place, detector in self._routes.items():
            self._accept(detector, notices.get(place, []), None)
        for finding in self._resumed:
            for route in finding.routes:
                place = (finding.service, finding.environment, route)
                if (resumed := self._routes.get(place)) is not None:
                    resumed.sight.resume(lack_of(finding))
        self._is_rebuilt = True

    def _usual_values(
        self, notices: Mapping[Place, Sequence[Notice]], past: Sequence[stored.Past]
    ) -> dict[Place, Known]:
        """What was usual in the days before the records that are learned one by one."""
        first: dict[Place, int] = {}
        for each in past:
            record = each.record
            place = (record.service, record.environment, record.route)
            first.setdefault(place, each.time_unix_nano)
        since = int(self._clock()) - KNOWN_NANOS // NANOS
        try:
            hours = fingerprints.by_hour(self._store, (*VALUES, TEMPLATE), since)
        except QueryFailed as error:
            log.warning("usual_values_unknown", reason=str(error))
            return {}
        return known_values(hours, notices, first)

    def _accept(self, detector: RouteNotices, notices: list[Notice], until: int | None) -> None:
        """Takes over the notices made before `until`, or all of them if it is None."""
        while notices and (until is None or notices[0].noticed_unix_nano < until):
            detector.accept(notices.pop(0))

    def _past(self) -> list[stored.Past]:
        each = 2 * self._settings.warm_up_requests + 2 * LONG_WINDOW
        for hours in REBUILT_HOURS:
            since = int(self._clock()) - hours * HOUR
            try:
                return list(stored.past(self._store, since=since, each=each))
            except QueryFailed as error:
                log.warning("notices_past_too_large", hours=hours, reason=str(error))
        return []


def epoch_name(notice: Notice) -> str:
    """The name that a change gives to the index of its route, where the service sends none."""
    since = datetime.fromtimestamp(notice.since_unix_nano // NANOS, UTC)
    return f"{NOTICED_EPOCH}{notice.kind} {since:%Y-%m-%dT%H:%M:%SZ}"


def prints_of(store: Store, past: Sequence[stored.Past]) -> Iterator[tuple[str, Fingerprint]]:
    """The name and the fingerprint of each of these stored records. Raises StoreError."""
    texts = stored.lengths(store, (text for each in past for text in _hashes(each)))
    for each in past:
        yield name_of(each), fingerprint_of(each.record, each.time_unix_nano, texts)


def name_of(past: stored.Past) -> str:
    """The name under which a record is offered, so that it counts once."""
    return f"{past.record.trace_id} {past.record.record_id}"


def _hashes(record: stored.Past) -> list[str]:
    return [document.text_hash for document in record.record.retrieved or record.record.reranked]
