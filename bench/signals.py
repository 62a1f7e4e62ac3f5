"""The watch's signals: false alarms in a healthy service, minutes to find, cost of a tick.

    python bench/signals.py [--small] [--seed N]

A healthy service for four weeks (one way for two days with --small) in each of its ways: calm, with
topics that wander, a popular question for an hour a day, two tenants, a date in its prompts, or a
weekly batch; 400 requests an hour on four routes, quiet nights and weekends, checked every five
minutes. Then faults that must page, on all routes or one, until they page, and until they
clear after the fix; every rate that rises to 30, 60 or 100 % and every number that shifts by 10, 20
or 40 %, on one route or all. Then one tick of 500 series through the embedded store.
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from alerts.incidents.suspects import is_good
from alerts.settings import AlertsSettings
from alerts.signals.broken import BrokenDetector
from alerts.signals.minutes import HOUR, MINUTE
from alerts.signals.moved import MovedDetector
from alerts.signals.traffic import TrafficDetector
from bench.rig.options import size_parser
from bench.rig.report import finish, peak_rss_mb, progress
from bench.rig.signals_modes import FAULTS, MODES, Fault, onsets, sums, traffic
from bench.rig.signals_modes import ROUTES as MODE_ROUTES
from bench.rig.signals_tick import tick_cost
from bench.rig.signals_traffic import DAY, LEVELS, ROUTES, START, USUAL, Change, Replay, stream
from ragvigil.model.finding import PAGES, Finding

SEED = 17
TICK_SECONDS, TICK_MB = 1.0, 50.0


STEP_MINUTES = 5
"""Between two checks of the healthy service."""
PAGE_MINUTES, CLEAR_MINUTES = 30, 25
TICKETS_OF_A_HUNDRED_WEEKS = 1.0

Found = dict[str, float | None]


class Detectors:
    """The three detectors, as the job steps them."""

    def __init__(self) -> None:
        settings = AlertsSettings()
        self._all = (
            BrokenDetector(settings.broken),
            MovedDetector(settings.moved),
            TrafficDetector(settings.broken),
        )

    def step(self, replay: Replay, end: int) -> list[Finding]:
        """The findings after a step, without those for the better."""
        broken, moved, traffic = self._all
        findings = (
            *broken.step(replay.table, [end], {}),
            *moved.step(replay.table, end, {}),
            *traffic.step(replay.table, end, {}),
        )
        return [finding for finding in findings if not is_good(finding)]


def healthy(rng: np.random.Generator, mode: str, days: int) -> dict[str, float]:
    """Pages and tickets of a healthy service in one of its ways."""
    requests = traffic(rng, days * DAY, mode, Fault())
    replay, detectors = Replay(list(sums(rng, requests, Fault()))), Detectors()
    found: dict[str, Finding] = {}
    paged: set[str] = set()
    started = time.process_time()
    for minute in range(START, START + days * DAY, MINUTE):
        replay.minute(minute)
        end = minute + MINUTE
        if end // MINUTE % STEP_MINUTES:
            continue
        for finding in detectors.step(replay, end):
            found.setdefault(finding.finding_id, finding)
            if finding.kind in PAGES:
                paged.add(finding.finding_id)
    for finding in found.values():
        day = (finding.since_unix_nano / 1e9 - START) / DAY
        progress(f"{mode}: {day:.2f} d {finding.kind} {finding.routes} {finding.words}")
    series = len(replay.table.series)
    tickets = len(found) - len(paged)
    steps = days * DAY / MINUTE / STEP_MINUTES
    return {
        "days": days,
        "series": series,
        "pages": len(paged),
        "tickets": tickets,
        "tickets_of_100_series_weeks": round(100 * tickets / (series * days / 7), 2),
        "ms_a_step": round((time.process_time() - started) / steps * 1e3, 2),
    }


def paged(rng: np.random.Generator, fault: Fault, *, most: int) -> tuple[int | None, int | None]:
    """Minutes from the onset to the page, and from the fix until nothing is open."""
    requests = traffic(rng, fault.end - START + most * MINUTE, "calm", fault)
    replay, detectors = Replay(list(sums(rng, requests, fault))), Detectors()
    replay.past((fault.start - HOUR) // HOUR * HOUR)
    page = clear = None
    findings: list[Finding] = []
    for minute in range(replay.table.end, fault.end + most * MINUTE, MINUTE):
        replay.minute(minute)
        end = minute + MINUTE
        findings = detectors.step(replay, end)
        if page is None and fault.start < end <= fault.end:
            is_page = any(finding.kind in PAGES for finding in findings)
            page = (end - fault.start) // MINUTE if is_page else None
        if end > fault.end and not any(
            finding.is_open and finding.kind in PAGES for finding in findings
        ):
            clear = (end - fault.end) // MINUTE
            break
    return page, clear if page is not None else None


def faults(rng: np.random.Generator, small: bool) -> dict[str, Found]:
    """Every fault that must page, at several onsets, on all routes and on one."""
    given: dict[str, Found] = {}
    chosen = dict(list(FAULTS.items())[:2] if small else FAULTS.items())
    for name, fault in chosen.items():
        for routes in (tuple(range(MODE_ROUTES)), (1,))[: 1 if small else 2]:
            runs = [
                paged(
                    rng,
                    replace(fault, start=at, end=at + 120 * MINUTE, routes=routes),
                    most=90,
                )
                for at in onsets(rng, 1 if small else 5)
            ]
            given[f"{name} on {len(routes)}"] = {
                "paged": float(np.mean([page is not None for page, _ in runs])),
                "median": _median([page for page, _ in runs]),
                "cleared": _median([clear for _, clear in runs]),
            }
            progress(f"{name} on {len(routes)}: {given[f'{name} on {len(routes)}']}")
    return given


def _median(minutes: list[int | None]) -> float | None:
    """The median, None where half of them or more never came."""
    median = float(np.median([np.inf if each is None else each for each in minutes]))
    return None if np.isinf(median) else median


def minutes_to_find(rng: np.random.Generator, change: Change, *, most: int) -> int | None:
    """Minutes from the change until its finding, None where none came within `most`."""
    settings = AlertsSettings()
    at = change.at
    replay = Replay(list(stream(rng, at - START + most * MINUTE, change, {change.signal})))
    replay.past(at // HOUR * HOUR)
    broken, moved = BrokenDetector(settings.broken), MovedDetector(settings.moved)
    for minute in range(at // HOUR * HOUR, at + most * MINUTE, MINUTE):
        replay.minute(minute)
        end = minute + MINUTE
        if end <= at:
            continue
        found = (
            broken.step(replay.table, [end], {})
            if change.signal in USUAL
            else moved.step(replay.table, end, {})
        )
        if any(finding.signal == change.signal for finding in found):
            return (end - at) // MINUTE
    return None


def times_to_find(
    rng: np.random.Generator, signals: list[str], by: float, *, routes: int, repeats: int, most: int
) -> Found:
    """Median and 90th percentile over signals and repeats, at any time of the day."""
    taken: list[float] = []
    for signal in signals:
        for _ in range(repeats):
            at = START + 4 * DAY + int(rng.integers(0, DAY // MINUTE)) * MINUTE
            change = Change(signal=signal, at=at, by=by, routes=tuple(range(routes)))
            found = minutes_to_find(rng, change, most=most)
            taken.append(np.inf if found is None else found)
    median, late = np.percentile(taken, [50, 90], method="higher")
    return {
        "found": round(float(np.isfinite(taken).mean()), 3),
        "median": None if np.isinf(median) else int(median),
        "p90": None if np.isinf(late) else int(late),
    }


def found_in_time(rng: np.random.Generator, small: bool) -> dict[str, dict[str, Found]]:
    """Minutes to find every change, on one route and on all."""
    repeats = 2 if small else 8
    rates = {
        f"{by:.0%} on {routes}": times_to_find(
            rng, list(USUAL), by, routes=routes, repeats=repeats, most=60
        )
        for by in (0.3, 0.6, 1.0)
        for routes in (1, ROUTES)
    }
    progress(str(rates))
    shifts = {
        f"{by:.0%} on {routes}": times_to_find(
            rng, list(LEVELS), by, routes=routes, repeats=max(1, repeats // 2), most=120
        )
        for by in (0.1, 0.2, 0.4)
        for routes in (1, ROUTES)
    }
    progress(str(shifts))
    return {"broken": rates, "moved": shifts}


def main() -> None:
    """Runs it and prints the JSON line."""
    parser = size_parser(__doc__)
    parser.add_argument("--seed", type=int, default=SEED)
    given = parser.parse_args()
    small, seed = given.small, given.seed
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as folder:
        tick = tick_cost(Path(folder), days=1 if small else 3, ticks=5 if small else 20)
    progress(str(tick))
    taken = found_in_time(rng, small)
    must_page = faults(rng, small)
    modes = ("popular question",) if small else MODES
    quiet = {mode: healthy(rng, mode, 2 if small else 28) for mode in modes}
    weeks = sum(mode["series"] * mode["days"] / 7 for mode in quiet.values())
    tickets = 100 * sum(mode["tickets"] for mode in quiet.values()) / weeks
    bars = _bars(taken, must_page, quiet)
    if not small:
        bars[f"<= {TICKETS_OF_A_HUNDRED_WEEKS} tickets of 100 series-weeks"] = (
            tickets <= TICKETS_OF_A_HUNDRED_WEEKS
        )
        bars[f"a tick <= {TICK_SECONDS} s"] = tick["worst_tick_seconds"] <= TICK_SECONDS
        bars[f"a tick <= {TICK_MB} MB"] = tick["mb"] <= TICK_MB
    figures = {
        "tick": tick,
        "minutes": taken,
        "must_page": must_page,
        "healthy": quiet,
        "tickets_of_100_series_weeks": round(tickets, 2),
        "peak_rss_mb": peak_rss_mb(),
    }
    finish("signals", figures, bars, seed=seed)


def _bars(
    taken: dict[str, dict[str, Found]],
    must_page: dict[str, Found],
    quiet: dict[str, dict[str, float]],
) -> dict[str, bool]:
    """The bars of every size."""
    on_all = [found for name, found in must_page.items() if name.endswith(f" on {MODE_ROUTES}")]
    return {
        "0 pages of a healthy service": all(mode["pages"] == 0 for mode in quiet.values()),
        "every fault on all routes pages": all(found["paged"] == 1 for found in on_all),
        f"every fault on all routes pages within {PAGE_MINUTES} minutes (median)": all(
            is_within(found, PAGE_MINUTES) for found in on_all
        ),
        f"pages clear within {CLEAR_MINUTES} minutes of the fix (median)": all(
            (found["cleared"] or np.inf) <= CLEAR_MINUTES for found in on_all
        ),
        "60 % on all routes: median <= 10 minutes": is_within(taken["broken"]["60% on 5"], 10),
        "100 % on one route: median <= 10 minutes": is_within(taken["broken"]["100% on 1"], 10),
        "60 % on one route: median <= 10 minutes": is_within(taken["broken"]["60% on 1"], 10),
        "40 % shift on all routes: median <= 60 minutes": is_within(taken["moved"]["40% on 5"], 60),
    }


def is_within(found: Found, minutes: int) -> bool:
    """Whether half of the changes were found by then."""
    median = found["median"]
    return median is not None and median <= minutes


if __name__ == "__main__":
    main()
