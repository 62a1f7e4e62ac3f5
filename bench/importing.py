"""Import of 100,000 traces that the Collector's file exporter wrote: spans a second of CPU.

Measured is the command alone (reading, checking, counting, batching): how fast it could send.
Run: `.venv/bin/python bench/importing.py [--small]`.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.report import finish, progress
from ragvigil.app.import_collector_file import pieces
from ragvigil.app.import_window import Contents, Window

SEED = 7
FULL, SMALL = 100_000, 300
SPANS, TRACES_A_LINE = 4, 25
BAR = 5_000


def write(path: Path, traces: int, rng: random.Random) -> None:
    """Lines of 25 traces, four spans with a few attributes each, as the exporter writes them."""
    with path.open("wb") as file:
        for _ in range(traces // TRACES_A_LINE):
            spans = [span for _ in range(TRACES_A_LINE) for span in _trace(rng)]
            scope = {"scope": {"name": "bench"}, "spans": spans}
            resource = {"attributes": [_text("service.name", "bench")]}
            line = {"resourceSpans": [{"resource": resource, "scopeSpans": [scope]}]}
            file.write(json.dumps(line).encode() + b"\n")


def _trace(rng: random.Random) -> list[dict[str, object]]:
    trace_id, now = rng.randbytes(16).hex(), 1_790_000_000_000_000_000
    words = " ".join(rng.choices(("refund", "parcel", "card", "days", "fee"), k=60))
    return [
        {
            "traceId": trace_id,
            "spanId": rng.randbytes(8).hex(),
            "name": "step",
            "startTimeUnixNano": str(now),
            "endTimeUnixNano": str(now + 1_000_000),
            "attributes": [_text("openinference.span.kind", "CHAIN"), _text("input.value", words)],
        }
        for _ in range(SPANS)
    ]


def _text(key: str, value: str) -> dict[str, object]:
    return {"key": key, "value": {"stringValue": value}}


def main() -> None:
    """Prints the figures and the JSON line."""
    is_small = "--small" in sys.argv
    traces = SMALL if is_small else FULL
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "traces.json"
        write(path, traces, random.Random(SEED))
        progress(f"{path.stat().st_size / 1e6:.0f} MB written")
        contents, wanted = Contents(), Window()
        started = time.process_time()
        spans = sum(contents.narrowed(piece, wanted).items for piece in pieces(path, 0))
        rate = spans / (time.process_time() - started)
    told = contents.told()
    bars = {
        "every span read": spans == told["spans"] == traces * SPANS,
        "every trace told": told["traces"] == traces,
    }
    if not is_small:
        bars[f">= {BAR} spans/s"] = rate >= BAR
    finish("importing", {"spans": spans, "spans_per_cpu_s": round(rate)}, bars, seed=SEED)


if __name__ == "__main__":
    main()
