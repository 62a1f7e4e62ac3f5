"""kill -9 of any process under load: nothing acknowledged is lost, nothing has two effects.

    .venv/bin/python bench/kill_storm.py [--small] [--kills N] [--minutes M] [--folder F]

A sender sends requests until the last kill, and re-sends what was not acknowledged, while the
intake or the core is killed at random moments, and sometimes before it what scores beside the core.
At the end every acknowledged span must be in the store once, every record must have each of its
scores once, and the daemon must have become ready within 10 seconds after every kill. No kill
begins after M minutes; a storm that was cut short has not passed. With a folder the next run goes
on in the same store, and its bars are those of all kills and spans so far.
"""

from __future__ import annotations

import argparse
import atexit
import itertools
import os
import random
import signal
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from bench.rig import otlp_requests
from bench.rig.kept_storm import KeptStorm, kept_storm
from bench.rig.options import size_parser
from bench.rig.processes import core_pid, scoring_pids
from bench.rig.report import finish, progress
from ragvigil.app.demo.child_daemon import ChildDaemon, free_port, start

KILLS, SMALL_KILLS = 200, 2
READY_SECONDS = 10.0
PAUSE_SECONDS = 0.06
STREAM_PAUSE_SECONDS = 0.3
REQUESTS_AT_ONCE = 20
HELPER_SHARE = 0.5
"""Of the kills that find a process scoring beside the core: those that end it first."""
DRAIN_SECONDS = 1200.0
BY_CODE = "rubric IN (SELECT rubric FROM scores WHERE kind = 'code')"


@dataclass(slots=True)
class Sender:
    """Sends every request until it is acknowledged."""

    address: str
    requests: list[bytes]
    acknowledged: int = 0
    retries: int = 0
    done: threading.Event = field(default_factory=threading.Event)

    def run(self, pause_seconds: float) -> None:
        """Returns when all are acknowledged."""
        with httpx2.Client(timeout=5) as client:
            for body in self.requests:
                self.deliver(client, body)
                time.sleep(pause_seconds)
        self.done.set()

    def deliver(self, client: httpx2.Client, body: bytes) -> None:
        """Returns when the request is acknowledged."""
        while not self._acknowledges(client, body):
            self.retries += 1
            time.sleep(0.1)
        self.acknowledged += 1

    def _acknowledges(self, client: httpx2.Client, body: bytes) -> bool:
        try:
            reply = client.post(
                f"http://{self.address}/v1/traces",
                content=body,
                headers={"content-type": "application/x-protobuf"},
            )
        except httpx2.HTTPError:
            return False
        return reply.status_code == 200


@dataclass(slots=True)
class Stream(Sender):
    """Makes and sends requests until `end`: a load that lasts as long as the kills do."""

    seed: int = 0
    ending: threading.Event = field(default_factory=threading.Event)

    @classmethod
    def of(cls, storm: KeptStorm, seed: int) -> Stream:
        """The load of the storm's next part: other traces than those of its earlier ones."""
        return cls(
            f"127.0.0.1:{free_port(0)}",
            [b""] * storm.requests,
            acknowledged=storm.acknowledged,
            retries=storm.retries,
            seed=seed * 1_009 + storm.parts,
        )

    def tell(self, storm: KeptStorm) -> None:
        """Notes in the storm what was sent."""
        storm.requests, storm.retries = len(self.requests), self.retries
        storm.acknowledged = self.acknowledged

    def run(self, pause_seconds: float) -> None:
        """Returns once the last request before `end` is acknowledged."""
        with httpx2.Client(timeout=5) as client:
            for number in itertools.count():
                bodies = otlp_requests.make(
                    REQUESTS_AT_ONCE * otlp_requests.TRACES_A_REQUEST,
                    seed=self.seed * 1_000_003 + number,
                )
                for body in bodies:
                    if self.ending.is_set():
                        self.done.set()
                        return
                    self.requests.append(b"")  # to be counted: all of them would fill the memory
                    self.deliver(client, body)
                    time.sleep(pause_seconds)

    def end(self, seconds: float) -> None:
        """Waits until the last request is acknowledged."""
        self.ending.set()
        self.done.wait(seconds)


def storm(
    kept: KeptStorm, kills: int, rng: random.Random, sender: Stream, *, minutes: float
) -> ChildDaemon:
    """Kills until there were `kills` in all parts; the daemon that lives at the end."""
    folder = kept.data
    settings = {"RAGVIGIL_COLLECTOR__HTTP_ENDPOINT": sender.address}
    daemon = start(folder, settings=settings)
    # Whatever goes wrong here, no daemon outlives the benchmark.
    atexit.register(lambda: daemon.process.poll() is None and daemon.process.terminate())
    daemon.wait_ready()
    threading.Thread(target=sender.run, args=(STREAM_PAUSE_SECONDS,), daemon=True).start()
    end = time.monotonic() + 60 * minutes
    for number in range(len(kept.kills), kills):
        if time.monotonic() > end:
            progress("the time is over")
            break
        time.sleep(rng.uniform(0.3, 4.0))
        if rng.random() < HELPER_SHARE:
            for pid in scoring_pids(daemon):
                os.kill(pid, signal.SIGKILL)
                kept.beside += 1
            time.sleep(rng.uniform(0.0, 0.5))
        victim = rng.choice(("intake", "core"))
        os.kill(daemon.process.pid if victim == "intake" else core_pid(daemon), signal.SIGKILL)
        if victim == "intake":
            daemon.process.wait()
            daemon = start(folder, settings=settings)
        else:
            wait_until_gone(daemon)
        kept.waits.append(daemon.wait_ready())
        kept.kills.append(victim)
        progress(f"{number + 1}/{kills} killed {victim}, ready after {kept.waits[-1]:.1f} s")
    return daemon


