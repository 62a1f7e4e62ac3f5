"""Records of 10,000 generated traces: never an error, the same twice, at most 1 ms a span.

The traces are those of the contract tests: every name that a convention knows, with any value, and
good traces damaged. Run: `.venv/bin/python bench/generated_traces.py`.
"""

from __future__ import annotations

import time

from hypothesis import HealthCheck, Phase, given, seed, settings

from bench.rig.options import parse_small
from bench.rig.report import finish, progress
from collector.record.build import records
from ragvigil.model.span import Trace
from tests.generated_traces import traces

SEED = 7
FULL, SMALL = 10_000, 200
MS_A_SPAN = 1.0


def main() -> None:
    """Prints the counts and the JSON line."""
    small = parse_small(__doc__)
    found = {"traces": 0, "spans": 0, "records": 0, "raised": 0, "not_the_same_twice": 0}
    seconds = 0.0

    @seed(SEED)
    @settings(
        max_examples=SMALL if small else FULL,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(trace=traces)
    def read(trace: Trace) -> None:
        nonlocal seconds
        started = time.process_time()
        try:
            first = records(trace)
        except Exception as error:  # what the promise is about: counted, and told
            found["raised"] += 1
            progress(f"raised {error!r} on {trace!r}")
            return
        seconds += time.process_time() - started
        found["traces"] += 1
        found["spans"] += len(trace.spans)
        found["records"] += len(first)
        found["not_the_same_twice"] += first != records(trace)
        if found["traces"] % 1000 == 0:
            progress(f"{found['traces']} traces")

    read()
    ms = round(seconds * 1e3 / found["spans"], 4)
    bars = _bars(found) | ({} if small else {f"<= {MS_A_SPAN} ms a span": ms <= MS_A_SPAN})
    finish("generated_traces", {**found, "ms_a_span": ms}, bars, seed=SEED)


def _bars(found: dict[str, int]) -> dict[str, bool]:
    return {
        "never raises": found["raised"] == 0,
        "the same twice": found["not_the_same_twice"] == 0,
        "records were made": found["records"] > 0,
    }


if __name__ == "__main__":
    main()
