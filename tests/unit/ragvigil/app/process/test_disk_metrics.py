"""What Prometheus reads of the disk."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragvigil.app.process.disk_metrics import FREE, RESERVE, SPOOL, TOTAL, watch_disk


@pytest.fixture(autouse=True)
def a_folder_that_stays() -> Iterator[None]:
    """What other tests scrape is no folder of these tests, which is gone by then."""
    yield
    watch_disk(Path(__file__).parent)


def value(gauge: object) -> float:
    (family,) = gauge.collect()  # type: ignore[attr-defined]
    return float(family.samples[0].value)


def test_every_scrape_looks_at_the_disk_again(tmp_path: Path) -> None:
    watch_disk(tmp_path)
    assert value(SPOOL) == 0
    spool = tmp_path / "spool"
    spool.mkdir()
    (spool / "0001.frames").write_bytes(b"x" * 700)
    (spool / "0002.frames").write_bytes(b"x" * 77)
    assert value(SPOOL) == 777
    (spool / "0001.frames").unlink()
    assert value(SPOOL) == 77


def test_free_is_a_part_of_the_whole(tmp_path: Path) -> None:
    watch_disk(tmp_path)
    assert 0 < value(FREE) <= value(TOTAL) == shutil.disk_usage(tmp_path).total


def test_the_reserve_is_that_of_the_setting(tmp_path: Path) -> None:
    watch_disk(tmp_path, 4711)
    assert value(RESERVE) == 4711
