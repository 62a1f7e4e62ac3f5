"""kill -9 of the core while it judges: no verdict twice, no record forgotten, few calls repeated.

    .venv/bin/python bench/judge_storm.py [--small] [--seed N]

A sender keeps traces coming; every record is judged, by a stand-in in a process of its own that
writes down a hash of each prompt. The core is killed at random moments; after every few kills the
whole daemon is started anew, since its pause before the next start doubles with each kill. At the
end every record must have every judged score once, and of the calls at most `concurrency` may have
come again for each end of a core.
"""

from __future__ import annotations

import os
import random
import re
import signal
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from bench.kill_storm import Sender
from bench.rig import otlp_requests
from bench.rig.judge_court import judged_families
from bench.rig.judge_latency import judging
from bench.rig.judge_stand_in import standing_in
from bench.rig.options import size_parser
from bench.rig.processes import core_pid
from bench.rig.report import finish, progress
from ragvigil.app.demo.child_daemon import ChildDaemon, free_port, start

CONCURRENCY, JUDGE_SECONDS = 8, 0.1
KILLS_A_DAEMON = 4
PATIENCE_SECONDS = 900.0
REPEATED = re.compile(r"^ragvigil_judge_repeated_total (\S+)$", re.MULTILINE)


@dataclass(kw_only=True)
class Storm:
    """The kills so far; `repeated` sums what each core said of the one before it."""

    folder: Path
    settings: dict[str, str]
    log: Path
    rng: random.Random
    kills: int = 0
    ends: int = 0
    repeated: list[int] = field(default_factory=list)

    def rage(self, kills: int) -> None:
        """Kills cores of one daemon, each while calls are being made, then stops the daemon."""
        with self.daemon() as daemon:
            for _ in range(kills):
                self._wait_for_calls()
                time.sleep(self.rng.uniform(0.0, 1.0))
                self._note(daemon)
                os.kill(core_pid(daemon), signal.SIGKILL)
                self.kills += 1
                _wait_until_gone(daemon)
                waited = daemon.wait_ready()
                progress(f"kill {self.kills}: ready after {waited:.1f} s, repeated {self.repeated}")
            self._wait_for_calls()
            self._note(daemon)

    @contextmanager
    def daemon(self) -> Iterator[ChildDaemon]:
        """A daemon that is ready; its end, too, is one of a core."""
        made = start(self.folder, settings=self.settings)
        try:
            made.wait_ready()
            yield made
        finally:
            made.stop()
            self.ends += 1

    def _note(self, daemon: ChildDaemon) -> None:
        """How many records the core that runs now began again; the core before it left them."""
        self.repeated.append(repeated_by(daemon))

    def _wait_for_calls(self) -> None:
        """Until this core has made some calls, or has found nothing to ask."""
        before, deadline = len(lines(self.log)), time.monotonic() + 20
        while len(lines(self.log)) < before + CONCURRENCY and time.monotonic() < deadline:
            time.sleep(0.05)


def repeated_by(daemon: ChildDaemon) -> int:
    """`ragvigil_judge_repeated_total` of the core that runs now."""
    text = httpx2.get(f"http://{daemon.metrics}/metrics", timeout=10).text
    found = REPEATED.search(text)
    return int(float(found[1])) if found else 0


def lines(log: Path) -> list[str]:
    """The hashes of the calls so far."""
    return log.read_text("ascii").splitlines() if log.exists() else []


def _wait_until_gone(daemon: ChildDaemon) -> None:
    deadline = time.monotonic() + 2
    while daemon.is_ready() and time.monotonic() < deadline:
        time.sleep(0.01)


def judged_in_the_end(storm: Storm, records: int) -> int:
    """Records that wait still, once all are judged or patience ends."""
    with storm.daemon() as daemon:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            status, spans = daemon.get("status")["judge"], daemon.get("ledger")["spans"]
            is_stored = spans["stored"] >= records * otlp_requests.SPANS_A_TRACE
            if (is_stored and not status["waiting"]) or time.monotonic() > deadline:
                storm.repeated.append(repeated_by(daemon))
                return int(status["waiting"])
            time.sleep(0.5)


