"""A spool and a store, each damaged in twenty ways: the daemon starts, and counts what is lost.

    .venv/bin/python bench/damage.py [--small] [--seed N]

A daemon stores some answers and stops; more are acknowledged into its spool. Each damage is done
to a copy, on which a daemon starts. With a damaged spool it must become ready, and stored,
duplicate, quarantined, lost and what is still in the spool must be what was acknowledged, to the
span. With a damaged store it must become ready and set aside, count or say what is missing, or say
in one sentence what to do; its receivers must acknowledge in any case. The negative control leaves
what is lost out of the sum, which must then miss it.
"""

from __future__ import annotations

import asyncio
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import httpx2

from bench.rig import otlp_requests
from bench.rig.options import size_parser
from bench.rig.report import finish, progress
from collector.spool.spool import SpoolWriter
from ragvigil.app.demo.child_daemon import ChildDaemon, running, start
from ragvigil.model.span import Signal
from tests.faults.spool_damages import DAMAGES, flip

SEED = 16
FIRST, LATER = 4, 12
"""Requests that are stored, and requests that are only acknowledged when the damage comes."""
TRACES = 5
"""Of a request: few, as the daemon is started fifty times, and not to score."""
SPANS = TRACES * otlp_requests.SPANS_A_TRACE
ACKNOWLEDGED = (FIRST + LATER) * SPANS
WAIT_SECONDS = 900.0
SMALL_SPOOL = ("a segment in the middle removed", "a bit flipped in a payload", "the mark removed")
SMALL_STORE = ("a part cut short", "a table's definition emptied", "the store removed")
SETTINGS = {"RAGVIGIL_INFERENCE__ENABLED": "false", "RAGVIGIL_CLUSTERING__ENABLED": "false"}


def largest(part: Path) -> Path:
    """The largest file of a part."""
    return max(part.glob("*.bin"), key=lambda path: path.stat().st_size)


def part_of(store: Path, table: str) -> Path:
    """A part of a table."""
    return next((store / "data" / "ragvigil" / table).glob("*_*_*_*"))


def definition(store: Path, table: str) -> Path:
    """The file that defines a table."""
    return store / "metadata" / "ragvigil" / f"{table}.sql"


def cut(path: Path, size: int) -> None:
    """Leaves `size` bytes."""
    path.write_bytes(path.read_bytes()[:size])


def to_a_file(folder: Path) -> None:
    """A file instead of the folder."""
    shutil.rmtree(folder)
    folder.write_bytes(b"x")


def empty(folder: Path) -> None:
    """Removes the files of a folder."""
    for path in folder.iterdir():
        path.unlink()


STORE_DAMAGES: dict[str, Callable[[Path], object]] = {
    "a part cut short": lambda store: cut(largest(part_of(store, "spans")), 10),
    "a part emptied": lambda store: cut(largest(part_of(store, "scores")), 0),
    "a bit flipped in a part": lambda store: flip(largest(part_of(store, "traces")), 300),
    "a bit flipped in the ledger": lambda store: flip(largest(part_of(store, "ledger")), 100),
    "the checksums of a part removed": lambda store: (
        part_of(store, "spans") / "checksums.txt"
    ).unlink(),
    "the columns of a part removed": lambda store: (
        part_of(store, "spans") / "columns.txt"
    ).unlink(),
    "the count of a part garbled": lambda store: (
        part_of(store, "records") / "count.txt"
    ).write_bytes(b"x"),
    "a file of a part removed": lambda store: largest(part_of(store, "spans")).unlink(),
    "a part without files": lambda store: empty(part_of(store, "spans")),
    "a part of the ledger removed": lambda store: shutil.rmtree(part_of(store, "ledger")),
    "the table of migrations emptied": lambda store: shutil.rmtree(part_of(store, "migrations")),
    "a table's definition emptied": lambda store: cut(definition(store, "spans"), 0),
    "a table's definition garbled": lambda store: definition(store, "spans").write_bytes(b"\xff;"),
    "a table's definition removed": lambda store: definition(store, "spans").unlink(),
    "the database's definition garbled": lambda store: (
        store / "metadata" / "ragvigil.sql"
    ).write_bytes(b"garbage"),
    "the database's definition removed": lambda store: (
        store / "metadata" / "ragvigil.sql"
    ).unlink(),
    "a version that nobody knows": lambda store: (
        store / "data" / "ragvigil" / "spans" / "format_version.txt"
    ).write_bytes(b"99"),
    "the files of a table removed": lambda store: shutil.rmtree(
        (store / "data" / "ragvigil" / "spans").resolve()
    ),
    "a file instead of the store": to_a_file,
    "the store removed": shutil.rmtree,
    "foreign files in the store": lambda store: (store / "data" / "notes.txt").write_bytes(b"x"),
}


async def acknowledge(spool: Path, requests: list[bytes]) -> None:
    """Puts requests into the spool as the intake does, over several segments."""
    writer = await SpoolWriter.open(
        spool, segment_bytes=200_000, least_seq=int(time.time() + 1) << 20
    )
    for body in requests:
        await writer.append(
            body,
            signal=Signal.TRACES,
            items=SPANS,
            received_unix_nano=time.time_ns(),
        )
    await writer.close()


