"""Sums of scores by hour and slice of the traffic, counted again from answers and scores.

They are replaced by whole hours; running it twice is safe.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragvigil.model.topic import LIES_IN
from ragvigil.store.engine.priority import Priority

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ragvigil.store.engine.store import Store

    Floats = NDArray[np.float64]

HOUR = 3600
MOST_ANSWERS = 20_000
"""Of an hour: of more, about this many are drawn. They take two seconds and 100 MB to sum."""
MOST_AN_HOUR = 200
"""Values of a dimension in an hour that have sums of their own: one by user id must not fill the
store."""
OTHER = "__other__"
ANY_TIER = "*"


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceKey:
    """A rubric in a slice: `rubric` is empty for the answers, `dimension` for the whole service."""

    service: str
    environment: str
    dimension: str
    value: str
    rubric: str = ""
    layer: str = ""
    segment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HourSums:
    """Sums by hour: `start` in seconds, `sums` of the shape (n, total, squares, failed) × hours."""

    start: NDArray[np.int64]
    sums: Floats


def hours_without(store: Store, first: int) -> list[int]:
    """Hours since `first` (seconds) that were never summed, the newest first. Raises StoreError."""
    rows = store.read("slice_hours_without", {"first": max(0, first)}, priority=Priority.SCAN)
    return [int(row["hour"]) for row in rows]


def recompute(
    store: Store, hour: int, by: Collection[str], tiers: Mapping[str, str], written_unix_nano: int
) -> None:
    """Sums the hour that starts at `hour` (seconds) again, by these dimensions.

    Of more than MOST_ANSWERS a part is drawn, of which all sums are.
    `tiers` gives the tier of a tenant; that of `*` is for all others. Raises StoreError.
    """
    asked = {"since": hour, "until": hour + HOUR, "service": ""}
    stored = int(store.read("answers_counted", asked, priority=Priority.SCAN)[0]["answers"])
    parameters = {
        "first": hour,
        "end": hour + HOUR,
        "per_million": round(1e6 * min(1.0, MOST_ANSWERS / stored)) if stored else 1_000_000,
        **slicing(by, tiers),
        "most": MOST_AN_HOUR,
        "written": written_unix_nano,
        "replica": store.replica,
        "epoch": store.epoch,
    }
    store.run("slice_sums_recompute", parameters, priority=Priority.SCAN)


def slicing(by: Collection[str], tiers: Mapping[str, str]) -> dict[str, object]:
    """Parameters of `parts/slices_of.sql` and `parts/answer_topics.sql`."""
    named = {tenant: tier for tenant, tier in tiers.items() if tenant != ANY_TIER}
    return {
        "by": list(by),
        # `transform` takes no empty array; an answer without a tenant has no tier.
        "tenants": [*named, ""],
        "tiers": [*named.values(), ""],
        "other_tier": tiers.get(ANY_TIER, ""),
        "lies_in": LIES_IN,
    }


def read(store: Store, first: int, end: int, service: str = "") -> dict[SliceKey, HourSums]:
    """The sums from `first` until `end`, seconds since the epoch. Raises StoreError."""
    import numpy as np

    window = {"first": first, "end": end, "service": service}
    return {
        SliceKey(
            **{name: row[name] for name in ("service", "environment", "dimension", "value")},
            rubric=row["rubric"],
            layer=row["layer"],
            segment=row["segment"],
        ): HourSums(
            start=np.array(row["starts"], dtype=np.int64),
            sums=np.array(
                [row[name] for name in ("n", "total", "squares", "failed")], dtype=np.float64
            ),
        )
        for row in store.read("slice_sums", window)
    }
