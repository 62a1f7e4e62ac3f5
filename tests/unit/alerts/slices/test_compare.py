"""A slice that falls is named; a healthy service, and one that falls as a whole, name none."""

from __future__ import annotations

import numpy as np

from alerts.deltas.settings import DeltaSettings
from alerts.slices.compare import SliceDelta, slice_deltas
from ragvigil.store.scores.slice_sums import OTHER, HourSums, SliceKey

HOUR, DAY = 3600, 86_400
END = 1_800_000_000 // DAY * DAY
TIERS = {"gold": 0.1, "silver": 0.3, "free": 0.6}
LANGUAGES = {"de": 0.5, "en": 0.4, "fr": 0.1}
RUBRICS = ("groundedness", "citation_coverage", "chunk_utilization", "retrieval_shape")


def week(
    seed: int, *, drop: float = 0.0, tier: str = "gold", an_hour: int = 400, hours: int = 24
) -> dict[SliceKey, HourSums]:
    """Eight days by hour with a daily rhythm and two points of noise; `tier` falls in the end."""
    chance = np.random.default_rng(seed)
    starts = np.arange(END - 8 * DAY, END, HOUR)
    parts: dict[tuple[str, str], list[list[np.ndarray]]] = {}
    for start in starts:
        rhythm = 1 + 0.7 * np.sin(2 * np.pi * (start % DAY) / DAY)
        n = chance.poisson(an_hour * rhythm)
        tiers = chance.choice(list(TIERS), n, p=list(TIERS.values()))
        languages = chance.choice(list(LANGUAGES), n, p=list(LANGUAGES.values()))
        falls = np.zeros(n) if start < END - hours * HOUR else drop * np.isin(tiers, tier.split())
        scores = []
        for place in range(len(RUBRICS)):
            level = 0.8 + chance.normal(0, 0.02)
            raw = level - (falls if place == 0 else 0) + chance.normal(0, 0.25, n)
            scores.append(np.clip(raw, 0, 1))
        every = {("", ""): np.ones(n, bool)}
        every |= {("tier", name): tiers == name for name in TIERS}
        every |= {("language", name): languages == name for name in LANGUAGES}
        for part, inside in every.items():
            sums = [[inside.sum(), 0.0, 0.0, 0]]
            sums += [[inside.sum(), s[inside].sum(), (s[inside] ** 2).sum(), 0] for s in scores]
            parts.setdefault(part, []).append(sums)
    return {
        SliceKey(
            service="desk",
            environment="prod",
            dimension=dimension,
            value=value,
            rubric=rubric,
            layer="generation" if rubric else "",
        ): HourSums(start=starts, sums=np.array([hour[place] for hour in hours_], dtype=float).T)
        for (dimension, value), hours_ in parts.items()
        for place, rubric in enumerate(("", *RUBRICS))
    }


def worse(sums: dict[SliceKey, HourSums]) -> list[SliceDelta]:
    return [row for row in slice_deltas(sums, END, DeltaSettings(), 20) if row.is_worse]


def names(rows: list[SliceDelta]) -> set[str]:
    return {f"{row.dimension}={row.value} {row.rubric}" for row in rows}


def test_a_tenth_of_the_traffic_that_falls_ten_points_is_named_and_no_other() -> None:
    rows = worse(week(1, drop=0.1))
    assert names(rows) == {"tier=gold groundedness"}
    assert 0.08 < rows[0].share < 0.12
    assert rows[0].low < -0.08 < rows[0].high
    assert rows[0].window == "24h"


def test_of_five_healthy_weeks_none_names_a_slice() -> None:
    assert [names(worse(week(seed))) for seed in range(100, 105)] == [set()] * 5


def test_a_service_that_falls_as_a_whole_names_no_slice() -> None:
    assert not worse(week(2, drop=0.2, tier="gold silver free"))


def test_few_answers_name_nothing() -> None:
    assert not worse(week(3, drop=0.1, an_hour=4))


def test_rare_values_are_compared_together() -> None:
    rows = slice_deltas(week(4), END, DeltaSettings(), 2)
    tiers = {row.value for row in rows if row.dimension == "tier"}
    assert tiers == {"free", "silver", OTHER}
    shares = {row.value: row.share for row in rows if row.dimension == "tier"}
    assert abs(shares[OTHER] - 0.1) < 0.02
