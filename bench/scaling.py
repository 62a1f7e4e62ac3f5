"""One, two and four edges over one store, and what happens when their analyst is lost.

    .venv/bin/python bench/scaling.py [--small]

The same answers are sent to 1, 2 and 4 edges, divided by trace id, with one analyst beside them:
CPU a span of the edges, answers scored twice, and whether scores, roll-ups and counts equal those
of one edge. What the edges load for their first answers is a figure of its own. Then the analyst
is killed, and then stopped (SIGSTOP) and continued, with another standing by: seconds until that
one leads, looks at which two led, and rows of the former leader.
The store is the embedded engine behind ClickHouse's HTTP interface: no server, no Keeper.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import signal
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from bench.rig import otlp_requests
from bench.rig.fleet import Fleet, cpu_seconds, divided, fleet, memory_mb, pids, wait_until
from bench.rig.report import finish, progress
from ragvigil.app.demo.child_daemon import ChildDaemon
from ragvigil.store.fleet.fence import OF_LEADER

SEED = 21
TRACES_A_REQUEST = 25
WARM = 80
"""Answers that are sent first, and count in the results but not in the CPU a span."""
TAKEOVER_SECONDS, CPU_MORE = 60.0, 0.10
RESULTS = {
    "scores": "SELECT trace_id, record_id, rubric, value, label FROM scores FINAL",
    "roll_ups": "SELECT minute, route, rubric, segment, n, round(total, 6), failed, absent, "
    "not_applicable FROM rollups FINAL WHERE n + absent + not_applicable > 0",
    "signals": "SELECT minute, route, signal, round(sum(n), 6), round(sum(total), 6) FROM "
    "signal_minutes FINAL ARRAY JOIN sums.signal AS signal, sums.n AS n, sums.total AS total "
    "GROUP BY minute, route, signal",
    "fingerprints": "SELECT minute, route, kind, value, sum(requests) FROM fingerprint_minutes "
    "FINAL ARRAY JOIN counts.kind AS kind, counts.value AS value, counts.requests AS requests "
    "GROUP BY minute, route, kind, value",
}
"""What must not depend on the number of edges."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--traces", type=int, help="answers to send")
    parser.add_argument("--rate", type=float, default=25, help="answers a second, over all edges")
    parser.add_argument("--edges", help="numbers of edges: 1,2,4")
    parser.add_argument("--lose", help="ways to lose the analyst: killed,stopped; none is empty")
    options = parser.parse_args()
    traces = options.traces or (200 if options.small else 6_000)
    edges = options.edges or ("1,2" if options.small else "1,2,4")
    lose = options.lose if options.lose is not None else ("" if options.small else "killed,stopped")
    # Fingerprints are counted every five minutes.
    results = {
        name: sql for name, sql in RESULTS.items() if name != "fingerprints" or not options.small
    }
    requests = otlp_requests.make(traces, seed=SEED, per_request=1)
    rate = options.rate
    runs = {int(each): scaled(requests, int(each), results, rate) for each in edges.split(",")}
    lost = {how: taken_over(how) for how in filter(None, lose.split(","))}
    figures: dict[str, object] = {
        "spans": traces * otlp_requests.SPANS_A_TRACE,
        "answers_a_second": rate,
        "edges": {str(number): run["figures"] for number, run in runs.items()},
        "analyst": lost,
    }
    bars = {
        **bars_of_edges(runs, results, traces, times=not options.small),
        **bars_of_analysts(lost),
    }
    finish("scaling", figures, bars, seed=SEED)


def bars_of_edges(
    runs: Mapping[int, Mapping[str, Any]], results: Collection[str], traces: int, *, times: bool
) -> dict[str, bool]:
    """What holds however many edges there are, beside the first run."""
    bars: dict[str, bool] = {}
    first, *_ = runs.values()
    for number, run in runs.items():
        there = run["twice"] == 0 and run["records"] == traces
        bars[f"{number} edges: nothing scored twice, nothing missing"] = there
        for name in results:
            bars[f"{number} edges: {name} equal to the first run's"] = run[name] == first[name] != 0
        if times and run is not first:
            ratio = run["figures"]["cpu_us_a_span"] / first["figures"]["cpu_us_a_span"]
            bars[f"{number} edges: CPU a span <= {1 + CPU_MORE:g} of one's"] = ratio <= 1 + CPU_MORE
    return bars


def bars_of_analysts(lost: Mapping[str, Mapping[str, Any]]) -> dict[str, bool]:
    """What holds however the analyst was lost."""
    bars: dict[str, bool] = {}
    for name, found in lost.items():
        bars[f"{name}: takeover <= {TAKEOVER_SECONDS:g} s"] = found["seconds"] <= TAKEOVER_SECONDS
        bars[f"{name}: never two lead"] = found["two_led"] == 0
        bars[f"{name}: 0 rows of the former leader"] = found["rows_of_former"] == 0
    return bars


