"""Pages while spans arrive: seconds of the server, weight, and what it costs acknowledgements.

    .venv/bin/python bench/pages.py [--small] [--seconds 60]

A real daemon with a million scores and 500 issues in its store gets 200 spans a second. A reader
opens one page after the other. Phases with a reader and without take turns, so that what else the
machine does meets both; before them comes a phase that is not judged, in which the daemon counts
the day that was filled in, minute by minute. Seconds are those that a reader waits for the whole
page; the first view of each is printed by itself too. The weight of a page is what a browser that
has nothing yet reads for it: its HTML, the style sheet and the scripts, each compressed, without
uPlot.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import httpx2

from bench.api import Phase, p99, phases, with_history
from bench.ingest import spans_of
from bench.rig.report import finish, progress
from ragvigil.app.demo.child_daemon import ChildDaemon, running
from ragvigil.store.engine.store import Store
from ragvigil.store.settings import StoreSettings
from tests.issues import failure, issue, keep

SEED = 29
SPANS_A_SECOND = 200
READERS, LOOKS_SECONDS = 1, 0.5
"""Somebody who looks at each page for half a second: faster than anybody reads."""
ISSUES, MEMBERS = 500, 20
SETTLING_SECONDS = 150.0
ROUNDS = 3
"""Of a phase without a reader, and a phase with one."""
P95_SECONDS, WEIGHT_KB, WORSE_MS = 0.3, 60.0, 5.0
FILE = re.compile(rb'(?:href|src)="(/static/[^"]+)"')


def with_issues(folder: Path, count: int) -> None:
    """Adds issues with their failing answers to a store."""
    store = Store.open(StoreSettings(), folder)
    for number in range(count):
        route = f"/route/{number % 50}"
        first = number * MEMBERS
        members = [failure(first + place, ago=60 * place, route=route) for place in range(MEMBERS)]
        cause = issue(f"{number:016x}", name=f"cause {number}", members=MEMBERS, routes=(route,))
        keep(store, members, cause)
    store.close()


def pages(daemon: ChildDaemon) -> Mapping[str, str]:
    """The path of every page, by its name, without the first slash."""
    (record,) = daemon.get("records", limit=1)["records"]
    return {
        "now": "",
        "route": "routes?service=svc&environment=prod&route=/route/7",
        "issues": "issues",
        "issue": f"issues/{0:016x}",
        "answers": "answers",
        "answers of a rubric": "answers?rubric=rubric_1&below=0.5",
        "search": "answers?text=refund+invoice",
        "answer": f"answers/{record['record_id']}",
        "trace": f"traces/{record['trace_id']}",
        "topics": "topics",
        "golden": "golden",
        "label": "label",
        "health": "health",
    }


def weight_kb(base: str, path: str) -> float:
    """Compressed kB that a browser reads for a page."""
    with httpx2.Client(headers={"accept-encoding": "gzip"}, timeout=60) as session:
        html, size = _read(session, base + path)
        for file in {found.decode() for found in FILE.findall(html)}:
            size += 0 if "uplot" in file.lower() else _read(session, base + file[1:])[1]
    return round(size / 1000, 1)


def _read(session: httpx2.Client, url: str) -> tuple[bytes, int]:
    """A body, and how many bytes of it were sent."""
    with session.stream("GET", url) as reply:
        reply.raise_for_status()
        body = reply.read()
        return body, reply.num_bytes_downloaded


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    scores, issues, seconds = (
        (19_800, 20, 4.0) if options.small else (1_000_000, ISSUES, options.seconds)
    )
    with tempfile.TemporaryDirectory() as folder:
        # In a process of its own: its engine lets go of the directory, and of the memory.
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as filling:
            filling.submit(with_history, Path(folder), scores).result()
            filling.submit(with_issues, Path(folder), issues).result()
        with running(Path(folder)) as daemon:
            paths = pages(daemon)
            asked = (list(paths.values()), SPANS_A_SECOND, LOOKS_SECONDS)
            if not options.small:
                phases(daemon, (0,), SETTLING_SECONDS, *asked)
            counts = (READERS,) if options.small else (0, READERS) * ROUNDS
            done = phases(daemon, counts, seconds, *asked)
            base = f"http://{daemon.web}/"
            weights = {name: weight_kb(base, path) for name, path in paths.items()}
            time.sleep(3)
            ledger = spans_of(daemon)
    figures, bars = _judged(done, paths, weights, small=options.small)
    finish("pages", figures | {"ledger": ledger}, bars, seed=SEED)


def _judged(
    done: Sequence[Phase], paths: Mapping[str, str], weights: Mapping[str, float], *, small: bool
) -> tuple[dict[str, object], dict[str, bool]]:
    """What is printed, and which bars hold; of speed only where not `small`."""
    read = [phase for phase in done if phase.clients]
    opened = {
        name: [each for phase in read for each in phase.answers[path].seconds]
        for name, path in paths.items()
    }
    p95_s = {name: _p95(took) for name, took in opened.items()}
    acknowledged = _acknowledged(done)
    figures: dict[str, object] = {
        "p50_s": {
            name: round(statistics.median(took or [0.0]), 3) for name, took in opened.items()
        },
        "p95_s": p95_s,
        "first_s": {name: round(took[0], 3) for name, took in opened.items() if took},
        "opened": {name: len(took) for name, took in opened.items()},
        "kb": weights,
        "ack_p99_ms": acknowledged,
        "load": round(os.getloadavg()[1], 1),
    }
    progress(f"{figures}")
    # Each was also read whole for its weight, however few were opened in a short run.
    is_read = not any(phase.others() for phase in read) and all(weights.values())
    bars = {"every page answers": is_read}
    return figures, bars if small else bars | _speed(acknowledged, p95_s, weights)


def _p95(seconds: Sequence[float]) -> float:
    if len(seconds) < 2:
        return round(max(seconds, default=0.0), 3)
    return round(statistics.quantiles(seconds, n=20, method="inclusive")[18], 3)


def _acknowledged(done: Sequence[Phase]) -> dict[str, float]:
    """The p99 of all acknowledgements with a reader, and without."""
    with_reader = [ms for phase in done if phase.clients for ms in phase.acknowledged]
    without = [ms for phase in done if not phase.clients for ms in phase.acknowledged]
    figures = {"reader": with_reader, "no reader": without}
    return {name: round(p99(latencies), 1) for name, latencies in figures.items() if latencies}


def _speed(
    acknowledged: Mapping[str, float], seconds: Mapping[str, float], weights: Mapping[str, float]
) -> dict[str, bool]:
    worse = acknowledged["reader"] - acknowledged["no reader"]
    return {
        f"p95 of every page <= {P95_SECONDS} s": max(seconds.values()) <= P95_SECONDS,
        f"every page <= {WEIGHT_KB} kB": max(weights.values()) <= WEIGHT_KB,
        f"ack p99 worse by <= {WORSE_MS} ms": worse <= WORSE_MS,
    }


if __name__ == "__main__":
    main()
