"""A writer killed in another process: what it acknowledged is there, and the reader saw no more."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

from collector.spool.files import RealFiles
from collector.spool.journal import Journal
from collector.spool.reader import SpoolReader
from ragvigil.app.process.tied import start_tied

WRITER = """
import asyncio, sys
from pathlib import Path
from collector.spool.spool import SpoolWriter
from ragvigil.model.span import Signal

async def append(spool, number):
    payload = b"%d" % number * 50
    seq = await spool.append(payload, signal=Signal.TRACES, items=1, received_unix_nano=1)
    print(seq, number, flush=True)

async def main():
    spool = await SpoolWriter.open(Path(sys.argv[1]), segment_bytes=20_000)
    for number in range(0, 1_000_000, 8):
        await asyncio.gather(*(append(spool, number + k) for k in range(8)))

asyncio.run(main())
"""


def killed_run(directory: Path, reader: SpoolReader, lines: int) -> dict[int, bytes]:
    """Payloads by seq that a writer acknowledged before it was killed behind `lines` of them."""
    process = start_tied(
        [sys.executable, "-c", WRITER, str(directory)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    acknowledged: dict[int, bytes] = {}
    while len(acknowledged) < lines:
        seq, number = map(int, process.stdout.readline().split())
        acknowledged[seq] = b"%d" % number * 50
        assert reader.durable_seq >= seq
        assert reader.get(seq).payload == acknowledged[seq]
    process.kill()
    for line in process.stdout.read().splitlines(keepends=True):
        if line.endswith("\n"):  # the last line may be cut
            seq, number = map(int, line.split())
            acknowledged[seq] = b"%d" % number * 50
    process.wait()
    return acknowledged


def test_a_killed_writer_loses_nothing_that_it_acknowledged(tmp_path: Path) -> None:
    rng = random.Random(4)
    acknowledged: dict[int, bytes] = {}
    reader = SpoolReader(tmp_path)  # of a core that outlives the writers
    for _ in range(3):
        acknowledged |= killed_run(tmp_path, reader, lines=rng.randint(1, 300))
    recovery = Journal(RealFiles(), tmp_path).recovery
    assert (recovery.damaged, recovery.lost_spans, recovery.failed) == (0, 0, 0)
    found = {frame.seq: frame.payload for frame in SpoolReader(tmp_path).read(0)}
    assert acknowledged.items() <= found.items()
    assert {frame.seq: frame.payload for frame in reader.read(0)} == found
