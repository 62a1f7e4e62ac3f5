"""What is wrong and why, or what is watched and how well, in ten lines. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from alerts.incidents.message import Message, lines
from ragvigil.model.audit import Audit
from ragvigil.model.delta import Delta
from ragvigil.model.incident import Incident
from ragvigil.model.notice import Notice

MOST_LINES = 10
NAMED = 4
QUIET_SECONDS = 3600
WINDOWS = ("6h", "24h")


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What is known of a service or route now.

    `incidents` are open, the weightiest first, each with its message; `changes` and `audits` are
    the newest first. `last_record` is in seconds since the epoch, None where there is none in a
    day; `waiting` counts spans in the spool.
    """

    now: float
    incidents: Sequence[tuple[Incident, Message]] = ()
    changes: Sequence[Notice] = ()
    audits: Sequence[Audit] = ()
    deltas: Sequence[Delta] = ()
    last_record: int | None = None
    records: int = 0
    routes: int = 0
    waiting: int = 0


def why(known: Known) -> tuple[str, ...]:
    """At most ten lines, the weightiest first."""
    if known.incidents:
        told = [*_not_watching(known), *lines(known.incidents[0][1]), *_others(known)]
    else:
        told = [
            *_not_watching(known),
            "nothing is known to be wrong",
            *_changed(known),
            *_audits(known),
            *_limits(known.deltas),
            *_watching(known),
        ]
    return tuple(told[:MOST_LINES])


def _others(known: Known) -> list[str]:
    return [
        f"also open: {one.severity} {one.incident_id}, {told.worse} (since {told.since})"
        for one, told in known.incidents[1:]
    ]


def _not_watching(known: Known) -> list[str]:
    """What makes everything else doubtful; nothing where all is well."""
    told = []
    if known.last_record is None:
        told.append("not watching: no record came in 24 h; `ragvigil doctor` tells what is missing")
    elif known.now - known.last_record > QUIET_SECONDS:
        told.append(f"not watching: the last record came {_ago(known.now - known.last_record)} ago")
    if known.waiting > max(1000, known.records):
        told.append(f"behind: {known.waiting} spans wait in the spool; what follows is not new")
    return told


def _watching(known: Known) -> list[str]:
    if known.last_record is None:
        return []
    ago = _ago(known.now - known.last_record)
    routes = f"{known.routes} route{'' if known.routes == 1 else 's'}"
    return [
        f"watching: {known.records} records of {routes} in 24 h, the last {ago} ago; "
        f"{known.waiting} spans wait in the spool"
    ]


def _changed(known: Known) -> list[str]:
    if not known.changes:
        return ["no change was noticed in 48 h"]
    return [f"noticed: {_change(one)}" for one in known.changes[:2]]


def _change(one: Notice) -> str:
    at = datetime.fromtimestamp(one.since_unix_nano / 1e9, UTC)
    values = " → ".join(value for value in (one.before, one.after) if value)
    share = f", {one.share:.0%} of requests" if one.share < 1 else ""
    where = one.route or "all routes"
    return f"{one.kind} on {where} {at:%a %H:%M} UTC{share}{': ' if values else ''}{values[:120]}"


def _audits(known: Known) -> list[str]:
    return [
        f"audit of {one.reason or 'a change'}: {one.progress or f'{one.pairs} pairs judged'}"
        for one in known.audits
        if one.is_running
    ][:2]


def _limits(deltas: Sequence[Delta]) -> list[str]:
    """What a drop must measure to be seen, by window: the best route of each rubric."""
    told = []
    for window in WINDOWS:
        best = _best({}, [one for one in deltas if one.window == window])
        if best:
            named = sorted(best.items(), key=lambda pair: (pair[1], pair[0]))[:NAMED]
            points = ", ".join(f"{rubric} {100 * limit:.0f}" for rubric, limit in named)
            told.append(f"drops that would show in {window[:-1]} h, in points: {points} or more")
    return told or ["no rubric has scores enough yet to say what drop would show"]


def _best(found: dict[str, float], deltas: Sequence[Delta]) -> Mapping[str, float]:
    for one in deltas:
        limit = one.detection_limit
        if limit is not None and limit < 1 and ":" not in one.series.rubric:
            found[one.series.rubric] = min(limit, found.get(one.series.rubric, 1.0))
    return found


def _ago(seconds: float) -> str:
    minutes = max(0, round(seconds / 60))
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h"
