"""The figures of the runs, and the bars that they are held to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from math import inf
from statistics import median

from bench.rig.matrices import Row, matrix
from bench.rig.truth_faults import Truth
from bench.rig.truth_habits import HabitResult
from bench.rig.truth_minutes import DaysResult
from bench.rig.truth_pairs import PairResult
from bench.rig.truth_runs import ALL, QUALITY, UNDETERMINED, RunResult

NOTICED, RIGHT, WRONG, OPEN, PAGE_MINUTES = 0.95, 0.93, 0.05, 0.30, 30.0
ALL_TRAFFIC_MINUTES, AUDITED_MINUTES = 25.0, 60.0
PAIRS_RIGHT = 0.90
SERIES, TICKETS_A_HUNDRED_WEEKS = 4, 1.0
"""A series is a route here: some dozen signals of each are watched."""
UNNOTICED = "no incident"
COLUMNS = (*QUALITY, Truth.BLIND, UNDETERMINED, UNNOTICED)
TOLD = {
    "noticed": "share of the runs on all routes that were noticed (bar: at least 0.95)",
    "right_of_named": "of the layers named, right (bar: at least 0.93)",
    "wrong_of_all": "of all runs, a wrong layer (bar: at most 0.05)",
    "undetermined": "of all runs, none named (bar: at most 0.30)",
    "page_minutes": "minutes to the page where one must come, median (bar: at most 30)",
    "first_suspect": "the change is the first suspect, where spans state it (bar: at least 0.80)",
}
"""What a document tells of the figures."""
Figures = tuple[dict[str, object], dict[str, bool]]


def confusion(found: Sequence[RunResult]) -> dict[str, dict[str, int]]:
    """What was said, by what is true."""
    table: dict[str, Counter[str]] = {}
    for result in found:
        table.setdefault(result.truth, Counter())[result.layer or "nothing"] += 1
    return {truth: dict(counts) for truth, counts in table.items()}


def of_runs(found: Sequence[RunResult], harm: Mapping[str, float]) -> Figures:
    """The figures of all runs, and the bars."""
    figures: dict[str, object] = {"runs": len(found), "confusion": confusion(found)}
    bars: dict[str, bool] = {}
    for part in (_noticed, _layers, _paged, _cleared):
        made, held = part(found)
        figures |= made
        bars |= held
    return figures | {"harm": dict(harm)}, bars


def part_of(found: Sequence[RunResult], figures: Mapping[str, object]) -> str:
    """The runs of a benchmark in a document: figures, and a row for each fault."""
    said: dict[str, Counter[str]] = {}
    faults = {result.fault: result for result in found}
    for result in found:
        said.setdefault(result.fault, Counter())[result.layer or UNNOTICED] += 1
    rows = [
        Row(
            fault=name.replace("_", " "),
            layer=one.truth,
            right=_right(one),
            said=said[name],
        )
        for name, one in faults.items()
    ]
    told = {name: figures.get(name) for name in TOLD}
    lines = [f"- {words}: {told[name]}" for name, words in TOLD.items() if told[name] is not None]
    return "\n".join([f"{len(found)} runs.", "", *lines, "", matrix(rows, COLUMNS)])


def _right(result: RunResult) -> Collection[str]:
    """The columns that are right: of a fault of no layer any ticket, of none at all nothing."""
    if result.is_quiet:
        return (UNNOTICED,)
    if result.truth == Truth.NONE:
        return tuple(column for column in COLUMNS if column != UNNOTICED)
    return (result.truth,)


def _noticed(found: Sequence[RunResult]) -> Figures:
    on_all = [result for result in found if result.scope == ALL and not result.is_quiet]
    noticed = _share(sum(bool(result.incidents) for result in on_all), len(on_all))
    quiet = sum(result.incidents for result in found if result.is_quiet)
    before = sum(result.before for result in found)
    return {"noticed": noticed, "quiet_incidents": quiet, "incidents_before": before}, {
        f">= {NOTICED:.0%} on all routes noticed": _at_least(noticed, NOTICED),
        "more requests of one route open nothing": not quiet,
    }


def _layers(found: Sequence[RunResult]) -> Figures:
    quality = [result for result in found if result.truth in QUALITY]
    named = [result for result in quality if result.is_right is not None]
    right = sum(bool(result.is_right) for result in named)
    figures = {
        "right_of_named": _share(right, len(named)),
        "wrong_of_all": _share(len(named) - right, len(quality)),
        "undetermined": _share(
            sum(result.layer == UNDETERMINED for result in quality), len(quality)
        ),
    }
    return dict(figures), {
        f"layer: >= {RIGHT} right of named": _at_least(figures["right_of_named"], RIGHT),
        f"layer: wrong <= {WRONG} of all": _at_most(figures["wrong_of_all"], WRONG),
        f"layer: undetermined <= {OPEN}": _at_most(figures["undetermined"], OPEN),
    }


def _paged(found: Sequence[RunResult]) -> Figures:
    paging = [result for result in found if result.must_page and result.scope == ALL]
    paged = [result.page_minutes for result in paging if result.page_minutes is not None]
    minutes = median([*paged, *[inf] * (len(paging) - len(paged))] or [0.0])
    wrongly = sorted({result.fault for result in found if result.must_not_page and result.pages})
    twice = sum(result.pages > 1 for result in found)
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


def _cleared(found: Sequence[RunResult]) -> Figures:
    minutes = {
        audited: _median([result.cleared_minutes for result in found if result.audited == audited])
        for audited in (False, True)
    }
    open_ = sum(result.incidents > 0 and result.cleared_minutes is None for result in found)
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


def of_pairs(found: Sequence[PairResult]) -> Figures:
    """The share of pairs that became what they are."""
    two = [result for result in found if result.pair.are_two]
    too_often = [result for result in found if result.pages > 1 + result.pair.are_two]
    figures: dict[str, object] = {
        "pairs": len(found),
        "right": _share(sum(result.is_right for result in found), len(found)),
        "right_of_two": _share(sum(result.is_right for result in two), len(two)),
        "paged_too_often": [f"{one.pair.first}, {one.pair.second}" for one in too_often],
        "wrong": [
            f"{result.pair.first}, {result.pair.gap} min, {result.pair.second}: {result.lines}"
            for result in found
            if not result.is_right
        ],
    }
    bars = {
        f"pairs: >= {PAIRS_RIGHT} right": _at_least(figures["right_of_two"], PAIRS_RIGHT),
        "pairs: one fault never two pages": not too_often,
    }
    return figures, bars


def of_habits(found: Sequence[HabitResult]) -> Figures:
    """Pages and tickets of healthy days, each habit by itself."""
    weeks = sum(result.days for result in found) / 7 * SERIES
    tickets = sum(result.tickets for result in found)
    figures: dict[str, object] = {
        "series_weeks": round(weeks, 1),
        "tickets_a_hundred_series_weeks": round(100 * tickets / weeks, 1) if weeks else None,
        "habits": {
            result.habit: {"pages": result.pages, "tickets": result.tickets, "lines": result.lines}
            for result in found
        },
    }
    bars = {
        "healthy: 0 pages": not any(result.pages for result in found),
        f"healthy: <= {TICKETS_A_HUNDRED_WEEKS} ticket per 100 series-weeks": _at_most(
            figures["tickets_a_hundred_series_weeks"], TICKETS_A_HUNDRED_WEEKS
        ),
    }
    return figures, bars


def of_days(found: Sequence[DaysResult]) -> Figures:
    """Pages and tickets of healthy days before the detectors alone, each habit by itself.

    A series is a signal of a route here; a ticket is a number that moved, or a change of a route.
    """
    weeks = sum(result.days * result.series / 7 for result in found)
    of_routes = sum(result.days for result in found) / 7 * SERIES
    tickets = sum(result.tickets + result.changes for result in found)
    figures: dict[str, object] = {
        "series_weeks": round(weeks, 1),
        "route_weeks": round(of_routes, 1),
        "tickets_a_hundred_series_weeks": round(100 * tickets / weeks, 2) if weeks else None,
        "tickets_a_hundred_route_weeks": round(100 * tickets / of_routes, 2) if weeks else None,
        "habits": {
            result.habit: {
                "pages": result.pages,
                "tickets": result.tickets,
                "changes": result.changes,
                "lines": result.lines,
            }
            for result in found
        },
    }
    bars = {
        "healthy, detectors alone: 0 pages": not any(result.pages for result in found),
        f"healthy, detectors alone: <= {TICKETS_A_HUNDRED_WEEKS} ticket per 100 series-weeks": (
            _at_most(figures["tickets_a_hundred_series_weeks"], TICKETS_A_HUNDRED_WEEKS)
        ),
    }
    return figures, bars
