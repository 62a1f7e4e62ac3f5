"""Hostile texts and poison through a daemon: they cost themselves, never the records beside them.

    .venv/bin/python bench/hostile.py [--small] [--seed N]

While ordinary answers arrive at 100 spans a second, answers, questions, chunks and document ids of
60 shapes and up to 1 MiB are sent. A record's wait is the time from its acknowledgement until it is
durable; the longest one must stay within a second of the longest before the first hostile record.
Then a plug-in scorer stops for ever on one answer and ends the process on another, and the daemon
is restarted in between: the two are quarantined, everything else is stored.
"""

from __future__ import annotations

import json
import random
import statistics
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2

from bench.rig.arrivals import Arrivals, arrivals
from bench.rig.one_answer import ANSWER, CHUNK, QUESTION, SPANS, one_answer, trace_id_of
from bench.rig.options import size_parser
from bench.rig.report import finish, progress
from ragvigil.app.demo.child_daemon import ChildDaemon, free_port, running, start
from scorers.runner import TOOK_TOO_LONG
from tests.hostile_texts import SHAPES
from tests.poison import EXIT, SLEEP, poisonous

SPANS_A_SECOND = 100
PLACES = ("answer", "question", "chunk", "document id", "everywhere")
STALL_SECONDS = 1.0
BUSY_TRIES = 20
MIB = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much is sent: shapes, the bytes of each text, and seconds."""

    shapes: int
    bytes: tuple[int, ...]
    calm_seconds: float
    pause_seconds: float
    drain_seconds: float
    poison: tuple[str, ...]


FULL = Size(
    shapes=60,
    bytes=(100 << 10, MIB),
    calm_seconds=30,
    pause_seconds=1.5,
    drain_seconds=600,
    poison=(SLEEP, EXIT),
)
SMALL = Size(
    shapes=6,
    bytes=(20 << 10,),
    calm_seconds=2,
    pause_seconds=0.1,
    drain_seconds=120,
    poison=(EXIT,),
)


@dataclass(slots=True)
class Sender:
    """Sends requests until they are acknowledged; `acknowledged` holds the times by trace id."""

    address: str
    acknowledged: dict[bytes, float] = field(default_factory=dict)

    def send(self, client: httpx2.Client, trace_id: bytes, body: bytes) -> None:
        """Returns once the daemon has acknowledged the request."""
        headers = {"content-type": "application/x-protobuf"}
        while trace_id not in self.acknowledged:
            try:
                reply = client.post(
                    f"http://{self.address}/v1/traces", content=body, headers=headers
                )
                reply.raise_for_status()
                self.acknowledged[trace_id] = time.monotonic()
            except httpx2.HTTPError:  # the daemon is being restarted
                time.sleep(0.1)


@contextmanager
def ordinary_traffic(sender: Sender, name: str) -> Iterator[None]:
    """Sends ordinary answers at SPANS_A_SECOND until the end of the block."""
    done = threading.Event()

    def run() -> None:
        began = time.monotonic()
        number = 0
        with httpx2.Client(timeout=30) as client:
            while not done.is_set():
                trace_id = trace_id_of(f"{name} {number}")
                sender.send(client, trace_id, one_answer(trace_id))
                number += 1
                done.wait(max(0.0, began + number * SPANS / SPANS_A_SECOND - time.monotonic()))

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def hostile_requests(size: Size, rng: random.Random) -> Iterator[tuple[str, bytes, bytes]]:
    """Name, trace id and body of each hostile record, in an order that mixes sizes and places."""
    kinds = [
        (shape, PLACES[(number + step) % len(PLACES)], bytes_)
        for step, bytes_ in enumerate(size.bytes)
        for number, shape in enumerate(list(SHAPES)[: size.shapes])
    ]
    rng.shuffle(kinds)
    for shape, place, bytes_ in kinds:
        text = SHAPES[shape](bytes_)
        name = f"{shape}, {place}, {bytes_ >> 10} KiB"
        trace_id = trace_id_of(name)
        yield name, trace_id, one_answer(trace_id, **_placed(text, place))


def _placed(text: str, place: str) -> dict[str, Any]:
    if place == "everywhere":
        return {"answer": text, "question": text, "chunks": [text]}
    if place == "document id":
        return {"answer": f"{ANSWER} [{text}]", "document_ids": [text]}
    if place == "chunk":
        return {"chunks": [CHUNK, text]}
    return {"answer": ANSWER, "question": QUESTION, place: text}


def waits(sender: Sender, seen: Arrivals, ids: set[bytes]) -> dict[bytes, float]:
    """Seconds from acknowledged to durable of the records of `ids` that are durable."""
    return {key: seen.seconds[key] - sender.acknowledged[key] for key in ids & seen.seconds.keys()}


def wait_until_durable(daemon: ChildDaemon, spans: int, seconds: float) -> dict[str, int]:
    """The books once `spans` have left the spool, or when patience ends."""
    deadline = time.monotonic() + seconds
    books: dict[str, int] = {}
    while time.monotonic() < deadline:
        try:
            books = dict(daemon.get("ledger")["spans"])
        except httpx2.HTTPError:  # the core is being restarted
            books = {}
        if books.get("acknowledged") == spans and not books["in_spool"]:
            break
        time.sleep(0.5)
    return books


def outcomes(daemon: ChildDaemon, hostile: Mapping[str, bytes]) -> Counter[str]:
    """How many hostile records were scored, took too long, or have no scores."""
    counts: Counter[str] = Counter()
    for name, trace_id in hostile.items():
        records = _records(daemon, trace_id)
        scores = [score for record in records for score in record["scores"]]
        is_late = any(score.get("explanation") == TOOK_TOO_LONG for score in scores)
        outcome = "took_too_long" if is_late else "scored" if scores else "missing"
        counts[outcome] += 1
        if outcome != "scored":
            progress(f"{outcome}: {name}")
    return counts


def _records(daemon: ChildDaemon, trace_id: bytes) -> list[Any]:
    """The records of a trace; none if there is no such trace. Asks again while the API is busy."""
    for _ in range(BUSY_TRIES):
        reply = httpx2.get(f"http://{daemon.web}/api/v1/traces/{trace_id.hex()}", timeout=60)
        if reply.status_code == 200:
            return list(reply.json()["records"])
        if reply.status_code != 503:
            break
        time.sleep(float(reply.headers.get("retry-after", 1)))
    return []


def texts(folder: Path, size: Size, rng: random.Random) -> tuple[dict[str, Any], dict[str, bool]]:
    """Figures and bars of the hostile texts."""
    with arrivals() as seen, running(folder, settings=seen.settings) as daemon:
        sender, hostile = Sender(daemon.http), dict[str, bytes]()
        with ordinary_traffic(sender, "ordinary"), httpx2.Client(timeout=60) as client:
            time.sleep(size.calm_seconds)
            calm = set(sender.acknowledged)
            for name, trace_id, body in hostile_requests(size, rng):
                sender.send(client, trace_id, body)
                hostile[name] = trace_id
                progress(f"{len(hostile)}: {name}")
                time.sleep(size.pause_seconds)
        ordinary = sender.acknowledged.keys() - set(hostile.values())
        books = wait_until_durable(daemon, SPANS * len(sender.acknowledged), size.drain_seconds)
        counts = outcomes(daemon, hostile)
        before = waits(sender, seen, calm)
        after = waits(sender, seen, ordinary - calm)
        own = waits(sender, seen, set(hostile.values()))
    slowest = sorted(((own.get(key, -1.0), name) for name, key in hostile.items()), reverse=True)
    usual = max(before.values(), default=0.0)
    longest = max(after.values(), default=0.0)
    figures: dict[str, Any] = {
        "hostile_records": len(hostile),
        "ordinary_records": len(ordinary),
        "usual_wait_seconds_max": round(usual, 2),
        "wait_seconds_median": round(statistics.median(after.values()), 2) if after else None,
        "wait_seconds_max": round(longest, 2),
        "stalls": sum(wait > usual + STALL_SECONDS for wait in after.values()),
        "slowest_hostile": [f"{name}: {seconds:.1f} s" for seconds, name in slowest[:5]],
        "outcomes": dict(counts),
        "ledger": books,
    }
    bars = {
        "all hostile records are scored or took too long": counts["missing"] == 0,
        "the books balance, all is stored": books.get("stored") == SPANS * len(sender.acknowledged),
        "every ordinary record became durable": len(before) + len(after) == len(ordinary),
    }
    if size is FULL:
        bars["0 stalls over 1 s"] = figures["stalls"] == 0
    return figures, bars


def poison(folder: Path, size: Size) -> tuple[dict[str, Any], dict[str, bool]]:
    """Figures and bars of answers that a plug-in scorer never comes back from."""
    settings = dict(poisonous(folder))
    settings["RAGVIGIL_COLLECTOR__HTTP_ENDPOINT"] = f"127.0.0.1:{free_port()}"
    daemon = start(folder / "data", settings=settings)
    try:
        daemon.wait_ready(60)
        sender = Sender(daemon.http)
        began = time.monotonic()
        with ordinary_traffic(sender, "beside"), httpx2.Client(timeout=60) as client:
            for text in size.poison:
                trace_id = trace_id_of(text)
                sender.send(client, trace_id, one_answer(trace_id, answer=f"{text}."))
            time.sleep(size.calm_seconds)  # the first of them has stopped the core, or ended it
            status = daemon.stop()
            daemon = start(folder / "data", settings=settings)
            time.sleep(size.calm_seconds)
        spans = SPANS * len(sender.acknowledged)
        books = wait_until_durable(daemon, spans, size.drain_seconds)
        seconds = time.monotonic() - began
        suspects = json.loads((folder / "data" / "suspects.json").read_text(encoding="utf-8"))
        quarantined = {name for name, suspect in suspects.items() if suspect["points"] >= 4}
        again = daemon.stop()
        daemon = start(folder / "data", settings=settings)
        daemon.wait_ready(60)
        last = wait_until_durable(daemon, spans, size.drain_seconds)
        restarts = httpx2.get(f"http://{daemon.metrics}/metrics", timeout=30).text
    finally:
        daemon.stop()
    names = {f"trace {trace_id_of(text).hex()}" for text in size.poison}
    figures = {"ledger": last, "until_all_was_stored_seconds": round(seconds, 1)}
    return {"poison": figures}, {
        "poison costs itself alone": quarantined == names
        and books.get("quarantined") == SPANS * len(size.poison)
        and books.get("stored") == spans - SPANS * len(size.poison),
        "also across restarts": last == books
        and 'ragvigil_core_restarts_total{reason="stalled"} 0.0' in restarts
        and 'ragvigil_core_restarts_total{reason="crashed"} 0.0' in restarts,
        "SIGTERM ends with status 0": status == again == 0,
    }


def main() -> None:
    """Runs both parts and prints the verdict."""
    parser = size_parser(__doc__)
    parser.add_argument("--seed", type=int, default=21)
    options = parser.parse_args()
    size = SMALL if options.small else FULL
    with tempfile.TemporaryDirectory() as folder:
        figures, bars = texts(Path(folder, "texts"), size, random.Random(options.seed))
        progress(json.dumps(figures))
        poisoned, poison_bars = poison(Path(folder, "poison"), size)
    finish("hostile", figures | poisoned, bars | poison_bars, seed=options.seed)


if __name__ == "__main__":
    main()
