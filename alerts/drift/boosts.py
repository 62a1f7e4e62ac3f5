"""Which routes are judged more: those of which a judged rubric looks like a drop. Pure.

The choice depends on past scores only, so the detector's promise on false alarms holds.
"""

from __future__ import annotations

from collections.abc import Collection

from alerts.drift.detect import LISTENING
from alerts.drift.followed import Followed
from alerts.drift.settings import DriftSettings
from alerts.signals.catalogue import POOL
from ragvigil.model.score import Kind

Place = tuple[str, str, str]
BEGINS, ENDS = 4.0, 1.5
"""Evidence at which a boost begins and ends; see bench/drift.py for delays and cost."""
LASTS_SECONDS = 900
"""A boost that is not renewed ends by itself: the job that asked for it may have stopped."""


def boosted(
    before: Collection[Place], followed: Followed, judged: Collection[str], settings: DriftSettings
) -> set[Place]:
    """The places to judge more from now on, from those before."""
    if not settings.boost_rate:
        return set()
    places: set[Place] = set()
    for series, state in zip(followed.series, followed.states, strict=True):
        if series.rubric not in judged or series.route == POOL or series.kind is Kind.MODEL:
            continue
        place = (series.service, series.environment, series.route)
        least = ENDS if place in before else BEGINS
        if state["state"] in LISTENING and state["cusum"].max() >= least:
            places.add(place)
    return places
