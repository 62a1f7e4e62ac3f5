"""The API under load: 8, then 50 clients on the heavy routes while 250 spans a second arrive.

    .venv/bin/python bench/api.py [--small]

A real daemon has a day of scores of 300 series in its store. Spans come from a process of their own
at an even rate, and so do the clients' requests: each client asks for one route after the other, in
an order of its own, a tenth of a second after each answer. Phases without clients come before and
after those with clients, as a machine's speed changes by the minute: acknowledgements are compared
with the mean of both. Clients give up after 25 s. An answer 503 is right where it says when to try
again; the client then waits that long.
"""

from __future__ import annotations

import asyncio
import itertools
import multiprocessing
import random
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from bench.ingest import p99, send, spans_of
from bench.rig import otlp_requests
from bench.rig.options import size_parser
from bench.rig.processes import core_pid, memory_mb
from bench.rig.report import finish, progress
from bench.store import DAY, fill
from ragvigil.app.demo.child_daemon import ChildDaemon, running
from ragvigil.store.engine.store import Store
from ragvigil.store.scores import rollups
from ragvigil.store.settings import StoreSettings

SEED = 23
SPANS_A_SECOND = 250
CLIENTS = (8, 50)
TRACES_A_REQUEST = 2
PATIENCE_SECONDS, PAUSE_SECONDS = 25.0, 0.1
ROUTES = (
    "api/v1/why",
    "api/v1/why?route=/ask",
    "api/v1/issues",
    "api/v1/doctor",
    "api/v1/deltas",
    "api/v1/deltas?window=24h",
    "api/v1/deltas?route=/route/7",
    "api/v1/incidents",
    "api/v1/records",
    "api/v1/records?below=0.5",
    "api/v1/traffic",
    "api/v1/operating-points",
    "api/v1/topics",
    "api/v1/status",
    "api/v1/ledger",
)
P99_SECONDS, WORSE_MS = 2.0, 5.0
TIMEOUT = "timeout"


@dataclass(slots=True)
class Answers:
    """What clients got of one route: seconds of answers 200, and all others by their kind."""

    seconds: list[float] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)


def ask(
    web: str, clients: int, seconds: float, routes: Sequence[str], pause_seconds: float
) -> dict[str, Answers]:
    """What so many clients get, by route."""
    return asyncio.run(_ask(web, clients, seconds, routes, pause_seconds))


async def _ask(
    web: str, clients: int, seconds: float, routes: Sequence[str], pause_seconds: float
) -> dict[str, Answers]:
    found = {route: Answers() for route in routes}
    ends = time.monotonic() + seconds

    async def client(number: int) -> None:
        order = random.Random(SEED + number).sample(routes, len(routes))
        async with httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as session:
            for route in itertools.cycle(order):
                # On the slowest machine, too, until there is an answer to judge.
                if time.monotonic() > ends and any(got.seconds for got in found.values()):
                    break
                wait = await open_one(session, f"http://{web}/", route, found)
                await asyncio.sleep(max(wait, pause_seconds))

    await asyncio.gather(*(client(number) for number in range(clients)))
    return found


async def open_one(
    session: httpx2.AsyncClient, base: str, route: str, found: dict[str, Answers]
) -> float:
    """Asks once; returns for how many seconds the client is to stay away, 0 for none."""
    answers, asked = found[route], time.monotonic()
    try:
        reply = await session.get(base + route)
    except httpx2.TimeoutException:
        answers.others[TIMEOUT] += 1
        return 0.0
    except httpx2.HTTPError as error:
        answers.others[type(error).__name__] += 1
        return 0.0
    if reply.status_code == 200:
        answers.seconds.append(time.monotonic() - asked)
        return 0.0
    wait = reply.headers.get("retry-after", "")
    is_honest = reply.status_code == 503 and wait.isdigit()
    answers.others["503" if is_honest else f"bare {reply.status_code}"] += 1
    return float(wait) if is_honest else 0.0


