"""One, two and four edges over one store, and what happens when their analyst is lost.

    .venv/bin/python bench/scaling.py [--small]

*Growing*: each further edge brings its own load, as when traffic grows: so many answers a second
for each of 1, 2 and 4 edges, with one analyst beside them. CPU a span of the edges, and how much of
it they would use at rest.
*Divided*: the same answers are sent to 1, 2 and 4 edges: whether scores, roll-ups and counts equal
those of one edge, and answers scored twice. CPU a span is a second figure: it grows with the edges,
because each costs what a daemon costs at rest, prepares every chunk for itself and writes batches
of its own, however little it gets.
Traces are divided by their id. What edges load for their first answers is a figure of its own. Then
the analyst is killed, and then stopped (SIGSTOP) and continued, with another standing by: seconds
until that one leads, looks at which two led, and rows of the former leader.
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
from bench.rig.options import size_parser
from bench.rig.report import finish, progress
from ragvigil.app.demo.child_daemon import ChildDaemon
from ragvigil.store.fleet.fence import OF_LEADER

SEED = 21
TRACES_A_REQUEST = 25
WARM, WARM_EACH = 80, 160
"""Answers that are sent first, in all and to each edge, and count in the results but not in the CPU
a span: 160 answers show 96 % of the corpus of 400 chunks."""
REST_SECONDS = 20.0
TAKEOVER_SECONDS, CPU_MORE = 60.0, 0.10
RECORDS = "SELECT count() FROM records FINAL"
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


def parsed() -> argparse.Namespace:
    """The options of the command line."""
    parser = size_parser(__doc__)
    parser.add_argument("--each", type=int, help="growing: answers to send to each edge")
    parser.add_argument("--rate-each", type=float, default=12.5, help="of them a second")
    parser.add_argument("--traces", type=int, help="divided: answers to send to all together")
    parser.add_argument("--rate", type=float, default=25, help="of them a second")
    parser.add_argument("--edges", help="numbers of edges: 1,2,4")
    parser.add_argument("--lose", help="ways to lose the analyst: killed,stopped; none is empty")
    return parser.parse_args()


def main() -> None:
    options = parsed()
    each = options.each if options.each is not None else (100 if options.small else 750)
    traces = options.traces if options.traces is not None else (200 if options.small else 6_000)
    edges = [
        int(each) for each in (options.edges or ("1,2" if options.small else "1,2,4")).split(",")
    ]
    lose = options.lose if options.lose is not None else ("" if options.small else "killed,stopped")
    # Fingerprints are counted every five minutes.
    results = {
        name: sql for name, sql in RESULTS.items() if name != "fingerprints" or not options.small
    }
    grown = {number: growing(number, each, options.rate_each) for number in edges if each}
    requests = otlp_requests.make(traces, seed=SEED, per_request=1)
    rate = options.rate
    runs = {number: divided_among(requests, number, results, rate) for number in edges if traces}
    lost = {how: taken_over(how) for how in filter(None, lose.split(","))}
    figures: dict[str, object] = {
        "growing": {
            "spans_an_edge": each * otlp_requests.SPANS_A_TRACE,
            "answers_a_second_an_edge": options.rate_each,
            "edges": {str(number): run["figures"] for number, run in grown.items()},
        },
        "divided": {
            "spans": traces * otlp_requests.SPANS_A_TRACE,
            "answers_a_second": rate,
            "edges": {str(number): run["figures"] for number, run in runs.items()},
        },
        "analyst": lost,
    }
    bars = {
        **bars_of_growth(grown, times=not options.small),
        **bars_of_edges(runs, results, traces),
        **bars_of_analysts(lost),
    }
    finish("scaling", figures, bars, seed=SEED)


def bars_of_growth(runs: Mapping[int, Mapping[str, Any]], *, times: bool) -> dict[str, bool]:
    """What holds however much the load and the edges have grown together."""
    bars: dict[str, bool] = {}
    for number, run in runs.items():
        there = run["twice"] == 0 and run["records"] == run["sent"]
        bars[f"{number} edges, growing: nothing scored twice, nothing missing"] = there
        if times and number > 1 and 1 in runs:
            ratio = run["figures"]["cpu_us_a_span"] / runs[1]["figures"]["cpu_us_a_span"]
            bars[f"{number} edges: CPU a span <= {1 + CPU_MORE:g} of one's"] = ratio <= 1 + CPU_MORE
    return bars


def bars_of_edges(
    runs: Mapping[int, Mapping[str, Any]], results: Collection[str], traces: int
) -> dict[str, bool]:
    """What holds however many edges share the same answers, beside the first run."""
    bars: dict[str, bool] = {}
    for number, run in runs.items():
        first = next(iter(runs.values()))
        there = run["twice"] == 0 and run["records"] == traces
        bars[f"{number} edges: nothing scored twice, nothing missing"] = there
        for name in results:
            bars[f"{number} edges: {name} equal to the first run's"] = run[name] == first[name] != 0
    return bars


def bars_of_analysts(lost: Mapping[str, Mapping[str, Any]]) -> dict[str, bool]:
    """What holds however the analyst was lost."""
    bars: dict[str, bool] = {}
    for name, found in lost.items():
        bars[f"{name}: takeover <= {TAKEOVER_SECONDS:g} s"] = found["seconds"] <= TAKEOVER_SECONDS
        bars[f"{name}: never two lead"] = found["two_led"] == 0
        bars[f"{name}: 0 rows of the former leader"] = found["rows_of_former"] == 0
    return bars


def growing(edges: int, each: int, rate: float) -> dict[str, Any]:
    """Sends `each` answers for every edge, `rate` of them a second for each."""
    answers = edges * (WARM_EACH + each)
    requests = otlp_requests.make(answers, seed=SEED, per_request=1)
    with tempfile.TemporaryDirectory() as folder, fleet(Path(folder), edges, 1) as made:
        figures = sent_to(made, edges, requests, edges * WARM_EACH, edges * rate)
        records = int(made.one(RECORDS))
        return {"figures": figures, "sent": answers, "records": records, "twice": twice(made)}


def divided_among(
    requests: list[bytes], edges: int, results: Mapping[str, str], rate: float
) -> dict[str, Any]:
    """Sends all requests to so many edges; figures, and digests of the results.

    `rate` is one at which no edge is behind: one that is leaves scores out, and says so.
    """
    with tempfile.TemporaryDirectory() as folder, fleet(Path(folder), edges, 1) as made:
        figures = sent_to(made, edges, requests, WARM, rate)
        settled(made, len(requests), results)
        return {
            "figures": figures,
            "records": int(made.one(RECORDS)),
            "twice": twice(made),
            **{name: digest(made, sql) for name, sql in results.items()},
        }


def sent_to(
    made: Fleet, edges: int, requests: list[bytes], warm: int, rate: float
) -> dict[str, Any]:
    """CPU of the edges for all requests behind the first `warm`, of which each has one answer."""
    daemons = [made.daemons[f"edge-{number}"] for number in range(edges)]
    # The first answers load tables of words and languages, once a process whatever comes after.
    loading = sum(map(cpu_seconds, daemons))
    _send(made, daemons, requests[:warm], warm, rate)
    loaded = sum(map(cpu_seconds, daemons))
    time.sleep(REST_SECONDS)
    before = [cpu_seconds(daemon) for daemon in daemons]
    rest = (sum(before) - loaded) / REST_SECONDS
    seconds = _send(made, daemons, requests[warm:], len(requests), rate)
    used = sum(map(cpu_seconds, daemons)) - sum(before)
    spans = (len(requests) - warm) * otlp_requests.SPANS_A_TRACE
    progress(f"{edges} edges: stored after {seconds:.1f} s")
    return {
        "cpu_us_a_span": round(used / spans * 1e6, 1),
        "of_it_at_rest": round(rest * seconds / spans * 1e6, 1),
        "cpu_seconds_of_the_first": round(loaded - loading, 2),
        "seconds": round(seconds, 1),
        "load": round(os.getloadavg()[0], 1),
        "edge_mb": [memory_mb(daemon) for daemon in daemons],
    }


def _send(
    made: Fleet, daemons: list[ChildDaemon], requests: list[bytes], stored: int, rate: float
) -> float:
    """Sends requests, and waits until so many answers are stored in all; seconds."""
    started = time.perf_counter()
    bodies = divided(requests, len(daemons), TRACES_A_REQUEST)
    asyncio.run(send_each(daemons, bodies, rate))
    wait_until(lambda: int(made.one(RECORDS)) >= stored, 600, "not all answers are stored")
    return time.perf_counter() - started


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
