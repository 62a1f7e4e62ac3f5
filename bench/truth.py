"""The watch on a service that nobody tuned it to: each fault noticed, paged, of the right layer?

    .venv/bin/python bench/truth.py [--small] [--seed N] [--only FAULT ...] [--onsets N]
                                    [--scope all one] [--pairs N] [--calm DAYS] [--folder DIR]

Four routes of texts from labelled sets, retrieved, reranked and answered by a service of our own
(truth_service.py), whose 22 faults (truth_faults.py) each begin on a copy of a store with healthy
traffic. Records are scored by the real scorers, written as the daemon writes them, and watched by
the real watch on a virtual clock, a turn a minute; a judge answers from labels with 10 % noise.

Results are kept in `--folder`, and a rerun goes on from them: give a new folder after a change of
the code. `--small` needs neither data nor model.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median

import structlog

from bench.rig.report import finish, progress
from bench.rig.truth_clock import fill
from bench.rig.truth_faults import BY_NAME, FAULTS, Fault
from bench.rig.truth_pool import Pool
from bench.rig.truth_runs import ALL, UNDETERMINED, Plan, Seen, rehearse
from bench.rig.truth_texts import load_texts
from bench.rig.truth_traffic import DAY, HOUR
from bench.rig.truth_vectors import Vectors

ONSETS = (14.0, 10.5, 20.0, 3.5, 7.0)
"""Hours of the day at which faults begin."""
HISTORY_HOURS = 26.0
EACH, SMALL_EACH = 60, 14
SMALL_FAULTS = ("truncation", "route_times_three")
QUALITY = ("retrieval", "corpus", "generation")
NOTICED, RIGHT, WRONG, OPEN, PAGE_MINUTES = 0.95, 0.93, 0.05, 0.30, 30.0
ALL_TRAFFIC_MINUTES, AUDITED_MINUTES = 25.0, 60.0


def runs(
    pool: Pool,
    folder: Path,
    faults: Sequence[Fault],
    *,
    onsets: int,
    scopes: Sequence[str],
    plan: Plan,
    seed: int,
) -> Iterator[Seen]:
    """Every run, from the results file where it is there already."""
    results = folder / "runs.jsonl"
    known = {_key(seen): seen for seen in _stored(results)}
    routes = list(pool.texts.corpora)
    for place in range(onsets):
        for number, fault in enumerate(faults):
            for scope in scopes:
                route = routes[(number + place) % len(routes)] if scope == "one" else ""
                key = (fault.name, place, route or ALL)
                if key not in known:
                    started = time.monotonic()
                    filled, ended = _filled(pool, folder, place, seed)
                    seen = rehearse(
                        pool,
                        filled,
                        fault,
                        ended=ended,
                        onset=place,
                        route=route,
                        plan=plan,
                        seed=seed + 1000 * place + 10 * number,
                    )
                    known[key] = seen
                    with results.open("a", encoding="utf-8") as lines:
                        lines.write(json.dumps(asdict(seen)) + "\n")
                    progress(f"{time.monotonic() - started:.0f} s: {line(seen)}")
                yield known[key]


def line(seen: Seen) -> str:
    """A run in one line."""
    return (
        f"{seen.fault} [{seen.onset}] {seen.scope}: ticket {seen.ticket_minutes} "
        f"page {seen.page_minutes} layers {seen.layers} (true {seen.truth}) "
        f"incidents {seen.incidents} pages {seen.pages} later {seen.later} before {seen.before} "
        f"cleared {seen.cleared_minutes} notices {seen.notices} {seen.signals} | {seen.headline}"
    )


def _stored(results: Path) -> list[Seen]:
    if not results.exists():
        return []
    rows = map(json.loads, results.read_text("utf-8").splitlines())
    return [
        Seen(
            **{
                name: tuple(value) if isinstance(value, list) else value
                for name, value in row.items()
            }
        )
        for row in rows
    ]


def _key(seen: Seen) -> tuple[str, int, str]:
    return seen.fault, seen.onset, seen.scope


def _filled(pool: Pool, folder: Path, place: int, seed: int) -> tuple[Path, float]:
    """The folder of a store with healthy traffic, and when that ends (seconds)."""
    filled = folder / f"healthy-{place}"
    ended_file = filled.with_suffix(".json")
    if not ended_file.exists():
        # Yesterday's hour: what is younger than its retention and older than now.
        ended = (time.time() // DAY - 1) * DAY + ONSETS[place] * HOUR
        progress(f"filling a store with {HISTORY_HOURS:g} hours of healthy traffic")
        pool.prepare("")
        fill(pool, filled, start=ended - HISTORY_HOURS * HOUR, end=ended, seed=seed + place)
        ended_file.write_text(json.dumps(ended), encoding="utf-8")
    return filled, float(json.loads(ended_file.read_text("utf-8")))


def confusion(found: Sequence[Seen]) -> dict[str, dict[str, int]]:
    """What was said, by what is true."""
    table: dict[str, Counter[str]] = {}
    for seen in found:
        table.setdefault(seen.truth, Counter())[seen.layer or "nothing"] += 1
    return {truth: dict(counts) for truth, counts in table.items()}


def judged(found: Sequence[Seen]) -> tuple[dict[str, object], dict[str, bool]]:
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


def small(seed: int) -> tuple[dict[str, object], dict[str, bool]]:
    """Two faults on few texts: one that must page, and one that is none."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        texts = load_texts(each=SMALL_EACH, small=True)
        pool = Pool(texts, Vectors(None, is_real=False))
        ended = (time.time() // DAY - 1) * DAY + ONSETS[0] * HOUR
        fill(pool, folder / "healthy", start=ended - 3 * HOUR, end=ended, seed=seed)
        loud, quiet = (
            rehearse(
                pool,
                folder / "healthy",
                BY_NAME[fault],
                ended=ended,
                onset=0,
                seed=seed,
                plan=Plan(fault_minutes=20, after_minutes=0),
            )
            for fault in SMALL_FAULTS
        )
    bars = {
        "truncation pages once": loud.pages == 1,
        "truncation is of generation": loud.layer == "generation",
        "more requests of a route page nobody": not quiet.pages,
    }
    return {"runs": [asdict(loud), asdict(quiet)]}, bars


def main() -> None:
    """Runs it and prints the JSON line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--seed", type=int, default=29)
    parser.add_argument("--only", nargs="+", choices=list(BY_NAME), default=list(BY_NAME))
    parser.add_argument("--onsets", type=int, default=len(ONSETS), choices=range(1, 6))
    parser.add_argument("--scope", nargs="+", choices=("all", "one"), default=("all", "one"))
    parser.add_argument("--each", type=int, default=EACH, help="questions of a route")
    parser.add_argument("--fault-minutes", type=int, default=90)
    parser.add_argument("--turn-minutes", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "truth")
    options = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(40))
    if options.small:
        figures, bars = small(options.seed)
    else:
        options.folder.mkdir(parents=True, exist_ok=True)
        vectors = Vectors(options.folder / "vectors.npz", is_real=True)
        pool = Pool(load_texts(each=options.each), vectors)
        vectors.save()
        wanted = [fault for fault in FAULTS if fault.name in options.only]
        found = list(
            runs(
                pool,
                options.folder,
                wanted,
                onsets=options.onsets,
                scopes=options.scope,
                plan=Plan(
                    fault_minutes=options.fault_minutes,
                    turn_minutes=options.turn_minutes,
                ),
                seed=options.seed,
            )
        )
        vectors.save()
        figures, bars = judged(found)
    finish("truth", figures, bars, seed=options.seed)


if __name__ == "__main__":
    main()
