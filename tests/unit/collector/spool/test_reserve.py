"""The spool leaves a part of the disk to the store."""

from __future__ import annotations

import pytest

from collector.spool.reserve import CHECK_SECONDS, DiskReserve, Space, reserve_of

MB, GB = 1 << 20, 1 << 30


@pytest.mark.parametrize(
    ("total", "reserve"),
    [
        (1000 * GB, 50 * GB),
        (100 * GB, 5 * GB),
        (4 * GB, 512 * MB),
        (1 * GB, 512 * MB),
        (100 * MB, 50 * MB),
        (0, 0),
    ],
)
def test_the_reserve_is_five_percent_at_least_512_mb_at_most_half(total: int, reserve: int) -> None:
    assert reserve_of(total, None) == reserve
    assert reserve_of(total, 7 * MB) == 7 * MB


class Disk:
    """A disk of 100 bytes whose reserve is 20; counts the looks."""

    def __init__(self) -> None:
        self.free, self.looks, self.now, self.is_broken = 100, 0, 0.0, False
        self.reserve = DiskReserve(self.space, 20, lambda: self.now)

    def space(self) -> Space:
        self.looks += 1
        if self.is_broken:
            raise OSError("no such device")
        return Space(free=self.free, total=100)

    def is_touched(self, free: int) -> bool:
        self.free = free
        self.now += 2 * CHECK_SECONDS
        return self.reserve.is_touched()


def test_it_begins_below_the_reserve_and_ends_a_tenth_above_it() -> None:
    disk = Disk()
    assert [disk.is_touched(free) for free in (20, 19, 20, 21, 22, 21, 20, 19)] == [
        False, True, True, True, False, False, False, True,
    ]  # fmt: skip


def test_requests_between_two_looks_cost_no_look() -> None:
    disk = Disk()
    for _ in range(1000):
        assert not disk.reserve.is_touched()
    assert disk.looks == 1


def test_a_disk_that_cannot_be_looked_at_keeps_its_last_answer() -> None:
    disk = Disk()
    assert disk.is_touched(5)
    disk.is_broken = True
    assert disk.is_touched(100)
