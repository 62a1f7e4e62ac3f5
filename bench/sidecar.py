"""What an edge beside one service costs: memory, and CPU at rest and at 50 spans a second.

    .venv/bin/python bench/sidecar.py [--small] [--seconds N] [--rate SPANS] [--local-models]

An edge and an analyst share a store (the embedded engine behind ClickHouse's HTTP interface). The
edge is measured from /proc: at rest, and while a service sends it RAG traces of four spans and
20 KB each, for N seconds each time. Memory and CPU are those of the edge's two processes together,
intake and core: `rss_mb` counts what both share twice, `pss_mb` once. Before the measurement a few
answers are sent, because the first ones load dictionaries of languages. Neither server nor analyst
counts. Local models are off: they are a process of their own, which `--local-models` starts and
which does not count either.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from bench.idle import costliest, job_seconds
from bench.rig import otlp_requests
from bench.rig.fleet import Fleet, cpu_seconds, fleet, pids, wait_until
from bench.rig.options import size_parser
from bench.rig.processes import memory_mb
from bench.rig.report import finish, progress
from ragvigil.app.demo.child_daemon import ChildDaemon

SEED = 21
SECONDS, SMALL_SECONDS = 180.0, 5.0
REST_SHARE = 1 / 3
"""Share of the seconds in which nothing is sent first."""
RATE, WARM_TRACES = 50.0, 25
MOST_MB, MOST_CPU = 200.0, 0.05


def main() -> None:
    options = parsed()
    seconds = options.seconds or (SMALL_SECONDS if options.small else SECONDS)
    sent = int(seconds * options.rate) // otlp_requests.SPANS_A_TRACE
    # All of one corpus of 400 chunks, as a service's answers are: what was read of a chunk is kept.
    bodies = otlp_requests.make(WARM_TRACES + sent, seed=SEED, per_request=1)
    one = partial(fleet, has_local_models=options.local_models)
    with tempfile.TemporaryDirectory() as folder, one(Path(folder), 1, 0) as made:
        edge = made.daemons["edge-0"]
        started = memory(edge)
        rest = share_at_rest(edge, seconds * REST_SHARE)
        traces = send_all(made, edge, bodies[:WARM_TRACES], WARM_TRACES / 2)
        progress("warm")
        before, jobs, began = cpu_seconds(edge), job_seconds(edge), time.monotonic()
        rate = options.rate / otlp_requests.SPANS_A_TRACE
        traces += send_all(made, edge, bodies[WARM_TRACES:], rate)
        lasted = time.monotonic() - began
        share = (cpu_seconds(edge) - before) / lasted
        loaded = memory(edge)
        spans = sent * otlp_requests.SPANS_A_TRACE
        figures: dict[str, object] = {
            "spans": spans,
            "seconds": round(lasted),
            "local_models": options.local_models,
            "cpu_share_at_rest": round(rest, 4),
            "cpu_share": round(share, 4),
            "cpu_us_a_span": round(share * lasted / spans * 1e6, 1),
            "mb_after_start": started,
            "mb": loaded,
            "jobs_seconds_and_runs": costliest(jobs, job_seconds(edge)),
        }
        stored = int(made.one("SELECT count() FROM records FINAL"))
    bars = {"every answer is stored": stored == traces}
    if not options.small:
        bars[f"memory (PSS) <= {MOST_MB:g} MB"] = loaded["pss"] <= MOST_MB
        bars[f"share of a core <= {MOST_CPU:g}"] = share <= MOST_CPU
    finish("sidecar", figures, bars, seed=SEED)


def parsed() -> argparse.Namespace:
    """The options of the command line."""
    parser = size_parser(__doc__)
    parser.add_argument("--seconds", type=float, help="under load")
    parser.add_argument("--rate", type=float, default=RATE, help="spans a second")
    parser.add_argument("--local-models", action="store_true")
    return parser.parse_args()


def share_at_rest(edge: ChildDaemon, seconds: float) -> float:
    """CPU of the edge while nothing is sent, as a share of a core."""
    before, began = cpu_seconds(edge), time.monotonic()
    time.sleep(seconds)
    return (cpu_seconds(edge) - before) / (time.monotonic() - began)


def send_all(made: Fleet, edge: ChildDaemon, bodies: Sequence[bytes], rate: float) -> int:
    """Sends answers, so many a second, a request each second; waits until all are stored.

    `bodies` have one answer each. Returns how many were sent.
    """
    import grpc

    per_request = max(1, round(rate))
    count = "SELECT count() FROM records FINAL"
    wanted = int(made.one(count)) + len(bodies)
    with grpc.insecure_channel(edge.grpc) as channel:
        export, due = channel.unary_unary(otlp_requests.EXPORT), time.monotonic()
        for first in range(0, len(bodies), per_request):
            time.sleep(max(0.0, due - time.monotonic()))
            # A machine that stood still makes up for nothing: a burst is another load.
            due = max(due, time.monotonic() - 1) + per_request / rate
            # Serialised requests one after another are one request with all their resources.
            export(b"".join(bodies[first : first + per_request]), timeout=600)
    wait_until(lambda: int(made.one(count)) >= wanted, 300, "not all answers are stored")
    return len(bodies)


def memory(edge: ChildDaemon) -> dict[str, float]:
    """MB of the edge's processes: each one's resident memory, the sum, and what it is in shares."""
    intake, core = pids(edge)
    rss = {"intake": memory_mb(intake, "VmRSS"), "core": memory_mb(core, "VmRSS")}
    pss = sum(_share_kb(pid, "Pss") for pid in (intake, core)) / 1024
    return {**rss, "rss": round(sum(rss.values()), 1), "pss": round(pss, 1)}


def _share_kb(pid: int, field: str) -> int:
    text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    match = re.search(rf"^{field}:\s+(\d+) kB", text, re.MULTILINE)
    return int(match.group(1)) if match else 0


if __name__ == "__main__":
    main()
