"""Operating points for the API: read from the store, kept for a minute."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from threading import Lock

from alerts.signals.operating import PAIRS, RECALL, UTILIZATION, OperatingPoint, operating_points
from ragvigil.model.delta import Delta
from ragvigil.store.engine.store import Store
from ragvigil.store.scores import rubric_deltas
from ragvigil.store.watch import operating

DAY, WEEK = 86_400, 7 * 86_400
KEPT_SECONDS = 60
DELTAS_SECONDS = 3600


class Operating:
    """Fills `web.operating.OperatingSource`; safe from any thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = Lock()
        self._read, self._found = float("-inf"), list[OperatingPoint]()

    def points(self, now: float) -> list[Mapping[str, object]]:
        """Those that hold now, seconds since the epoch. Raises StoreError."""
        with self._lock:
            if not 0 <= now - self._read < KEPT_SECONDS:
                self._found, self._read = self._points(int(now)), now
            return [asdict(one) for one in self._found]

    def _points(self, now: int) -> list[OperatingPoint]:
        """Of the last day; recall and thumbs, which are few, of the last week."""
        store = self._store
        day = operating.scores(store, [UTILIZATION], now - DAY)
        week = operating.scores(store, [RECALL], now - WEEK)
        return operating_points(
            [*day, *week],
            operating.spending(store, now - DAY),
            operating.thumbs(store, now - WEEK),
            self._deltas(now),
            days=1.0,
        )

    def _deltas(self, now: int) -> list[Delta]:
        names = {name for pair in PAIRS for name in (pair.rose, pair.fell)}
        wanted = rubric_deltas.DeltaFilter(window="24h", since=now - DELTAS_SECONDS)
        found = rubric_deltas.newest(self._store, wanted)
        return [one for one in found if one.series.rubric in names]
