"""Minutes are handed over once, and none is lost between threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from ragvigil.app.pipeline.dirty_minutes import MOST_STALE, DirtyMinutes


def test_minutes_are_taken_once() -> None:
    dirty = DirtyMinutes()
    dirty.add({60, 120})
    dirty.add([120, 180])
    assert dirty.take() == {60, 120, 180}
    assert dirty.take() == set()


def test_minutes_that_could_not_be_rolled_up_are_taken_again() -> None:
    dirty = DirtyMinutes()
    dirty.add({60})
    minutes = dirty.take()
    dirty.add({120})
    dirty.add(minutes)
    assert dirty.take() == {60, 120}


def test_no_minute_is_lost_between_threads() -> None:
    dirty = DirtyMinutes()

    def add(thread: int) -> None:
        for minute in range(2_000):
            dirty.add([thread * 2_000 + minute])

    taken: list[int] = []
    with ThreadPoolExecutor(3) as threads:
        adding = [threads.submit(add, thread) for thread in range(3)]
        while not all(future.done() for future in adding):
            taken += dirty.take()
    taken += dirty.take()
    assert sorted(taken) == list(range(6_000))


def test_what_no_life_has_rolled_up_is_left_to_the_next(tmp_path: Path) -> None:
    file = tmp_path / "minutes.json"
    first = DirtyMinutes(file)
    first.add([60, 120])
    first.take()
    second = DirtyMinutes(file)
    second.add([180])
    assert DirtyMinutes(file).take() == {60, 120, 180}


def test_minutes_that_are_done_are_not_kept_for_long(tmp_path: Path) -> None:
    file = tmp_path / "minutes.json"
    dirty = DirtyMinutes(file)
    dirty.add(range(0, 60 * (MOST_STALE + 1), 60))
    minutes = dirty.take()
    dirty.add([6000])
    dirty.done(minutes)
    assert DirtyMinutes(file).take() == {6000}


def test_a_minute_that_is_added_again_while_it_is_rolled_up_stays(tmp_path: Path) -> None:
    file = tmp_path / "minutes.json"
    dirty = DirtyMinutes(file)
    dirty.add([60])
    taken = dirty.take()
    dirty.add([60])
    dirty.done(taken)
    assert 60 in DirtyMinutes(file).take()
    assert dirty.take() == {60}


@pytest.mark.parametrize("content", [b"", b"{", b"7", b'["a"]', b"[-60, 6000000000]"])
def test_a_damaged_file_is_no_reason_to_stop(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "minutes.json"
    file.write_bytes(content)
    assert DirtyMinutes(file).take() == set()


def test_a_file_that_cannot_be_written_is_no_reason_to_stop(tmp_path: Path) -> None:
    dirty = DirtyMinutes(tmp_path / "away" / "minutes.json")
    dirty.add([60])
    assert dirty.take() == {60}