def scaled(
    requests: list[bytes], edges: int, results: Mapping[str, str], rate: float
) -> dict[str, Any]:
    """Sends all requests to so many edges; figures, and digests of the results.

    `rate` is one at which no edge is behind: one that is leaves scores out, and says so.
    """
    with tempfile.TemporaryDirectory() as folder, fleet(Path(folder), edges, 1) as made:
        daemons = [made.daemons[f"edge-{number}"] for number in range(edges)]
        count = "SELECT count() FROM records FINAL"
        # The first answers load tables of words and languages, once a process whatever comes after.
        loading = sum(map(cpu_seconds, daemons))
        asyncio.run(send_each(daemons, divided(requests[:WARM], edges, TRACES_A_REQUEST), rate))
        wait_until(lambda: int(made.one(count)) >= WARM, 600, "the first answers are not stored")
        before = sum(map(cpu_seconds, daemons))
        started = time.perf_counter()
        asyncio.run(send_each(daemons, divided(requests[WARM:], edges, TRACES_A_REQUEST), rate))
        wait_until(lambda: int(made.one(count)) >= len(requests), 600, "not all answers are stored")
        seconds = time.perf_counter() - started
        used = sum(map(cpu_seconds, daemons)) - before
        spans = (len(requests) - WARM) * otlp_requests.SPANS_A_TRACE
        progress(f"{edges} edges: stored after {seconds:.1f} s")
        settled(made, len(requests), results)
        return {
            "figures": {
                "cpu_us_a_span": round(used / spans * 1e6, 1),
                "cpu_seconds_of_the_first": round(before - loading, 2),
                "seconds": round(seconds, 1),
                "edge_mb": [memory_mb(daemon) for daemon in daemons],
            },
            "records": int(made.one(count)),
            "twice": twice(made),
            **{name: digest(made, sql) for name, sql in results.items()},
        }


async def send_each(daemons: list[ChildDaemon], bodies: list[list[bytes]], rate: float) -> None:
    """Sends to all edges at the same time, so many answers a second to all together."""
    import grpc.aio

    started = time.perf_counter()
    pause = TRACES_A_REQUEST * len(daemons) / rate

    async def one(daemon: ChildDaemon, mine: list[bytes]) -> None:
        async with grpc.aio.insecure_channel(daemon.grpc) as channel:
            export = channel.unary_unary(otlp_requests.EXPORT)
            for number, body in enumerate(mine):
                await asyncio.sleep(max(0.0, started + number * pause - time.perf_counter()))
                await export(body, timeout=120)

    await asyncio.gather(*(one(*each) for each in zip(daemons, bodies, strict=True)))


def settled(made: Fleet, answers: int, results: Collection[str]) -> None:
    """Waits until the analyst has counted every answer."""
    rolled = "SELECT sum(n + absent + not_applicable) FROM rollups FINAL WHERE rubric = 'refusal'"
    signals = (
        "SELECT sum(n) FROM signal_minutes FINAL ARRAY JOIN sums.signal AS signal, sums.n AS n "
        "WHERE signal = 'error'"
    )
    prints = (
        "SELECT sum(r) FROM fingerprint_minutes FINAL ARRAY JOIN counts.kind AS k, "
        "counts.requests AS r WHERE k = 'retrieved'"
    )
    for name, sql in (("roll_ups", rolled), ("signals", signals), ("fingerprints", prints)):
        if name not in results:
            continue
        wait_until(
            lambda sql=sql: float(made.one(sql) or 0) >= answers, 900, f"{name} are not complete"
        )
        progress(f"{name} are complete")


def twice(made: Fleet) -> int:
    """Scores that more than one daemon wrote."""
    return int(
        made.one(
            "SELECT count() FROM (SELECT uniq(replica) AS writers FROM scores "
            "GROUP BY trace_id, record_id, rubric, scorer, segment, stream HAVING writers > 1)"
        )
    )


def digest(made: Fleet, sql: str) -> int:
    """A number that equal rows share, in any order; 0 without rows."""
    return int(made.one(f"SELECT sum(cityHash64(*)) % 9007199254740992 FROM ({sql})"))


def taken_over(how: str) -> dict[str, Any]:
    """Loses the leading analyst of an idle fleet, with another standing by."""
    with tempfile.TemporaryDirectory() as folder, fleet(Path(folder), 1, 2) as made:
        first, second = made.daemons["analyst-0"], made.daemons["analyst-1"]
        wait_until(lambda: b"stands by" in _readiness(second), 120, "the second does not stand by")
        signal_ = signal.SIGKILL if how == "killed" else signal.SIGSTOP
        lost = pids(first)
        for pid in lost:
            os.kill(pid, signal_)
        started = time.monotonic()
        wait_until(second.is_ready, 300, "the second does not lead")
        seconds = time.monotonic() - started
        progress(f"{how}: the second leads after {seconds:.1f} s")
        since = made.one("SELECT toUnixTimestamp64Nano(now64(9))")
        two_led = 0
        if how == "stopped":
            for pid in lost:
                os.kill(pid, signal.SIGCONT)
            ends = time.monotonic() + 30
            while time.monotonic() < ends:
                two_led += _leads(first) and _leads(second)
                time.sleep(0.5)
        return {
            "seconds": round(seconds, 1),
            "two_led": two_led,
            "rows_of_former": sum(rows_since(made, table, int(since)) for table in OF_LEADER),
            "epochs": int(made.one("SELECT max(epoch) FROM leases")),
        }


def rows_since(made: Fleet, table: str, since: int) -> int:
    """Rows of a table of the leader that the former one wrote since a time, Unix nanoseconds."""
    columns = {row["name"] for row in made.ask(f"DESCRIBE TABLE {table}")}
    stamp = next((name for name in ("written", "received", "tick") if name in columns), None)
    place = f"AND toUnixTimestamp({stamp}) >= {since // 10**9}" if stamp else ""
    return int(made.one(f"SELECT count() FROM {table} WHERE replica = 'analyst-0' {place}"))


def _readiness(daemon: ChildDaemon) -> bytes:
    try:
        with urllib.request.urlopen(f"http://{daemon.metrics}/readyz", timeout=5) as reply:
            return bytes(reply.read())
    except urllib.error.HTTPError as error:
        return bytes(error.read())
    except OSError:
        return b""


def _leads(daemon: ChildDaemon) -> bool:
    try:
        with urllib.request.urlopen(f"http://{daemon.metrics}/metrics", timeout=5) as reply:
            return bool(re.search(rb"^ragvigil_leads 1", reply.read(), re.MULTILINE))
    except OSError:
        return False


if __name__ == "__main__":
    main()
