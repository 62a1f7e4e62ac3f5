"""Pages while spans arrive: seconds of the server, weight, and what it costs acknowledgements.

    .venv/bin/python bench/pages.py [--small] [--seconds 60] [--rounds 3] [--folder FOLDER]

A real daemon with a million scores and 500 issues in its store gets 200 spans a second. A reader
opens a page every second, one after the other: a faster server does not get more to do. (Until
November 2026 the reader opened the next page half a second after the last one had come.) Phases
with a reader and without take turns, so that what else the machine does meets both; before them
comes a phase that is not judged, in which the daemon counts the day that was filled in, minute by
minute. Seconds are those that a reader waits for the whole page; the first view of each is printed
by itself too. Of acknowledgements the percentile is printed for all phases with a reader and all
without, and for each of them: how much those without a reader differ says what the difference
between both is worth. The weight of a page is what a browser that has nothing yet reads for it: its
HTML, the style sheet and the scripts, each compressed, without uPlot.

`--folder` keeps the store, filled and counted, and runs on a copy of it, for as long as its day is
at most two hours old. `--fill` only fills it.
"""

from __future__ import annotations

import asyncio
import os
import random
import re
import shutil
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import httpx2

from bench.api import PATIENCE_SECONDS, Answers, Phase, open_one, p99, phases, with_history
from bench.ingest import spans_of
from bench.rig.options import size_parser
from bench.rig.report import finish, progress
from ragvigil.app.demo.child_daemon import ChildDaemon, running
from ragvigil.store.engine.store import Store
from ragvigil.store.settings import StoreSettings
from tests.issues import failure, issue, keep

SEED = 29
SPANS_A_SECOND = 200
READERS, EVERY_SECONDS = 1, 1.0
"""Somebody who looks at each page for a second: faster than anybody reads."""
ISSUES, MEMBERS = 500, 20
SETTLING_SECONDS = 150.0
LEAST_WAIT_SECONDS = 5.0
"""Between two looks at whether it has settled: on a busy machine that takes longer."""
WARM_SECONDS = 10.0
"""Of spans without a reader, after a start on a store whose day is counted."""
MOST_AGE_SECONDS = 7200.0
ROUNDS = 3
"""Of a phase without a reader, and a phase with one."""
P95_SECONDS, WEIGHT_KB, WORSE_MS = 0.3, 60.0, 5.0
FILE = re.compile(rb'(?:href|src)="(/static/[^"]+)"')


def filled(folder: Path, scores: int, issues: int, settling_seconds: float) -> Path:
    """The folder of a daemon with so many scores and issues, whose day is counted."""
    done, data = folder / "filled", folder / "data"
    if done.exists() and time.time() - done.stat().st_mtime < MOST_AGE_SECONDS:
        return data
    for old in (done, data):
        shutil.rmtree(old) if old.is_dir() else old.unlink(missing_ok=True)
    # In a process of its own: its engine lets go of the directory, and of the memory.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as filling:
        filling.submit(with_history, data, scores).result()
        filling.submit(with_issues, data, issues).result()
    if settling_seconds:
        with running(data) as daemon:
            phases(daemon, (0,), settling_seconds, [], SPANS_A_SECOND)
            while not _is_settled(daemon):
                time.sleep(LEAST_WAIT_SECONDS)
    done.touch()
    return data


def _is_settled(daemon: ChildDaemon) -> bool:
    """Whether the comparisons of the day are written, and no span waits."""
    compared = daemon.get("deltas", window="24h", limit=1)["deltas"]
    return bool(compared) and not spans_of(daemon)["in_spool"]


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


def read_on(
    web: str, readers: int, seconds: float, paths: Sequence[str], every_seconds: float
) -> dict[str, Answers]:
    """What readers get who open a page every so many seconds, or at once where they are late."""
    return asyncio.run(_read_on(web, readers, seconds, paths, every_seconds))


async def _read_on(
    web: str, readers: int, seconds: float, paths: Sequence[str], every_seconds: float
) -> dict[str, Answers]:
    found = {path: Answers() for path in paths}
    begun = time.monotonic()

    async def reader(number: int) -> None:
        rng, looks = random.Random(SEED + number), round(seconds / every_seconds)
        order = [path for _ in range(looks) for path in rng.sample(paths, len(paths))]
        async with httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as session:
            for place, path in enumerate(order[:looks]):
                await asyncio.sleep(max(0.0, begun + place * every_seconds - time.monotonic()))
                await open_one(session, f"http://{web}/", path, found)

    await asyncio.gather(*map(reader, range(readers)))
    return found


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
    parser = size_parser(__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--fill", action="store_true")
    options = parser.parse_args()
    scores, issues, settling = (
        (19_800, 20, 0.0) if options.small else (1_000_000, ISSUES, SETTLING_SECONDS)
    )
    with tempfile.TemporaryDirectory() as scratch:
        kept = filled(options.folder or Path(scratch), scores, issues, settling)
        if options.fill:
            return
        data = kept if options.folder is None else Path(scratch) / "copy"
        if data != kept:
            shutil.copytree(kept, data, symlinks=True)
        with running(data) as daemon:
            rounds = 0 if options.small else options.rounds
            figures, bars = _measured(daemon, options.seconds, rounds)
    finish("pages", figures, bars, seed=SEED)


def _measured(
    daemon: ChildDaemon, seconds: float, rounds: int
) -> tuple[dict[str, object], dict[str, bool]]:
    """What is printed, and which bars hold; no rounds is the small size."""
    paths = pages(daemon)
    asked = (list(paths.values()), SPANS_A_SECOND, EVERY_SECONDS, read_on)
    if rounds:
        phases(daemon, (0,), WARM_SECONDS, *asked, SEED)
        done = phases(daemon, (0, READERS) * rounds, seconds, *asked, SEED + 1)
    else:
        done = phases(daemon, (READERS,), float(len(paths)), *asked)
    base = f"http://{daemon.web}/"
    weights = {name: weight_kb(base, path) for name, path in paths.items()}
    time.sleep(3)
    figures, bars = _judged(done, paths, weights, small=not rounds)
    return figures | {"ledger": spans_of(daemon)}, bars


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
        "ack_p99_ms_by_phase": _by_phase(done),
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


def _by_phase(done: Sequence[Phase]) -> dict[str, list[float]]:
    """The p99 of each phase, in turn: how much they differ where nothing else does."""
    return {
        name: [round(p99(phase.acknowledged), 1) for phase in done if bool(phase.clients) == reads]
        for name, reads in (("reader", True), ("no reader", False))
    }


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
