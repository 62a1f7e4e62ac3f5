"""SIGTERM under load, twenty times: no error in the log, nothing lost, nothing twice.

    .venv/bin/python bench/clean_stops.py [--small] [--seed N]

A sender keeps sending requests and re-sends what was not acknowledged, while the daemon is stopped
at random moments and started again on the same folder and port. At the end every acknowledged span
must be in the store once, and the log may hold no error.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import threading
import time
from pathlib import Path

from bench.kill_storm import (
    DRAIN_SECONDS,
    PAUSE_SECONDS,
    Sender,
    bars_of,
    drained,
    stored_effects,
)
from bench.rig import otlp_requests
from bench.rig.options import size_parser
from bench.rig.report import finish, progress
from ragvigil.app.demo.child_daemon import free_port, start

STOPS, SMALL_STOPS = 20, 3
STOP_SECONDS = 25.0
WRONG = ("level=error", "Traceback", "Error", "ERROR", "CRITICAL")


def _options() -> argparse.Namespace:
    parser = size_parser(__doc__)
    parser.add_argument("--seed", type=int, default=21)
    return parser.parse_args()


def main() -> None:
    options = _options()
    stops = SMALL_STOPS if options.small else STOPS
    chance = random.Random(options.seed)
    requests = otlp_requests.make(25 * (60 if options.small else 800), seed=options.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sender = Sender(f"127.0.0.1:{free_port(0)}", requests)
        statuses, seconds, ledger = _stopped(folder, sender, stops, chance)
        sent = sender.acknowledged * otlp_requests.SPANS
        effects = stored_effects(folder)
        lines = (folder / "daemon.log").read_text(errors="replace").splitlines()
    wrong = [line for line in lines if any(word in line for word in WRONG)]
    for line in wrong[:10]:
        progress(line)
    figures: dict[str, object] = {
        "stops": stops + 1,
        "spans_acknowledged": sent,
        "retries": sender.retries,
        "ledger": ledger,
        "effects": effects,
        "stop_seconds_max": round(max(seconds), 1),
        "lines_of_errors": len(wrong),
    }
    bars = bars_of(sender, ledger, effects)
    bars["no error is logged"] = not wrong
    bars["every stop ends with status 0"] = set(statuses) == {0}
    if not options.small:
        bars[f"a stop takes at most {STOP_SECONDS:g} s"] = max(seconds) <= STOP_SECONDS
    finish("clean_stops", figures, bars, seed=options.seed)


def _stopped(
    folder: Path, sender: Sender, stops: int, chance: random.Random
) -> tuple[list[int], list[float], dict[str, int]]:
    """Exit statuses, seconds of each stop, and the ledger once all is stored."""
    statuses, seconds = [], []
    settings = {"RAGVIGIL_COLLECTOR__HTTP_ENDPOINT": sender.address}
    daemon = start(folder, settings=settings)
    try:
        daemon.wait_ready()
        threading.Thread(target=sender.run, args=(PAUSE_SECONDS,), daemon=True).start()
        for number in range(stops):
            time.sleep(chance.uniform(0.2, 4.0))
            began = time.monotonic()
            statuses.append(daemon.stop(4 * STOP_SECONDS))
            seconds.append(time.monotonic() - began)
            progress(f"{number + 1}/{stops} stopped in {seconds[-1]:.1f} s")
            daemon = start(folder, settings=settings)
            daemon.wait_ready()
        sender.done.wait(DRAIN_SECONDS)
        ledger = drained(daemon, sender.acknowledged * otlp_requests.SPANS)
    finally:
        statuses.append(daemon.stop(4 * STOP_SECONDS))
    return statuses, seconds, ledger


if __name__ == "__main__":
    main()
