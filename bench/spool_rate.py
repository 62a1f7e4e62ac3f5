"""How fast the spool makes records durable, and how long a sender waits for that.

4-KB records from 8, 64 and 256 senders that each wait for their acknowledgement; then one reader.
"""

from __future__ import annotations

import asyncio
import random
import shutil
import tempfile
import time
from pathlib import Path

from bench.rig.options import size_parser
from bench.rig.report import finish, progress
from collector.spool.reader import SpoolReader
from collector.spool.spool import SpoolWriter
from ragvigil.model.span import Signal

SEED = 20_261
RECORD_BYTES = 4096
SENDERS = (8, 64, 256)


async def append_all(directory: Path, payload: bytes, records: int, senders: int) -> list[float]:
    """Seconds that each append waited, sorted, and the whole run's seconds last."""
    spool = await SpoolWriter.open(directory)
    left, waits = iter(range(records)), []

    async def sender() -> None:
        for _ in left:
            began = time.perf_counter()
            await spool.append(payload, signal=Signal.TRACES, items=1, received_unix_nano=1)
            waits.append(time.perf_counter() - began)

    began = time.perf_counter()
    await asyncio.gather(*(sender() for _ in range(senders)))
    took = time.perf_counter() - began
    await spool.close()
    return [*sorted(waits), took]


def measure(folder: Path, records: int, senders: int, payload: bytes) -> dict[str, float]:
    """Records a second, waits in milliseconds, and how many records a second are read back."""
    directory = folder / f"senders-{senders}"
    *waits, took = asyncio.run(append_all(directory, payload, records, senders))
    began = time.perf_counter()
    found = sum(1 for _ in SpoolReader(directory).read(0))
    read_took = time.perf_counter() - began
    return {
        "found": found,
        "per_second": round(records / took),
        "p50_ms": round(waits[records // 2] * 1e3, 2),
        "p99_ms": round(waits[records * 99 // 100] * 1e3, 2),
        "read_per_second": round(found / read_took),
    }


def main() -> None:
    """Measures each number of senders on the disk of the working folder."""
    parser = size_parser(__doc__, small="counts only, 2,000 records")
    given = parser.parse_args()
    records = 2_000 if given.small else 40_000
    payload = random.Random(SEED).randbytes(RECORD_BYTES)
    folder = Path(tempfile.mkdtemp(dir=Path.cwd(), prefix=".spool-rate-"))
    try:
        runs = {senders: measure(folder, records, senders, payload) for senders in SENDERS}
    finally:
        shutil.rmtree(folder)
    for senders, run in runs.items():
        progress(f"{senders} senders: {run}")
    bars = {"every record is read back": all(run["found"] == records for run in runs.values())}
    if not given.small:
        best = max(run["per_second"] for run in runs.values())
        bars[">= 20,000 records a second"] = best >= 20_000
        bars["p99 <= 50 ms"] = all(run["p99_ms"] <= 50 for run in runs.values())
    figures: dict[str, object] = {f"senders_{senders}": run for senders, run in runs.items()}
    finish("spool_rate", figures, bars, seed=SEED)


if __name__ == "__main__":
    main()