def template(folder: Path, seed: int) -> None:
    """A data directory with stored spans, and acknowledged ones in its spool."""
    requests = otlp_requests.make((FIRST + LATER) * TRACES, seed=seed, per_request=TRACES)
    with running(folder, settings=SETTINGS) as daemon:
        for body in requests[:FIRST]:
            assert send(daemon, body)
        settled(daemon)
    asyncio.run(acknowledge(folder / "spool", requests[FIRST:]))
    (folder / "daemon.log").unlink()


def send(daemon: ChildDaemon, body: bytes) -> bool:
    """Whether the daemon acknowledges the request in time."""
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        try:
            reply = httpx2.post(
                f"http://{daemon.http}/v1/traces",
                content=body,
                headers={"content-type": "application/x-protobuf"},
                timeout=60,
            )
        except httpx2.TransportError:
            time.sleep(0.1)
            continue
        return reply.status_code == 200
    return False


def settled(daemon: ChildDaemon) -> dict[str, int]:
    """The ledger once nothing is left in the spool, or as it is when patience ends."""
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            spans = dict(daemon.get("ledger")["spans"])
        except httpx2.HTTPError:  # the core is starting again
            spans = {"in_spool": 1}
        if not spans["in_spool"] or time.monotonic() > deadline:
            return spans
        time.sleep(0.2)


def after_spool_damage(folder: Path, name: str) -> dict[str, int]:
    """The ledger of a daemon that starts on the damaged spool; empty if it does not start."""
    spool = folder / "spool"
    newest = sorted(spool.glob("*.seg"))[-6:]
    DAMAGES[name](spool, newest)
    daemon = start(folder, settings=SETTINGS)
    try:
        daemon.wait_ready()
        return settled(daemon)
    finally:
        daemon.stop()


def after_store_damage(folder: Path, name: str, seed: int) -> str:
    """What the daemon says of its damaged store; "" if it says nothing or does not acknowledge."""
    STORE_DAMAGES[name](folder / "store")
    (body,) = otlp_requests.make(TRACES, seed=seed + 1, per_request=TRACES)
    daemon = start(folder, settings=SETTINGS)
    try:
        if not send(daemon, body):
            return ""
        said = verdict(daemon)
        log = daemon.last_lines()
        return "" if "Traceback" in log and "does not open" in said else said
    finally:
        daemon.stop()


def verdict(daemon: ChildDaemon) -> str:
    """Waits until the daemon is ready or says why it is not; what it says of the damage."""
    deadline = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < deadline:
        try:
            reply = httpx2.get(f"http://{daemon.metrics}/readyz", timeout=60)
        except httpx2.TransportError:
            time.sleep(0.1)
            continue
        if reply.status_code == 200:
            return told(daemon)
        reason = reply.text.strip()
        if not reason.startswith("the core process") and len(reason.splitlines()) == 1:
            return reason
        time.sleep(0.2)
    return ""


def told(daemon: ChildDaemon) -> str:
    """What a daemon that runs says of the damage: parts set aside, an empty store, or none."""
    spans = settled(daemon)
    aside = daemon.get("status")["store"]["parts_set_aside"]
    metrics = httpx2.get(f"http://{daemon.metrics}/metrics", timeout=60).text
    if "ragvigil_store_emptied 1.0" in metrics:
        return "ready; the store was found empty"
    return f"ready; set aside {aside}" if aside else f"ready; {spans['stored']} spans stored"


def copies(folder: Path, names: list[str], seed: int) -> tuple[dict[str, object], dict[str, bool]]:
    """Every damage of `names` on a copy of one template: figures and bars."""
    original = folder / "original"
    template(original, seed)
    ledgers: dict[str, dict[str, int]] = {}
    verdicts: dict[str, str] = {}
    for name in names:
        copy = folder / "copy"
        shutil.copytree(original, copy, symlinks=True)
        if name in DAMAGES:
            ledgers[name] = after_spool_damage(copy, name)
            progress(f"{name}: {ledgers[name]}")
        else:
            verdicts[name] = after_store_damage(copy, name, seed)
            progress(f"{name}: {verdicts[name]}")
        shutil.rmtree(copy)
    wrong = {name: spans for name, spans in ledgers.items() if not is_whole(spans)}
    silent = [name for name, said in verdicts.items() if not said]
    lost = {name: spans["lost"] for name, spans in ledgers.items() if spans.get("lost")}
    control = [name for name in lost if is_whole(ledgers[name] | {"lost": 0})]
    bars = {
        "starts and counts every span, whatever the spool's damage": not wrong,
        "starts, or says in a sentence what to do, whatever the store's damage": not silent,
        "some damage lost spans, and without them the sum is wrong": bool(lost) and not control,
    }
    figures: dict[str, object] = {
        "spool_damages": len(ledgers),
        "store_damages": len(verdicts),
        "spans_acknowledged": ACKNOWLEDGED,
        "lost": lost,
        "wrong": wrong,
        "silent": silent,
    }
    return figures, bars


def is_whole(spans: dict[str, int]) -> bool:
    """Whether the places of the spans add up to what was acknowledged."""
    places = ("stored", "duplicate", "quarantined", "lost", "in_spool")
    return bool(spans) and sum(spans[place] for place in places) == ACKNOWLEDGED


def main() -> None:
    parser = size_parser(__doc__, small="three damages of each")
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    names = [*SMALL_SPOOL, *SMALL_STORE] if options.small else [*DAMAGES, *STORE_DAMAGES]
    with tempfile.TemporaryDirectory() as folder:
        figures, bars = copies(Path(folder), names, options.seed)
    finish("damage", figures, bars, seed=options.seed)


if __name__ == "__main__":
    main()