def wait_until_gone(daemon: ChildDaemon) -> None:
    """Until the intake has noticed the core's end, so that `ready` speaks of the next one."""
    deadline = time.monotonic() + 2
    while daemon.is_ready() and time.monotonic() < deadline:
        time.sleep(0.01)


def drained(daemon: ChildDaemon, spans: int) -> dict[str, int]:
    """The ledger once `spans` distinct spans are stored, or as it is when patience ends."""
    deadline = time.monotonic() + DRAIN_SECONDS
    while True:
        ledger = dict(daemon.get("ledger")["spans"])
        if (ledger["stored"] >= spans and not ledger["in_spool"]) or time.monotonic() > deadline:
            return ledger
        time.sleep(0.5)


def stored_effects(data_dir: Path) -> dict[str, int]:
    """What lies in the store: distinct spans and records, and what the roll-ups counted.

    Every record has one score of each rubric that code scores, so the roll-ups of each of these
    must count every record. Local models leave records out under such a load.
    """
    from ragvigil.store.engine.connection import connect
    from ragvigil.store.settings import StoreSettings

    clients = connect(StoreSettings(), data_dir)
    ask = clients.writer.query
    effects = {
        "spans": ask("SELECT count() FROM spans FINAL").result_rows[0][0],
        "records": ask("SELECT count() FROM records FINAL").result_rows[0][0],
        "scores": ask(f"SELECT count() FROM scores FINAL WHERE {BY_CODE}").result_rows[0][0],
    }
    counted = ask(
        "SELECT sum(n + not_applicable + absent) FROM rollups FINAL "
        f"WHERE {BY_CODE} GROUP BY rubric"
    ).result_rows
    clients.close()
    return effects | {"rubrics": len(counted), "rollup_records": min(row[0] for row in counted)}


def bars_of(sender: Sender, ledger: dict[str, int], effects: dict[str, int]) -> dict[str, bool]:
    """What must hold of every request, however often the daemon ended meanwhile."""
    sent = sender.acknowledged * otlp_requests.SPANS
    records = sender.acknowledged * otlp_requests.TRACES_A_REQUEST
    return {
        "no acknowledged span is lost": ledger["stored"] == sent and effects["spans"] == sent,
        "no effect happened twice": effects["records"] == records
        and effects["rollup_records"] == records
        and effects["scores"] == records * effects["rubrics"],
        "the books balance": ledger["acknowledged"]
        == ledger["stored"] + ledger["duplicate"] + ledger["quarantined"] + ledger["in_spool"],
        "every request was acknowledged in the end": sender.acknowledged == len(sender.requests),
    }


def _options() -> argparse.Namespace:
    parser = size_parser(__doc__)
    parser.add_argument("--kills", type=int, help=f"{KILLS}, or {SMALL_KILLS} where small")
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("--folder", type=Path, help="of the storm of which this is a part")
    parser.add_argument("--seed", type=int, default=20)
    return parser.parse_args()


def main() -> None:
    options = _options()
    kills = options.kills or (SMALL_KILLS if options.small else KILLS)
    with kept_storm(options.folder) as kept:
        sender = Stream.of(kept, options.seed)
        rng = random.Random(sender.seed)
        daemon = storm(kept, kills, rng, sender, minutes=options.minutes)
        sender.end(DRAIN_SECONDS)
        sent = sender.acknowledged * otlp_requests.SPANS
        ledger = drained(daemon, sent)
        status = daemon.stop()
        effects = stored_effects(kept.data)
        sender.tell(kept)
        kept.keep()
    figures: dict[str, object] = {
        "kills": len(kept.kills),
        "parts": kept.parts,
        "kills_beside_the_core": kept.beside,
        "requests_acknowledged": sender.acknowledged,
        "retries": sender.retries,
        "spans_acknowledged": sent,
        "ledger": ledger,
        "effects": effects,
        "ready_seconds_max": round(max(kept.waits), 1),
    }
    bars = bars_of(sender, ledger, effects)
    bars[f"{kills} kills"] = len(kept.kills) == kills
    bars["SIGTERM ends with status 0"] = status == 0
    if not options.small:
        bars[f"ready <= {READY_SECONDS} s after a kill"] = max(kept.waits) <= READY_SECONDS
    finish("kill_storm", figures, bars, seed=options.seed)


if __name__ == "__main__":
    main()
