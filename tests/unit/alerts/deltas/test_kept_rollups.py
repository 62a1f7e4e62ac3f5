"""Roll-ups that were read are kept until they change, and are never other than the store's."""

from __future__ import annotations

import numpy as np

from alerts.deltas import history
from alerts.deltas.kept_rollups import KeptRollups
from alerts.deltas.settings import DeltaSettings
from alerts.deltas.windows import Rollups
from alerts.settings import AlertsSettings
from ragvigil.store.engine.store import Store
from tests.outcomes import NOW, SECOND
from tests.unit.alerts.stored_requests import Served, write

HOUR = 3600
NOON = NOW // SECOND // HOUR * HOUR - 24 * HOUR
LABELS = {"rates": ("refusal:refused", "*:failed")}
SETTINGS: DeltaSettings = AlertsSettings().model_copy(update=LABELS)
FAILING = ("citation_validity",)


def asked(number: int, at: int, **fields: object) -> Served:
    return Served(number=number, time=at, **fields)  # type: ignore[arg-type]


def read(store: Store, start: int, end: int, kept: KeptRollups | None = None) -> Rollups:
    return history.read(store, start, end, SETTINGS, FAILING, kept)


def is_same(first: Rollups, second: Rollups) -> bool:
    is_of_same = (first.series, first.start) == (second.series, second.start)
    return is_of_same and np.array_equal(first.counts, second.counts)


def test_what_is_kept_is_what_the_store_has_as_time_goes_on(store: Store) -> None:
    write(
        store,
        [
            asked(hour, NOON + hour * HOUR, route=f"/{hour // 8}", label=("refused", "")[hour % 2])
            for hour in range(20)
        ],
    )
    kept = KeptRollups(store)
    for hour in (12, 13, 16, 17, 20):
        # The beginning moves on, too: a route that is over is no series any more.
        start, end = NOON + (hour - 10) * HOUR, NOON + hour * HOUR + 600
        assert is_same(read(store, start, end, kept), read(store, start, end))


def test_an_hour_is_read_once_until_it_is_forgotten(store: Store) -> None:
    start, end = NOON, NOON + 9 * HOUR
    write(store, [asked(hour, NOON + hour * HOUR) for hour in range(9)])
    kept = KeptRollups(store)
    before = read(store, start, end, kept)
    write(store, [asked(100, NOON + 2 * HOUR, validity=0.5), asked(101, end - 60)])
    newest = read(store, start, end + 300, kept).counts
    # What came in the last hours is seen each time, what came before them is not.
    assert newest[0, -2].sum() > 0
    assert newest[0, :36].sum() == before.counts[0, :36].sum()
    kept.forget(NOON + 2 * HOUR)
    assert is_same(read(store, start, end + 300, kept), read(store, start, end + 300))
    write(store, [asked(102, NOON + HOUR)])
    # After an hour everything is read again.
    later = end + HOUR + 300
    assert is_same(read(store, start, later, kept), read(store, start, later))
