"""Import of 100,000 traces in the form of the Collector's file exporter: spans a second of CPU.

Measured is the command alone (reading, checking, counting, batching): how fast it could send. Then
10,000 traces go into a running daemon by the command itself, which is killed on the way and started
again: the daemon's ledger says whether every span is stored once.
Run: `.venv/bin/python bench/importing.py [--small]`.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from bench.rig.options import parse_small
from bench.rig.report import finish, progress
from collector.backfill.collector_file import pieces
from collector.backfill.sources import SUFFIX
from collector.backfill.window import Contents, Window
from ragvigil.app.demo.child_daemon import ChildDaemon, running
from ragvigil.app.process.tied import start_tied

SEED = 7
FULL, SMALL = 100_000, 300
SENT, FEW = 10_000, 1_000
STOPPED_AT = 0.4
"""Share of the file that is acknowledged when the command is killed."""
STORED_SECONDS = 300
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


def reading(path: Path, traces: int) -> tuple[dict[str, object], dict[str, bool], float]:
    """Figures and promises of reading alone, and its spans per second of CPU."""
    contents, wanted = Contents(), Window()
    started = time.process_time()
    spans = sum(contents.narrow(piece, wanted).items for piece in pieces(path, 0))
    rate = spans / (time.process_time() - started)
    told = contents.summary()
    figures = {"spans": spans, "spans_per_cpu_s": round(rate)}
    bars = {
        "every span read": spans == told["spans"] == traces * SPANS,
        "every trace told": told["traces"] == traces,
    }
    return figures, bars, rate


def sending(path: Path, folder: Path, traces: int) -> tuple[dict[str, object], dict[str, bool]]:
    """Figures and promises of an import into a daemon, killed on the way and begun again."""
    spans = traces * SPANS
    with running(folder) as daemon:
        started = time.perf_counter()
        was_killed, arrived = _killed(path, daemon)
        done = _command(path, daemon)
        output, errors = done.communicate(timeout=STORED_SECONDS)
        sent_seconds = time.perf_counter() - started
        told = json.loads(output) if done.returncode == 0 else {}
        ledger = _settled(daemon, spans)
        stored_seconds = time.perf_counter() - started
    again = ledger["acknowledged"] - spans
    figures = {
        "sent_spans": spans, "killed_after_spans": arrived, "sent_again_spans": again,
        "ledger": ledger, "sent_spans_per_s": round(spans / sent_seconds),
        "stored_spans_per_s": round(spans / stored_seconds),
    }  # fmt: skip
    bars = {
        "killed on the way": was_killed and 0 < arrived < spans,
        "the second run sends only the rest": told.get("items") == spans
        and told["this_run"]["spans"] == spans - arrived,
        "every span stored once": ledger["stored"] == spans,
        "what was under way is a duplicate": ledger["duplicate"] == again,
        "a bar shows the progress": "100%" in errors,
    }
    return figures, bars


def _killed(path: Path, daemon: ChildDaemon) -> tuple[bool, int]:
    """Kills the command once a share of the file arrived; whether it ran, and what it noted."""
    note, size = path.with_name(path.name + SUFFIX), path.stat().st_size
    first = _command(path, daemon)
    while first.poll() is None and _noted(note).get("offset", 0) < STOPPED_AT * size:
        time.sleep(0.002)
    first.kill()
    first.communicate()
    return first.returncode < 0, int(_noted(note).get("items", 0))


def _noted(note: Path) -> dict[str, Any]:
    return json.loads(note.read_bytes()) if note.exists() else {}


def _command(path: Path, daemon: ChildDaemon) -> subprocess.Popen[str]:
    return start_tied(
        [sys.executable, "-m", "ragvigil.app.cli.main", "import", "collector_file", str(path),
         "--endpoint", f"http://{daemon.http}", "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"FORCE_COLOR": "1"},  # as on a terminal: elsewhere there is no bar
    )  # fmt: skip


def _settled(daemon: ChildDaemon, spans: int) -> dict[str, int]:
    """The ledger once the spool is worked off, or after the longest wait."""
    deadline = time.monotonic() + STORED_SECONDS
    ledger: dict[str, int] = daemon.get("ledger")["spans"]
    while (ledger["stored"] < spans or ledger["in_spool"]) and time.monotonic() < deadline:
        time.sleep(0.2)
        ledger = daemon.get("ledger")["spans"]
    return ledger


def main() -> None:
    """Prints the figures and the JSON line."""
    small = parse_small(__doc__)
    traces, sent = (SMALL, FEW) if small else (FULL, SENT)
    rng = random.Random(SEED)
    with tempfile.TemporaryDirectory() as folder:
        path, part = Path(folder) / "traces.json", Path(folder) / "part.json"
        write(path, traces, rng)
        write(part, sent, rng)
        progress(f"{path.stat().st_size / 1e6:.0f} MB written")
        figures, bars, rate = reading(path, traces)
        progress(f"{rate:.0f} spans/s read")
        told, held = sending(part, Path(folder) / "daemon", sent)
    if not small:
        bars[f">= {BAR} spans/s"] = rate >= BAR
    finish("importing", figures | told, bars | held, seed=SEED)


if __name__ == "__main__":
    main()
