"""Operating points for the API: read from the store, kept for a minute."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from alerts.signals.operating import PAIRS, RECALL, UTILIZATION, OperatingPoint, operating_points
from ragvigil.model.delta import Delta, judged_first
from ragvigil.store.engine.store import Store
from ragvigil.store.scores import rubric_deltas
from ragvigil.store.watch import operating
from ragvigil.web.views.operating import OperatingPointForm

DAY, WEEK = 86_400, 7 * 86_400
KEPT_SECONDS = 60.0
"""How long an answer passes for new."""
DELTAS_SECONDS = 3600
"""A series whose newest delta is older than this has no traffic now, and is left out."""


class Operating:
    """The API's `OperatingSource`; safe from any thread."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def points(self, now: float) -> Sequence[OperatingPointForm]:
        """The points that hold now, in seconds since the epoch. Raises StoreError."""
        return self._store.kept.of(
            "operating points",
            lambda: [
                OperatingPointForm.model_validate(asdict(each)) for each in self._compute(int(now))
            ],
            lasts=True,
            new_seconds=KEPT_SECONDS,
        )

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
