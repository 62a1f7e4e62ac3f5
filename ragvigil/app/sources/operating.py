"""Operating points for the API: read from the store, kept for a minute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from threading import Lock

from alerts.signals.operating import PAIRS, RECALL, UTILIZATION, OperatingPoint, operating_points
from ragvigil.model.delta import Delta, judged_first
from ragvigil.store.engine.store import Store
from ragvigil.store.scores import rubric_deltas
from ragvigil.store.watch import operating
from ragvigil.web.views.operating import OperatingPointForm

DAY, WEEK = 86_400, 7 * 86_400
KEPT_SECONDS = 60
"""How long an answer is kept before the store is read again."""
DELTAS_SECONDS = 3600
"""A series whose newest delta is older than this has no traffic now, and is left out."""


class Operating:
    """The API's `OperatingSource`; safe from any thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = Lock()
        self._read_at, self._points = float("-inf"), list[OperatingPointForm]()

    def points(self, now: float) -> Sequence[OperatingPointForm]:
        """The points that hold now, in seconds since the epoch. Raises StoreError."""
        with self._lock:
            # A clock that was set back reads anew, too.
            if not 0 <= now - self._read_at < KEPT_SECONDS:
                points = self._compute(int(now))
                self._points = [OperatingPointForm.model_validate(asdict(each)) for each in points]
                self._read_at = now
            return self._points

    def _compute(self, now: int) -> list[OperatingPoint]:
        """Scores and spending of the last day; recall and thumbs, which are rare, of the week."""
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
        filter_ = rubric_deltas.DeltaFilter(window="24h", since=now - DELTAS_SECONDS)
        deltas = judged_first(rubric_deltas.latest(self._store, filter_, now))
        return [delta for delta in deltas if delta.series.rubric in names]
