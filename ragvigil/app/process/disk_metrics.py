"""What Prometheus reads of the disk under `data_dir`: where it is full, spans are refused."""

from __future__ import annotations

import shutil
from pathlib import Path

from prometheus_client import Gauge

FREE = Gauge("ragvigil_disk_free_bytes", "Bytes that the daemon may still write under data_dir.")
TOTAL = Gauge("ragvigil_disk_total_bytes", "Size of the file system under data_dir.")
SPOOL = Gauge(
    "ragvigil_spool_bytes", "Size of the spool: frames that wait, and those kept for late spans."
)


def watch_disk(data_dir: Path) -> None:
    """From now on every scrape looks at the disk; call it in the intake, which outlives the core.

    A scrape fails with OSError where `data_dir` is gone.
    """
    FREE.set_function(lambda: shutil.disk_usage(data_dir).free)
    TOTAL.set_function(lambda: shutil.disk_usage(data_dir).total)
    SPOOL.set_function(lambda: _size(data_dir / "spool"))


def _size(folder: Path) -> int:
    """Bytes of the files in a folder, 0 where there is none; a file just deleted counts 0."""
    total = 0
    for path in folder.glob("*"):
        try:
            total += path.stat().st_size
        except FileNotFoundError:
            continue
    return total
