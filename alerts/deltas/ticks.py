"""Decides which ticks are due. Pure.

A tick is the end of 5 minutes of event time. It is computed as soon as it begins, again at each
run while it is open, and for the last time when it closes, `close_late_seconds` after its end.
Scores that arrive later amend history: ticks whose windows hold a changed minute are computed
again. A backfill needs no code of its own: its minutes have changed, so its ticks are computed.
"""

from __future__ import annotations

from dataclasses import dataclass

from alerts.deltas.windows import DAY, TICK_SECONDS

LONGEST_WINDOW = DAY * TICK_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedMinutes:
    """Minutes whose roll-ups changed since the last run: starts of first and last, seconds.

    `newest` is the newest minute that has roll-ups at all.
    """

    first: int
    last: int
    newest: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DueTicks:
    """Ticks to compute: `amended` for the series that changed, `current` for all.

    Ticks up to `closed_until` are closed.
    """

    amended: range
    current: range
    closed_until: int


def due(
    now: int, *, computed_until: int | None, changed: ChangedMinutes | None, close_late_seconds: int
) -> DueTicks:
    """Returns the ticks due at `now` (seconds since the epoch).

    `computed_until` is the newest closed tick that is stored, None where there is none. Ticks
    missed more than a day ago are due only where their minutes changed: the longest window of the
    current ticks does not reach back to them.

    >>> first = due(now=6010, computed_until=None, changed=None, close_late_seconds=600)
    >>> first.closed_until, list(first.current), list(first.amended)
    (5400, [5400, 5700, 6000, 6300], [])
    """
    closed_until = (now - close_late_seconds) // TICK_SECONDS * TICK_SECONDS
    start = closed_until
    if computed_until is not None:
        # After a pause at most the last day is computed again; `amended` covers older changes.
        missed = max(computed_until, closed_until - LONGEST_WINDOW)
        start = min(missed, closed_until) + TICK_SECONDS
    current = range(start, tick_after(now - 1) + 1, TICK_SECONDS)
    return DueTicks(
        amended=_amended(changed, computed_until or 0, current.start),
        current=current,
        closed_until=closed_until,
    )


def tick_after(time: int) -> int:
    """The first tick whose windows hold `time`; a window excludes its end."""
    return (time // TICK_SECONDS + 1) * TICK_SECONDS


def _amended(changed: ChangedMinutes | None, computed_until: int, before: int) -> range:
    """Returns the ticks before `before` of which a window holds a changed minute.

    They end where ticks were computed before and where scores end, whichever is later; scores of
    the last day extend them up to the present, whose windows still hold them.
    """
    if changed is None:
        return range(0)
    newest = tick_after(changed.newest)
    reached = max(newest, computed_until)
    if before - newest < LONGEST_WINDOW:
        reached = before
    last = min(tick_after(changed.last) + LONGEST_WINDOW, reached) + TICK_SECONDS
    return range(tick_after(changed.first), min(last, before), TICK_SECONDS)