def stored_verdicts(folder: Path) -> dict[str, Any]:
    """What lies in the store of judged scores.

    `twice` counts pairs of record and rubric with two rows; `missing` are verdicts that were not
    given, by the reason.
    """
    from ragvigil.store.engine.connection import connect
    from ragvigil.store.settings import StoreSettings

    clients = connect(StoreSettings(), folder)
    ask = clients.writer.query
    judged = "FROM scores FINAL WHERE kind = 'judge'"
    keys = "trace_id, record_id, rubric"
    queries = {
        "records": "SELECT count() FROM records FINAL",
        "scores": f"SELECT count() {judged}",
        "records_judged": f"SELECT uniqExact(trace_id, record_id) {judged}",
        "rubrics": f"SELECT uniqExact(rubric) {judged}",
        "twice": f"SELECT count() FROM (SELECT {keys} {judged} GROUP BY {keys} HAVING count() > 1)",
    }
    found: dict[str, Any] = {
        name: int(ask(query).result_rows[0][0]) for name, query in queries.items()
    }
    reasons = f"SELECT label, count() {judged} AND absent = 'judge' GROUP BY label"
    found["missing"] = dict(ask(reasons).result_rows)
    clients.close()
    return found


def main() -> None:
    parser = size_parser(__doc__)
    parser.add_argument("--seed", type=int, default=21)
    options = parser.parse_args()
    kills, count = (3, 5) if options.small else (50, 80)
    requests = otlp_requests.make(otlp_requests.TRACES_A_REQUEST * count, seed=options.seed)
    with tempfile.TemporaryDirectory() as name:
        folder, log = Path(name) / "data", Path(name) / "calls"
        with standing_in(seconds=JUDGE_SECONDS, log=log) as address:
            sender = Sender(f"127.0.0.1:{free_port(0)}", requests)
            storm = Storm(
                folder=folder,
                settings=judging(address)
                | {
                    "RAGVIGIL_JUDGE__CONCURRENCY": str(CONCURRENCY),
                    "RAGVIGIL_COLLECTOR__HTTP_ENDPOINT": sender.address,
                },
                log=log,
                rng=random.Random(options.seed),
            )
            pause = 2.0 if options.small else 6.0
            threading.Thread(target=sender.run, args=(pause,), daemon=True).start()
            while storm.kills < kills:
                storm.rage(min(KILLS_A_DAEMON, kills - storm.kills))
            with storm.daemon():
                sender.done.wait(PATIENCE_SECONDS)
            records = sender.acknowledged * otlp_requests.TRACES_A_REQUEST
            waiting = judged_in_the_end(storm, records)
        effects = stored_verdicts(folder)
        calls = Counter(lines(log))
    report(storm, sender, effects, calls, waiting, seed=options.seed)


def report(
    storm: Storm,
    sender: Sender,
    effects: dict[str, Any],
    calls: Counter[str],
    waiting: int,
    *,
    seed: int,
) -> None:
    """Figures and bars; a rubric that does not apply to a record has a score without a value."""
    again = sum(calls.values()) - len(calls)
    ends = storm.kills + storm.ends
    rubrics = sum(1 for family in judged_families() for _ in family)
    figures: dict[str, object] = {
        "kills": storm.kills,
        "ends_of_a_core": ends,
        "requests_acknowledged": sender.acknowledged,
        "effects": effects,
        "calls": sum(calls.values()),
        "calls_again": again,
        "records_begun_again": sum(storm.repeated),
        "begun_again_by_core": storm.repeated,
        "waiting": waiting,
    }
    bars = {
        "no verdict is stored twice": effects["twice"] == 0
        and effects["scores"] == effects["records_judged"] * rubrics,
        "no record is left unjudged": waiting == 0
        and effects["records_judged"]
        == effects["records"]
        == sender.acknowledged * otlp_requests.TRACES_A_REQUEST,
        "no verdict is missing": not effects["missing"],
        f"calls made again <= {CONCURRENCY} for each end of a core": again <= CONCURRENCY * ends,
        "records begun again are counted": sum(storm.repeated) > 0,
    }
    finish("judge_storm", figures, bars, seed=seed)


if __name__ == "__main__":
    main()
