"""Minutes are handed over once, and none is lost between threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from ragvigil.app.pipeline.dirty_minutes import DirtyMinutes


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
