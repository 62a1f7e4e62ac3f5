"""kill -9 under load and a start at once, on a busy machine: no start is refused, nothing is lost.

    .venv/bin/python bench/restarts.py [--small] [--seed N] [--without-burners]

Either the whole daemon is killed, or the intake alone, whose core must then end by itself. The next
daemon is started on the same folder and the same ports, up to a second before the kill: it then
comes to lock and ports while the last one ends. Meanwhile a sender re-sends what was not
acknowledged, and a process a core does nothing but compute.
"""

from __future__ import annotations

import argparse
import atexit
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx2

from bench.kill_storm import Sender, drained, stored_effects
from bench.rig import otlp_requests
from bench.rig.options import size_parser
from bench.rig.processes import core_pid, cpu_seconds, scoring_pids
from bench.rig.report import finish, progress
from ragvigil.app.demo.child_daemon import VARIABLES, ChildDaemon, DidNotStart, free_port, start
from ragvigil.app.process.tied import start_tied

READY_SECONDS = 10.0
SENDER_PAUSE_SECONDS = 0.06
MOST_LEAD_SECONDS = 1.0
DRAIN_SECONDS = 1200.0
BURN = "while True: pass"


@dataclass(frozen=True, slots=True, kw_only=True)
class Restart:
    """A kill and the start after it, in seconds.

    `ending_seconds` passed from the kill until the killed processes had let go of everything,
    `ready_seconds` from then on. `cpu_seconds` is what the start took of the CPU: on a machine that
    others use too, it tells more.
    """

    victim: str
    is_refused: bool
    ending_seconds: float
    ready_seconds: float
    cpu_seconds: float


def restart(daemon: ChildDaemon, victim: str, lead_seconds: float) -> tuple[ChildDaemon, Restart]:
    """Starts another daemon and kills this one, or its intake alone, `lead_seconds` later."""
    settings = {variable: getattr(daemon, name) for name, variable in VARIABLES.items()}
    successor = start(daemon.data_dir, settings=settings)
    time.sleep(lead_seconds)
    intake, core = daemon.process.pid, core_pid(daemon)
    pids = [intake, core, *scoring_pids(daemon)] if victim == "daemon" else [intake]
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    killed = time.monotonic()
    while not (_has_let_go(intake) and _has_let_go(core)):
        time.sleep(0.005)
    free = time.monotonic()
    is_refused = False
    try:
        successor.wait_ready()
    except DidNotStart as error:
        progress(f"refused: {str(error)[-300:]}")
        is_refused = True
        successor = start(daemon.data_dir, settings=settings)
        successor.wait_ready()
    ready = time.monotonic()
    daemon.process.wait()
    done = Restart(
        victim=victim,
        is_refused=is_refused,
        ending_seconds=free - killed,
        ready_seconds=ready - free,
        cpu_seconds=cpu_seconds(successor.process.pid) + cpu_seconds(core_pid(successor)),
    )
    return successor, done


def _has_let_go(pid: int) -> bool:
    """Whether a process has ended; a zombie has, and holds no lock and no port."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    except OSError:
        return True
    return stat.rpartition(")")[2].split()[0] in "ZX"


def restarts(
    folder: Path, victims: Sequence[str], rng: random.Random, sender: Sender
) -> tuple[ChildDaemon, list[Restart]]:
    """Restarts once a victim; the daemon that lives at the end, and what each restart took."""
    daemon = start(folder, settings={"RAGVIGIL_COLLECTOR__HTTP_ENDPOINT": sender.address})
    daemon.wait_ready()
    threading.Thread(target=sender.run, args=(SENDER_PAUSE_SECONDS,), daemon=True).start()
    done: list[Restart] = []
    for victim in victims:
        time.sleep(rng.uniform(0.3, 4.0))
        daemon, last = restart(daemon, victim, rng.uniform(0.0, MOST_LEAD_SECONDS))
        done.append(last)
        progress(
            f"{len(done)}/{len(victims)} killed the {victim}: gone after {last.ending_seconds:.2f} "
            f"s, ready {last.ready_seconds:.1f} s later with {last.cpu_seconds:.1f} s of CPU"
        )
    return daemon, done


def burn(processes: int) -> list[subprocess.Popen[bytes]]:
    """Starts processes that do nothing but compute, until this one ends."""
    burners = [start_tied([sys.executable, "-c", BURN]) for _ in range(processes)]
    for burner in burners:
        atexit.register(burner.kill)
    return burners


def _options() -> argparse.Namespace:
    parser = size_parser(__doc__)
    parser.add_argument("--seed", type=int, default=20261122)
    parser.add_argument("--without-burners", action="store_true", help="others keep it busy")
    return parser.parse_args()


def main() -> None:
    options = _options()
    count = 2 if options.small else 30
    rng = random.Random(options.seed)
    victims = [("daemon", "intake")[number % 2] for number in range(count)]
    requests = otlp_requests.make(25 * (100 if options.small else 1200), seed=options.seed)
    is_quiet = options.small or options.without_burners
    burners = burn(0 if is_quiet else os.cpu_count() or 1)
    with tempfile.TemporaryDirectory() as folder:
        sender = Sender(f"127.0.0.1:{free_port(0)}", requests)
        daemon, done = restarts(Path(folder), victims, rng, sender)
        load = os.getloadavg()[0]
        for burner in burners:
            burner.kill()
        sender.done.wait(DRAIN_SECONDS)
        sent = sender.acknowledged * otlp_requests.SPANS
        ledger = _drained(daemon, sent)
        status = daemon.stop()
        effects = stored_effects(Path(folder))
    figures: dict[str, object] = {
        "burners": len(burners),
        "load": round(load, 1),
        "requests_acknowledged": sender.acknowledged,
        "retries": sender.retries,
        "spans_acknowledged": sent,
        "ledger": ledger,
        "effects": effects,
    }
    bars = {
        "no start is refused": not any(each.is_refused for each in done),
        "no acknowledged span is lost": ledger["stored"] == sent == effects["spans"],
        "every request was acknowledged in the end": sender.acknowledged == len(requests),
        "SIGTERM ends with status 0": status == 0,
    }
    if not options.small:
        slowest = max(each.ready_seconds for each in done)
        bars[f"ready <= {READY_SECONDS} s after the last one has gone"] = slowest <= READY_SECONDS
    finish("restarts", _times(done) | figures, bars, seed=options.seed)


def _drained(daemon: ChildDaemon, spans: int) -> dict[str, int]:
    try:
        return drained(daemon, spans)
    except httpx2.HTTPError:
        progress(daemon.last_lines())
        raise


def _times(done: Sequence[Restart]) -> dict[str, object]:
    ready = sorted(each.ready_seconds for each in done)
    return {
        "restarts": len(done),
        "refused": sum(each.is_refused for each in done),
        "ending_seconds_max": round(max(each.ending_seconds for each in done), 2),
        "ready_seconds_median": round(ready[len(ready) // 2], 1),
        "ready_seconds_max": round(ready[-1], 1),
        "cpu_seconds_max": round(max(each.cpu_seconds for each in done), 1),
    }


if __name__ == "__main__":
    main()
