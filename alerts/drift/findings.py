"""Findings of sustained drops, from the states of the detector. Pure."""

from __future__ import annotations

import math

import numpy as np

from alerts.drift.detect import recent_bounds
from alerts.drift.followed import Followed
from alerts.drift.state import DAY, DriftState
from alerts.signals.catalogue import BY_SIGNAL, POOL
from ragvigil.model.delta import Series
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.identity import identity
from ragvigil.model.score import Kind
from ragvigil.model.signal import is_rate

NANOS = 10**9
TWO_SIDED = 1.96
HARMLESS_ALONE = frozenset(
    {"chunk_utilization", "citation_coverage", "context_precision", "rerank_gain"}
)
"""Rubrics whose drop costs or reorders, and need not make an answer worse: tickets, no pages."""


def finding_id(followed: Followed, row: int) -> str:
    """A stable id: the same drop has the same id, also when it comes again within a day."""
    series, onset = followed.series[row], int(followed.states[row]["onset"])
    place = (series.service, series.environment, series.rubric, series.segment, series.route)
    return identity(FindingKind.DRIFT, *place, onset)


def finding(followed: Followed, row: int, now: float) -> Finding:
    """The finding of a series in alarm; one that has left it is cleared."""
    series, states = followed.series[row], followed.states[row : row + 1]
    state = states[0]
    count = max(float(state["recent_n"]), 1e-9)
    usual = float(state["recent_profile"]) / count
    change = float(state["recent_residual"]) / count
    low, high = (float(bound[0]) for bound in recent_bounds(states, TWO_SIDED))
    if is_rate(series.rubric):
        usual, change, low, high = 1 - usual, -change, -high, -low
    lasts = int(state["state"]) in (DriftState.ALARM, DriftState.SHIFTED)
    rate = BY_SIGNAL.get(series.rubric)
    return Finding(
        finding_id=finding_id(followed, row),
        kind=FindingKind.DRIFT,
        service=series.service,
        environment=series.environment,
        routes=_routes(followed, row),
        signal=series.rubric,
        layer=rate.layer if rate else series.layer,
        causes=rate.causes if rate else (),
        value=min(max(usual + change, 0.0), 1.0),
        reference=min(max(usual, 0.0), 1.0),
        low=max(low, -1.0),
        high=min(high, 1.0),
        n=round(count),
        since_unix_nano=int(state["onset"]) * NANOS,
        seen_unix_nano=int(now * NANOS),
        cleared_unix_nano=0 if lasts else int(state["cleared"] or state["tick"]) * NANOS,
        words=_words(series, usual, change, (low, high), state, now),
        is_local=series.kind is Kind.MODEL,
    )


def _routes(followed: Followed, row: int) -> tuple[str, ...]:
    series = followed.series[row]
    if series.route != POOL:
        return (series.route,)
    routes = followed.routes_of(row)
    fallen = [each for each in routes if followed.states[each]["recent_residual"] < 0]
    return tuple(sorted({followed.series[each].route for each in fallen or routes}))


def _words(
    series: Series,
    usual: float,
    change: float,
    bounds: tuple[float, float],
    state: np.void,
    now: float,
) -> str:
    """One line: what dropped, by how much, of how many.

    "sustained drop of groundedness by 6 points [4, 8] to 0.78, n 512"
    """
    near, far = sorted(abs(bound) for bound in bounds)
    if bounds[0] < 0 < bounds[1]:
        near = 0.0
    way = "rise" if is_rate(series.rubric) else "drop"
    scorer = " (local model)" if series.kind is Kind.MODEL else ""
    what = f"sustained {way} of {series.rubric}{scorer}"
    points = f"{abs(change) * 100:.0f} points [{near * 100:.0f}, {far * 100:.0f}]"
    level = min(max(usual + change, 0.0), 1.0)
    words = f"{what} by {points} to {level:.3g}, n {state['recent_n']:.0f}"
    if int(state["state"]) != DriftState.SHIFTED:
        return words
    days = math.floor((now - state["alarmed"]) / DAY)
    return f"{words}; it has lasted {days} days: accept the level as expected, or mend it"
