"""Describes a movement in one sentence, for people."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from ragvigil.model.delta import Delta, Moved

WINDOW_WORDS = {"15m": "15 min", "30m": "30 min", "90m": "90 min", "6h": "6 h", "24h": "24 h"}
WORTH_NAMING = 0.2
"""Share of the failures from which a label is named as their reason."""


def movement(row: Delta, labels: Mapping[str, int] | None = None, *, now: datetime) -> str:
    """Says what moved, where, by how much, to what, since when, and why.

    `labels` counts the failing records of the series by failure label; a record may have
    several. Empty where the row has not moved. `now` decides whether an hour needs its day.

    >>> from ragvigil.model.delta import Series
    >>> name = "citation_validity"
    >>> series = Series(service="desk", environment="", route="/refunds", rubric=name)
    >>> row = Delta(series=series, tick=0, window="6h", n=412, mean=0.61, delta=-0.31, low=-0.35,
    ...             high=-0.27, failed=160, moved=Moved.FELL, since=1_772_334_000)
    >>> labels = {"quote_not_found": 147, "stitched": 13}
    >>> for part in movement(row, labels, now=datetime(2026, 3, 1, 9, tzinfo=UTC)).split("; "):
    ...     print(part)
    citation_validity on /refunds fell by 31 points [27, 35] to 0.61 (6 h mean, n 412) since 03:00
    92 % of the failures are quote_not_found
    """
    if row.moved is Moved.NO or row.mean is None or row.delta is None:
        return ""
    where = f"{row.series.rubric} on {row.series.route or '(no route)'}"
    basis = f", {row.basis}" if row.basis else ""
    window = WINDOW_WORDS.get(row.window, row.window)
    to = f"to {row.mean:.2f} ({window} mean, n {row.n}{basis})"
    sentence = f"{where} {row.moved} by {_points(row)} {to}{_since(row, now)}"
    reason = _reason(row, labels or {})
    return f"{sentence}; {reason}" if reason else sentence


def _points(row: Delta) -> str:
    assert row.delta is not None
    points = f"{abs(row.delta) * 100:.0f} points"
    if row.low is None or row.high is None:
        return points
    near, far = sorted((abs(row.low), abs(row.high)))
    return f"{points} [{near * 100:.0f}, {far * 100:.0f}]"


def _since(row: Delta, now: datetime) -> str:
    if row.since is None:
        return ", and came back within the last hour"
    time = datetime.fromtimestamp(row.since, UTC)
    is_today = now - timedelta(hours=24) < time
    return f" since {time:%H:%M}" if is_today else f" since {time:%a %d %b %H:%M}"


def _reason(row: Delta, labels: Mapping[str, int]) -> str:
    failures = row.failed or max(labels.values(), default=0)
    if row.moved is not Moved.FELL or not failures or not labels:
        return ""
    label, count = max(labels.items(), key=lambda pair: pair[1])
    share = min(1.0, count / failures)
    return f"{share * 100:.0f} % of the failures are {label}" if share >= WORTH_NAMING else ""