def arrive(grpc: str, seconds: float, seed: int, spans_a_second: int) -> list[float]:
    """Sends so many spans a second; returns the latencies of acknowledgement, ms."""
    per_second = spans_a_second / otlp_requests.SPANS_A_TRACE
    traces = round(seconds * per_second)
    requests = otlp_requests.make(traces, seed=seed, per_request=TRACES_A_REQUEST)
    rate = per_second / TRACES_A_REQUEST
    return asyncio.run(send(grpc, requests, concurrency=16, rate=rate)).latencies


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """What so many clients got, and the latencies of acknowledgement meanwhile, ms."""

    clients: int
    answers: dict[str, Answers]
    acknowledged: list[float]

    def figures(self) -> dict[str, object]:
        """Percentiles of all routes and of each, and the share of answers that are no answers."""
        seconds = [each for answers in self.answers.values() for each in answers.seconds]
        others = sum((answers.others for answers in self.answers.values()), Counter[str]())
        asked = len(seconds) + others.total()
        return {
            "answers": len(seconds),
            "p50_s": _rounded(seconds, 50),
            "p99_s": _rounded(seconds, 99),
            "share_503": round(others["503"] / max(1, asked), 4),
            "others": dict(others),
            "ack_p99_ms": round(p99(self.acknowledged), 1),
            "routes": {
                f"/{route}": [
                    len(got.seconds), _rounded(got.seconds, 50), _rounded(got.seconds, 99),
                    dict(got.others),
                ]
                for route, got in self.answers.items()
            },
        }  # fmt: skip

    def others(self) -> set[str]:
        """The kinds of what clients got instead of an answer."""
        return {kind for answers in self.answers.values() for kind in answers.others}


def _rounded(seconds: Sequence[float], percent: int) -> float | None:
    if len(seconds) < 2:
        return seconds[0] if seconds else None
    return round(statistics.quantiles(seconds, n=100, method="inclusive")[percent - 1], 3)


def phases(
    daemon: ChildDaemon,
    counts: Sequence[int],
    seconds: float,
    routes: Sequence[str] = ROUTES,
    spans_a_second: int = SPANS_A_SECOND,
    pause_seconds: float = PAUSE_SECONDS,
    clients_of: Callable[..., dict[str, Answers]] = ask,
    first_seed: int = SEED,
) -> list[Phase]:
    """One phase after the other, each with so many clients, 0 is none, who ask by `clients_of`.

    Each has a seed of its own, from `first_seed` on: two of one seed would send the same traces.
    """
    done = []
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context) as elsewhere:
        for number, clients in enumerate(counts):
            seed = first_seed + number
            traffic = elsewhere.submit(arrive, daemon.grpc, seconds, seed, spans_a_second)
            asked = (daemon.web, clients, seconds, routes, pause_seconds)
            answers = elsewhere.submit(clients_of, *asked).result()
            phase = Phase(clients=clients, answers=answers, acknowledged=traffic.result())
            done.append(phase)
            progress(f"{clients} clients: {phase.figures()}")
    return done


def with_history(folder: Path, scores: int) -> None:
    """Fills the store of a daemon's folder with a day of scores."""
    start = int(time.time()) // 3600 * 3600 - DAY
    store = Store.open(StoreSettings(), folder)
    fill(store, scores, start)
    rollups.rebuild(store)
    store.close()


def main() -> None:
    parser = size_parser(__doc__)
    parser.add_argument("--seconds", type=float, default=40.0)
    options = parser.parse_args()
    scores, seconds = (19_800, 4.0) if options.small else (1_200_000, options.seconds)
    counts = (8,) if options.small else (0, *CLIENTS, 0)
    with tempfile.TemporaryDirectory() as folder:
        # In a process of its own: its engine lets go of the directory, and of the memory.
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as filling:
            filling.submit(with_history, Path(folder), scores).result()
        with running(Path(folder)) as daemon:
            done = phases(daemon, counts, seconds)
            time.sleep(3)
            ledger, core_mb = spans_of(daemon), memory_mb(core_pid(daemon), "VmHWM")
    figures: dict[str, object] = {"core_peak_mb": core_mb, "ledger": ledger}
    figures["phases"] = [{"clients": phase.clients} | phase.figures() for phase in done]
    bars = {
        "the books balance": ledger["acknowledged"]
        == sum(count for kind, count in ledger.items() if kind != "acknowledged"),
        "every reply is an answer or an honest 503": all(
            phase.others() <= {"503", TIMEOUT} for phase in done
        ),
    }
    finish("api", figures, bars if options.small else bars | _speed(done), seed=SEED)


def _speed(done: Sequence[Phase]) -> dict[str, bool]:
    """The bars of answers and of acknowledgements, by the number of clients."""
    idle = statistics.mean(p99(phase.acknowledged) for phase in done if not phase.clients)
    bars = {}
    for phase in done:
        if phase.clients:
            slowest = phase.figures()["p99_s"]
            assert isinstance(slowest, float)
            worse = p99(phase.acknowledged) - idle
            bars[f"{phase.clients} clients: nobody gives up"] = TIMEOUT not in phase.others()
            bars[f"{phase.clients} clients: p99 <= {P99_SECONDS} s"] = slowest <= P99_SECONDS
            bars[f"{phase.clients} clients: ack p99 worse by <= {WORSE_MS} ms"] = worse <= WORSE_MS
    return bars


if __name__ == "__main__":
    main()
