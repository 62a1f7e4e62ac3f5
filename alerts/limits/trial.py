"""Tries a limit on the past: how often it would have told somebody. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from alerts.limits.crossing import BIN_SECONDS, Bins, Place, is_beyond, is_within
from alerts.limits.settings import OwnLimit, Reach
from ragvigil.model.figures import counted

NAMED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Crossing:
    """A time (seconds) at which a limit would have told, and where."""

    at: int
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What a limit would have told in the `days` before `at` (seconds), oldest first."""

    limit: OwnLimit
    at: int
    days: int
    crossings: tuple[Crossing, ...]

    @property
    def words(self) -> str:
        """ "would have paged 2 times in 30 days"."""
        verb = "paged" if self.limit.reaches is Reach.PAGE else "opened a ticket"
        days = counted(self.days, "day")
        if not self.crossings:
            return f"would not have {verb} in {days}"
        return f"would have {verb} {counted(len(self.crossings), 'time')} in {days}"


def tried(limit: OwnLimit, past: Mapping[Place, Bins]) -> list[Crossing]:
    """The crossings of the past, oldest first, each until the signal was back within the limit."""
    crossings = [
        Crossing(at=at, place=place)
        for place, bins in past.items()
        for at in _of_place(limit, bins)
    ]
    return sorted(crossings, key=lambda crossing: (crossing.at, crossing.place))


def _of_place(limit: OwnLimit, bins: Bins) -> list[int]:
    times, is_open = [], False
    for end in range(
        bins.start + BIN_SECONDS, bins.start + (len(bins.n) + 1) * BIN_SECONDS, BIN_SECONDS
    ):
        n, total, squares = bins.window(end, limit.window_minutes)
        if is_open:
            is_open = not is_within(limit, n, total)
        elif is_beyond(limit, n, total, squares):
            is_open = True
            times.append(end)
    return times


def trial_words(trial: Trial) -> str:
    """ "would have paged 2 times in 30 days: 2026-11-02 10:05 UTC /a; …"."""
    if not trial.crossings:
        return trial.words
    named = "; ".join(
        f"{datetime.fromtimestamp(crossing.at, UTC):%Y-%m-%d %H:%M} UTC {crossing.place[2]}"
        for crossing in trial.crossings[:NAMED]
    )
    more = len(trial.crossings) - NAMED
    return f"{trial.words}: {named}{f'; and {more} more' if more > 0 else ''}"
