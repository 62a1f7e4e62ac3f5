"""The disk under `data_dir`: its free space and its metrics."""

from __future__ import annotations

from pathlib import Path

from prometheus_client import Gauge

from collector.spool.reserve import reserve_of, space_of

FREE = Gauge("ragvigil_disk_free_bytes", "Bytes that the daemon may still write under data_dir.")
TOTAL = Gauge("ragvigil_disk_total_bytes", "Size of the file system under data_dir.")
RESERVE = Gauge(
    "ragvigil_disk_reserve_bytes",
    "Free bytes under data_dir below which spans are refused, so that the store can go on.",
)
SPOOL = Gauge(
    "ragvigil_spool_bytes", "Size of the spool: frames that wait, and those kept for late spans."
)


def watch_disk(data_dir: Path, reserve: int | None = None) -> None:
    """Makes every scrape read the disk; call it in the intake, which outlives the core.

    `reserve` is the setting. A scrape raises OSError if `data_dir` is gone.
    """
    FREE.set_function(lambda: space_of(data_dir).free)
    TOTAL.set_function(lambda: space_of(data_dir).total)
    RESERVE.set_function(lambda: reserve_of(space_of(data_dir).total, reserve))
    SPOOL.set_function(lambda: _size(data_dir / "spool"))


def _size(folder: Path) -> int:
    """Bytes of the files in a folder; 0 if there is no folder."""
    total = 0
    for path in folder.glob("*"):
        try:
            total += path.stat().st_size
        except FileNotFoundError:  # the core deleted the segment since `glob` listed it
            continue
    return total
