"""What assembly costs: interpreter time for a trace, and memory for ten minutes of closed ones."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

from bench.rig.options import size_parser
from bench.rig.report import finish, peak_rss_mb, progress
from collector.assembly.assembly import Assembly
from collector.assembly.refs import Arrival, SpanRef
from collector.assembly.settings import AssemblyLimits

SEED = 20_261
TRACES_A_SECOND = 1_400
SPANS = 4
BATCH = 1_000


def batches(traces: int) -> Iterator[list[Arrival]]:
    """Spans of `traces` traces, a thousand traces at a time, the root last."""
    rng = random.Random(SEED)
    for first in range(0, traces, BATCH):
        yield [arrival for seq in range(first, first + BATCH) for arrival in trace(rng, seq)]


def trace(rng: random.Random, seq: int) -> list[Arrival]:
    """The spans of one trace, all in frame `seq`."""
    trace_id = rng.randbytes(16)
    return [
        Arrival(
            trace_id=trace_id,
            ref=SpanRef(seq=seq, index=index, span_id=rng.randbytes(8), weight=20, size=5_000),
            is_root=index == SPANS - 1,
            received_unix_nano=seq,
        )
        for index in range(SPANS)
    ]


def main() -> None:
    """Assembles ten minutes of traffic on a clock of its own."""
    parser = size_parser(__doc__, small="counts only, 10,000 traces")
    given = parser.parse_args()
    traces = 10_000 if given.small else TRACES_A_SECOND * 600
    assembly = Assembly(AssemblyLimits())
    before, spent, now, closed, spans = peak_rss_mb(), 0.0, 0.0, 0, 0
    for batch in batches(traces):
        began = time.perf_counter()
        for arrival in batch:
            assembly.add(arrival, now)
        closings = assembly.close_due(now)
        spent += time.perf_counter() - began
        closed += len(closings)
        spans += sum(len(closing.refs) for closing in closings)
        now += BATCH / TRACES_A_SECOND
    rest = assembly.close_due(now + 2)
    closed, spans = closed + len(rest), spans + sum(len(closing.refs) for closing in rest)
    grown = peak_rss_mb() - before
    progress(f"{closed} traces, {len(assembly.closed)} remembered")
    figures: dict[str, object] = {
        "traces": closed,
        "spans": spans,
        "microseconds_a_trace": round(spent / traces * 1e6, 1),
        "remembered": len(assembly.closed),
        "memory_mb": round(grown, 1),
        "estimated_mb": round(assembly.memory_bytes() / 1e6, 1),
    }
    bars = {"every span closes once": (closed, spans) == (traces, traces * SPANS)}
    if not given.small:
        bars["<= 25 us a trace of 4 spans"] = spent / traces <= 25e-6
        bars["<= 300 MB for 600 s at 1,400 traces/s"] = grown <= 300
    finish("assembly", figures, bars, seed=SEED)


if __name__ == "__main__":
    main()
