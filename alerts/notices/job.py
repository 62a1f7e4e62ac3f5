"""Change notices in the core: fingerprints of all traffic in, notices out and into the store."""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from threading import Lock

import structlog

from alerts.notices.detect import RouteNotices
from alerts.notices.fingerprint import VALUES, Fingerprint, Place, fingerprint_of
from alerts.notices.metrics import UNNOTICED
from alerts.notices.rare import LONG_WINDOW
from alerts.notices.settings import NoticeSettings
from ragvigil.model.clock import Clock
from ragvigil.model.notice import NOTICED_EPOCH, ChangeKind, Notice
from ragvigil.store.engine.errors import QueryFailed
from ragvigil.store.engine.store import Store
from ragvigil.store.watch import notices as stored

log = structlog.get_logger()

NANOS = 10**9
HOUR = 3600
REBUILT_HOURS = (72, 12, 2)
"""So far back the past is read at start, less where that is too much for the store."""
STORED_EACH = 20
PATIENCE_SECONDS = 600
"""A change on a route that nobody asks any more is named after this."""
MOST_WAITING, MOST_HELD = 20_000, 4_000
MOST_ROUTES = 200
"""A route takes 1 to 2 MB."""
MOST_KNOWN = 50_000
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
"""Kinds after which an index is another one."""


class NoticeJob:
    """The detectors of all routes. `offer` is called in the pipeline's thread, `run` in a job's.

    The state is in memory and rebuilt at the first run from the newest stored records and notices.
    """

    def __init__(self, store: Store, settings: NoticeSettings, clock: Clock) -> None:
        self._store, self._settings, self._clock = store, settings, clock
        self._lock = Lock()
        self._waiting: deque[tuple[str, Fingerprint]] = deque()
        self._routes: OrderedDict[Place, RouteNotices] = OrderedDict()
        self._changing: dict[Place, float] = {}
        self._known: OrderedDict[str, None] = OrderedDict()
        self._epochs: dict[Place, str] = {}
        self._stated: dict[Place, bool] = {}
        self._unwritten: list[Notice] = []
        self._is_rebuilt = False
        self.is_held = False
        """Whether earlier records than those that are offered may still come: they wait for them,
        unless they are too many."""

    def offer(self, prints: Iterable[tuple[str, Fingerprint]]) -> None:
        """Takes the fingerprints of stored records, each under the name of its record."""
        with self._lock:
            self._waiting.extend(prints)
            while len(self._waiting) > MOST_WAITING:
                self._waiting.popleft()
                UNNOTICED.labels("shed").inc()

    def epochs(self) -> dict[Place, str]:
        """Which index each route uses, of those that do not say it; only where one has changed."""
        return {
            place: epoch
            for place, epoch in dict(self._epochs).items()
            if not self._stated.get(place)
        }

    def run(self) -> tuple[Notice, ...]:
        """Steps the detectors by what was offered; the notices that are new, and stored.

        Raises StoreError; what was found then is stored and returned by the next run.
        """
        if not self._is_rebuilt:
            self._rebuild()
        for key, one in sorted(self._take(), key=lambda pair: pair[1].time_unix_nano):
            if self._is_first(key):
                self._step(self._detector(one), one)
        self._settle()
        return self._write()

    def _take(self) -> Sequence[tuple[str, Fingerprint]]:
        with self._lock:
            if self.is_held and len(self._waiting) <= MOST_HELD:
                return ()
            taken, self._waiting = self._waiting, deque()
            return taken

    def _step(self, detector: RouteNotices, one: Fingerprint) -> None:
        late = detector.late
        self._found(detector.step(one))
        UNNOTICED.labels("late").inc(detector.late - late)

    def _settle(self) -> None:
        """Names what changed on routes that nobody asks any more."""
        now = self._clock()
        changing = [place for place, one in self._routes.items() if one.is_changing]
        self._changing = {place: self._changing.get(place, now) for place in changing}
        for place, since in self._changing.items():
            if now - since >= PATIENCE_SECONDS:
                self._found(self._routes[place].settle())

    def _found(self, notices: Iterable[Notice]) -> None:
        for one in notices:
            self._unwritten.append(one)
            self._remember(one)

    def _remember(self, one: Notice) -> None:
        if one.kind in OF_INDEX:
            since = datetime.fromtimestamp(one.since_unix_nano // NANOS, UTC)
            name = f"{NOTICED_EPOCH}{one.kind} {since:%Y-%m-%dT%H:%M:%SZ}"
            self._epochs[(one.service, one.environment, one.route)] = name

    def _write(self) -> tuple[Notice, ...]:
        if not self._unwritten:
            return ()
        now = int(self._clock() * NANOS)
        replica, epoch = self._store.replica, self._store.epoch
        self._store.write(stored.batch(self._unwritten, now, replica=replica, epoch=epoch))
        written, self._unwritten = tuple(self._unwritten), []
        for one in written:
            log.info("notice", kind=one.kind, service=one.service, route=one.route)
        return written

    def _is_first(self, key: str) -> bool:
        """Whether a record comes for the first time: late spans and the spool bring some again."""
        if key in self._known:
            return False
        self._known[key] = None
        if len(self._known) > MOST_KNOWN:
            self._known.popitem(last=False)
        return True

    def _detector(self, one: Fingerprint) -> RouteNotices:
        """That of the route; the route that was asked longest ago makes room for a new one."""
        if one.place not in self._routes:
            self._routes[one.place] = RouteNotices(one.place, self._settings)
            if len(self._routes) > MOST_ROUTES:
                gone, _ = self._routes.popitem(last=False)
                self._stated.pop(gone, None)
                self._epochs.pop(gone, None)
        self._routes.move_to_end(one.place)
        self._stated[one.place] = bool(one.values[_INDEX])
        return self._routes[one.place]

    def _rebuild(self) -> None:
        """Learns from the stored past, and takes the notices that were made of it as they are."""
        made: dict[Place, list[Notice]] = {}
        for notice in reversed(stored.newest(self._store, each=STORED_EACH)):
            self._remember(notice)
            place = (notice.service, notice.environment, notice.route)
            made.setdefault(place, []).append(notice)
        past = self._past()
        texts = stored.lengths(self._store, (text for one in past for text in _hashes(one)))
        for each in past:
            self._is_first(f"{each.record.trace_id} {each.record.record_id}")
            one = fingerprint_of(each.record, each.time_unix_nano, texts)
            detector = self._detector(one)
            self._accept(detector, made.get(one.place, []), one.time_unix_nano)
            detector.learn(one)
        for place, detector in self._routes.items():
            self._accept(detector, made.get(place, []), None)
        self._is_rebuilt = True

    def _accept(self, detector: RouteNotices, made: list[Notice], until: int | None) -> None:
        """Takes the notices that were made before this time, all where there is none."""
        while made and (until is None or made[0].noticed_unix_nano < until):
            detector.accept(made.pop(0))

    def _past(self) -> list[stored.Past]:
        each = 2 * self._settings.warm_up_requests + 2 * LONG_WINDOW
        for hours in REBUILT_HOURS:
            since = int(self._clock()) - hours * HOUR
            try:
                return list(stored.past(self._store, since=since, each=each))
            except QueryFailed as error:
                log.warning("notices_past_too_large", hours=hours, reason=str(error))
        return []


def _hashes(one: stored.Past) -> list[str]:
    return [document.text_hash for document in one.record.retrieved or one.record.reranked]
