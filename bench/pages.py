"""Pages while spans arrive: seconds of the server, weight, and what it costs acknowledgements.

    .venv/bin/python bench/pages.py [--small] [--seconds 60]

A real daemon with a million scores and 500 issues in its store gets 200 spans a second. A reader
opens one page after the other; phases without a reader come before and after. Seconds are
those that a reader waits for the whole page. The weight of a page is what a browser that has
nothing yet reads for it: its HTML, the style sheet and the scripts, each compressed, without uPlot.
"""

from __future__ import annotations

import argparse
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
            counts = (READERS,) if options.small else (0, READERS, 0)
            every = list(paths.values())
            done = phases(daemon, counts, seconds, every, SPANS_A_SECOND, LOOKS_SECONDS)
            base = f"http://{daemon.web}/"
            weights = {name: weight_kb(base, path) for name, path in paths.items()}
            time.sleep(3)
            ledger = spans_of(daemon)
    read = next(phase for phase in done if phase.clients)
    seconds_of = {name: _p95(read.answers[path].seconds) for name, path in paths.items()}
    progress(f"p95 seconds: {seconds_of}")
    figures: dict[str, object] = {
        "p95_s": seconds_of, "kb": weights, "ledger": ledger,
        "ack_p99_ms": {f"phase {n}": round(p99(p.acknowledged), 1) for n, p in enumerate(done)},
    }  # fmt: skip
    # Each was also read whole for its weight, however few were opened in a short run.
    bars = {"every page answers": not read.others() and all(weights.values())}
    if not options.small:
        bars |= _speed(done, seconds_of, weights)
    finish("pages", figures, bars, seed=SEED)


def _p95(seconds: Sequence[float]) -> float:
    if len(seconds) < 2:
        return round(max(seconds, default=0.0), 3)
    return round(statistics.quantiles(seconds, n=20, method="inclusive")[18], 3)


def _speed(
    done: Sequence[Phase], seconds: Mapping[str, float], weights: Mapping[str, float]
) -> dict[str, bool]:
    idle = statistics.mean(p99(phase.acknowledged) for phase in done if not phase.clients)
    read = next(phase for phase in done if phase.clients)
    return {
        f"p95 of every page <= {P95_SECONDS} s": max(seconds.values()) <= P95_SECONDS,
        f"every page <= {WEIGHT_KB} kB": max(weights.values()) <= WEIGHT_KB,
        f"ack p99 worse by <= {WORSE_MS} ms": p99(read.acknowledged) - idle <= WORSE_MS,
    }


if __name__ == "__main__":
    main()
