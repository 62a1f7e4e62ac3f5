"""The figures of the runs, and the bars that they are held to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import inf
from statistics import median

from bench.rig.truth_habits import Quiet
from bench.rig.truth_pairs import PairSeen
from bench.rig.truth_runs import ALL, QUALITY, UNDETERMINED, Seen

NOTICED, RIGHT, WRONG, OPEN, PAGE_MINUTES = 0.95, 0.93, 0.05, 0.30, 30.0
ALL_TRAFFIC_MINUTES, AUDITED_MINUTES = 25.0, 60.0
PAIRS_RIGHT = 0.90
SERIES, TICKETS_A_HUNDRED_WEEKS = 4, 1.0
"""A series is a route here: some dozen signals of each are watched."""
Figures = tuple[dict[str, object], dict[str, bool]]


def confusion(found: Sequence[Seen]) -> dict[str, dict[str, int]]:
    """What was said, by what is true."""
    table: dict[str, Counter[str]] = {}
    for seen in found:
        table.setdefault(seen.truth, Counter())[seen.layer or "nothing"] += 1
    return {truth: dict(counts) for truth, counts in table.items()}


def of_runs(found: Sequence[Seen], harm: Mapping[str, float]) -> Figures:
    """The figures of all runs, and the bars."""
    figures: dict[str, object] = {"runs": len(found), "confusion": confusion(found)}
    bars: dict[str, bool] = {}
    for part in (_noticed, _layers, _paged, _cleared):
        made, held = part(found)
        figures |= made
        bars |= held
    return figures | {"harm": dict(harm)}, bars


def _noticed(found: Sequence[Seen]) -> Figures:
    on_all = [seen for seen in found if seen.scope == ALL and not seen.is_quiet]
    noticed = _share(sum(bool(seen.incidents) for seen in on_all), len(on_all))
    quiet = sum(seen.incidents for seen in found if seen.is_quiet)
    before = sum(seen.before for seen in found)
    return {"noticed": noticed, "quiet_incidents": quiet, "incidents_before": before}, {
        f">= {NOTICED:.0%} on all routes noticed": _at_least(noticed, NOTICED),
        "more requests of one route open nothing": not quiet,
    }


def _layers(found: Sequence[Seen]) -> Figures:
    quality = [seen for seen in found if seen.truth in QUALITY]
    named = [seen for seen in quality if seen.is_right is not None]
    right = sum(bool(seen.is_right) for seen in named)
    figures = {
        "right_of_named": _share(right, len(named)),
        "wrong_of_all": _share(len(named) - right, len(quality)),
        "undetermined": _share(sum(seen.layer == UNDETERMINED for seen in quality), len(quality)),
    }
    return dict(figures), {
        f"layer: >= {RIGHT} right of named": _at_least(figures["right_of_named"], RIGHT),
        f"layer: wrong <= {WRONG} of all": _at_most(figures["wrong_of_all"], WRONG),
        f"layer: undetermined <= {OPEN}": _at_most(figures["undetermined"], OPEN),
    }


def _paged(found: Sequence[Seen]) -> Figures:
    paging = [seen for seen in found if seen.must_page and seen.scope == ALL]
    paged = [seen.page_minutes for seen in paging if seen.page_minutes is not None]
    minutes = median([*paged, *[inf] * (len(paging) - len(paged))] or [0.0])
    wrongly = sorted({seen.fault for seen in found if seen.must_not_page and seen.pages})
    twice = sum(seen.pages > 1 for seen in found)
    figures: dict[str, object] = {
        "must_page_paged": _share(len(paged), len(paging)),
        "page_minutes": None if minutes == inf else minutes,
        "paged_must_not": wrongly,
        "twice_paged": twice,
    }
    return figures, {
        f"must page: median <= {PAGE_MINUTES:g} minutes": minutes <= PAGE_MINUTES,
        "must not page: never": not wrongly,
        "one fault never two pages": not twice,
    }


def _cleared(found: Sequence[Seen]) -> Figures:
    minutes = {
        audited: _median([seen.cleared_minutes for seen in found if seen.audited == audited])
        for audited in (False, True)
    }
    open_ = sum(seen.incidents > 0 and seen.cleared_minutes is None for seen in found)
    figures: dict[str, object] = {
        "clear_minutes": {"all traffic": minutes[False], "audited": minutes[True]},
        "never_cleared": open_,
    }
    return figures, {
        f"cleared: all traffic <= {ALL_TRAFFIC_MINUTES:g} minutes": _at_most(
            minutes[False], ALL_TRAFFIC_MINUTES
        ),
        f"cleared: audited <= {AUDITED_MINUTES:g} minutes": _at_most(
            minutes[True], AUDITED_MINUTES
        ),
    }


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 3) if whole else None


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _at_least(value: object, bar: float) -> bool:
    """Whether a figure holds; a part that was not run breaks no bar."""
    return not isinstance(value, float | int) or value >= bar


def _at_most(value: object, bar: float) -> bool:
    return not isinstance(value, float | int) or value <= bar


def of_pairs(found: Sequence[PairSeen]) -> Figures:
    """The share of pairs that became what they are."""
    two = [seen for seen in found if seen.pair.are_two]
    figures: dict[str, object] = {
        "pairs": len(found),
        "right": _share(sum(seen.is_right for seen in found), len(found)),
        "right_of_two": _share(sum(seen.is_right for seen in two), len(two)),
        "wrong": [
            f"{seen.pair.first} {seen.pair.gap} {seen.pair.second} {seen.pair.routes}: {seen.said}"
            for seen in found
            if not seen.is_right
        ],
    }
    bars = {f"pairs: >= {PAIRS_RIGHT} right": _at_least(figures["right_of_two"], PAIRS_RIGHT)}
    return figures, bars


def of_habits(found: Sequence[Quiet]) -> Figures:
    """Pages and tickets of healthy days, each habit by itself."""
    weeks = sum(seen.days for seen in found) / 7 * SERIES
    tickets = sum(seen.tickets for seen in found)
    figures: dict[str, object] = {
        "series_weeks": round(weeks, 1),
        "tickets_a_hundred_series_weeks": round(100 * tickets / weeks, 1) if weeks else None,
        "habits": {
            seen.habit: {"pages": seen.pages, "tickets": seen.tickets, "said": seen.said}
            for seen in found
        },
    }
    bars = {
        "healthy: 0 pages": not any(seen.pages for seen in found),
        f"healthy: <= {TICKETS_A_HUNDRED_WEEKS} ticket per 100 series-weeks": _at_most(
            figures["tickets_a_hundred_series_weeks"], TICKETS_A_HUNDRED_WEEKS
        ),
    }
    return figures, bars
