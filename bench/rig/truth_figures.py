"""The figures of the runs, and the bars that they are held to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median

from bench.rig.truth_habits import Quiet
from bench.rig.truth_pairs import PairSeen
from bench.rig.truth_runs import ALL, UNDETERMINED, Seen

QUALITY = ("retrieval", "corpus", "generation")
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


def of_runs(found: Sequence[Seen]) -> Figures:
    """The figures of all runs, and the bars."""
    on_all = [seen for seen in found if seen.scope == ALL and not seen.is_quiet]
    quality = [seen for seen in found if seen.truth in QUALITY]
    named = [seen for seen in quality if seen.is_right is not None]
    right = sum(bool(seen.is_right) for seen in named)
    open_ = sum(seen.layer == UNDETERMINED for seen in quality)
    paging = [seen for seen in found if seen.must_page and seen.scope == ALL]
    paged = [seen.page_minutes for seen in paging if seen.page_minutes is not None]
    clear = {
        audited: [
            seen.cleared_minutes
            for seen in found
            if seen.audited == audited and seen.cleared_minutes is not None
        ]
        for audited in (False, True)
    }
    figures: dict[str, object] = {
        "runs": len(found),
        "noticed": _share(sum(bool(seen.incidents) for seen in on_all), len(on_all)),
        "right_of_named": _share(right, len(named)),
        "wrong_of_all": _share(len(named) - right, len(quality)),
        "undetermined": _share(open_, len(quality)),
        "must_page_paged": _share(len(paged), len(paging)),
        "page_minutes": median([*paged, *[1e9] * (len(paging) - len(paged))]) if paging else None,
        "paged_must_not": sorted(
            {seen.fault for seen in found if seen.must_not_page and seen.pages}
        ),
        "quiet_incidents": sum(seen.incidents for seen in found if seen.is_quiet),
        "twice_paged": sum(seen.pages > 1 for seen in found),
        "incidents_before": sum(seen.before for seen in found),
        "clear_minutes": {"all traffic": _median(clear[False]), "audited": _median(clear[True])},
        "never_cleared": sum(seen.incidents > 0 and seen.cleared_minutes is None for seen in found),
        "confusion": confusion(found),
    }
    bars = {
        f">= {NOTICED:.0%} on all routes noticed": _at_least(figures["noticed"], NOTICED),
        f"layer: >= {RIGHT} right of named": _at_least(figures["right_of_named"], RIGHT),
        f"layer: wrong <= {WRONG} of all": _at_most(figures["wrong_of_all"], WRONG),
        f"layer: undetermined <= {OPEN}": _at_most(figures["undetermined"], OPEN),
        "must page: median <= 30 minutes": _at_most(figures["page_minutes"], PAGE_MINUTES),
        "must not page: never": not figures["paged_must_not"],
        "one fault never two pages": not figures["twice_paged"],
        "cleared: all traffic <= 25 minutes": _at_most(_median(clear[False]), ALL_TRAFFIC_MINUTES),
        "cleared: audited <= 60 minutes": _at_most(_median(clear[True]), AUDITED_MINUTES),
    }
    return figures, bars


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 3) if whole else None


def _median(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _at_least(value: object, bar: float) -> bool:
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
