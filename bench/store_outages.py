"""A ClickHouse server that is down, slow and read-only under load: nothing lost, all catches up.

    .venv/bin/python bench/store_outages.py [--small] [--seconds N | --minutes N]

The server is the embedded engine behind ClickHouse's HTTP interface (`tests/clickhouse_http.py`),
in a process of its own: a stand-in, since no real one can be had here. Spans arrive at an even rate
all the time; meanwhile the server is killed for N seconds, then answers slowly, then refuses every
insert as a read-only replica does, a minute each at most. Every ten seconds a line on standard
error says how far it is. Afterwards every acknowledged span must be stored, once, and
the daemon must have said in its log that the store is down, in lines and not in floods.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from bench.rig.even_load import SEED, EvenLoad
from bench.rig.options import size_parser
from bench.rig.report import finish, progress
from ragvigil.app.demo.child_daemon import ChildDaemon, start
from tests.clickhouse_http import Server

RATE, SMALL_RATE, TRACES_A_REQUEST = 500, 100, 5
SECONDS, SMALL_SECONDS = 60.0, 5.0
OTHERS_SECONDS = 60.0
"""Longest time of a slow and a read-only store, and of the pauses between: only a store that is
down makes the spool grow without end."""
TICK_SECONDS = 10.0
SLOW_SECONDS = 0.5
CATCH_UP_SECONDS = 900.0
MOST_LINES = 40


def _options() -> argparse.Namespace:
    parser = size_parser(__doc__)
    parser.add_argument("--seconds", type=float, help="how long the store is down")
    parser.add_argument("--minutes", type=float, help="the same in minutes")
    options = parser.parse_args()
    if options.minutes:
        options.seconds = 60 * options.minutes
    return options


def main() -> None:
    options = _options()
    seconds = options.seconds or (SMALL_SECONDS if options.small else SECONDS)
    rate = SMALL_RATE if options.small else RATE
    with tempfile.TemporaryDirectory() as name, Server(Path(name) / "server") as server:
        settings = {"RAGVIGIL_STORE__URL": server.url, "RAGVIGIL_STORE__RETRY_SECONDS": "2"}
        settings["RAGVIGIL_INFERENCE__ENABLED"] = "false"
        daemon = start(Path(name) / "data", settings=settings)
        try:
            daemon.wait_ready()
            load = EvenLoad(daemon.http, rate, traces_a_request=TRACES_A_REQUEST)
            load.start()
            _outages(server, seconds, load)
            load.stop()
            sent = load.spans
            ledger, waited = _caught_up(daemon, sent)
        finally:
            daemon.stop(100)
        lines = (Path(name) / "data" / "daemon.log").read_text(errors="replace").splitlines()
    said = [line for line in lines if "level=error" in line or "level=warning" in line]
    figures: dict[str, object] = {
        "outage_seconds": seconds,
        "spans_a_second": rate,
        "spans_acknowledged": sent,
        "requests_refused": load.refused,
        "ledger": ledger,
        "caught_up_after_s": round(waited, 1),
        "lines_of_warning": len(said),
    }
    bars = {
        "no request was refused": not load.refused,
        "no acknowledged span is lost": ledger["stored"] + ledger["duplicate"] == sent,
        "it catches up": not ledger["in_spool"],
        f"at most {MOST_LINES} lines about it": len(said) <= MOST_LINES,
        "something is said about it": bool(said),
    }
    finish("store_outages", figures, bars, seed=SEED)


def _outages(server: Server, seconds: float, load: EvenLoad) -> None:
    others = min(seconds, OTHERS_SECONDS)
    _wait("up", others, load)
    server.stop()
    _wait("down", seconds, load)
    server.start()
    _wait("up again", others, load)
    for name, fault in (("slow", {"slow": SLOW_SECONDS}), ("read-only", {"readonly": 1})):
        server.fault(**fault)
        _wait(name, others, load)
        server.fault()
        _wait("up again", others, load)


def _wait(state: str, seconds: float, load: EvenLoad) -> None:
    """Waits, and says every ten seconds what was acknowledged."""
    progress(f"the store is {state} for {seconds:g} s")
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        time.sleep(min(left, TICK_SECONDS))
        progress(f"{load.spans} spans acknowledged, {load.refused} refused")


def _caught_up(daemon: ChildDaemon, spans: int) -> tuple[dict[str, int], float]:
    """The ledger once all is stored, or as it is when patience ends, and the seconds waited."""
    began = said = time.monotonic()
    while True:
        ledger = dict(daemon.get("ledger")["spans"])
        if time.monotonic() - said > TICK_SECONDS:
            said = time.monotonic()
            progress(f"{ledger['stored']} of {spans} spans are stored")
        waited = time.monotonic() - began
        done = ledger["stored"] >= spans and not ledger["in_spool"]
        if done or waited > CATCH_UP_SECONDS:
            return ledger, waited
        time.sleep(0.5)


if __name__ == "__main__":
    main()
