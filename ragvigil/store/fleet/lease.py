"""Who leads: one analyst of a fleet holds the lease, the others stand by.

The lease is a row of entries with consecutive numbers. Whoever adds the next number alone holds it
until that entry ends; two who add the same number see each other, and neither has it. So it needs
a table that shows an entry to everybody once it is added, or one that refuses a number it has:
a table of one server does the former, a KeeperMap the latter.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ragvigil.store.engine.errors import Fenced
from ragvigil.store.fleet.lease_table import Entry

LEASE_SECONDS, GRACE_SECONDS = 24.0, 4.0
"""How long an entry holds, and how long others wait after it: a write that began before its end
is then done."""
BEAT_SECONDS, STANDBY_SECONDS = 6.0, 3.0
"""How often the holder renews, and how often one who stands by looks."""


class Entries(Protocol):
    """Where entries are; `LeaseTable` is."""

    def newest(self) -> Sequence[Entry]:
        """The newest entries, newest first."""
        ...

    def add(self, entry: Entry, seconds: float) -> Sequence[Entry]:
        """Adds an entry; returns what then lies under its number."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Leader:
    """Who led when the lease was looked at last, and where its web is."""

    holder: str = ""
    epoch: int = 0
    address: str = ""


class Lease:
    """The lease as one daemon sees it. `hold` is for one thread, the rest for any.

    `holder` names the daemon; nobody else may have that name. An epoch counts the times that the
    lease changed hands.
    """

    def __init__(
        self,
        entries: Entries,
        holder: str,
        *,
        address: str = "",
        seconds: float = LEASE_SECONDS,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._entries, self._holder, self._address = entries, holder, address
        self._seconds, self._monotonic = seconds, monotonic
        self._number = 0
        self._ends = self._ends_ms = 0.0
        self.epoch = 0
        """The epoch in which this daemon leads; 0 before it led, and for good after it lost."""
        self.is_lost = False
        """Whether this daemon led and another took the lease: only a new life may lead again."""
        self.leader = Leader()

    @property
    def is_held(self) -> bool:
        """Whether the lease is surely ours now: by our own clock, without asking anybody."""
        return bool(self.epoch) and self._monotonic() < self._ends

    def hold(self) -> bool:
        """Takes the lease if it is free, renews it if it is ours; returns whether we lead.

        Raises StoreError while the server does not answer; what we hold then runs out.
        """
        if self.is_lost:
            return False
        asked = self._monotonic()
        entries = self._entries.newest()
        self.leader = _leader(entries)
        if not self._may_add(entries):
            return False
        ours = Entry(
            number=max((entry.number for entry in entries), default=0) + 1,
            holder=self._holder,
            epoch=self.epoch or max((entry.epoch for entry in entries), default=0) + 1,
            address=self._address,
            until_ms=0,
            now_ms=0,
        )
        added = self._entries.add(ours, self._seconds)
        if len(added) != 1 or (added[0].holder, added[0].epoch) != (self._holder, ours.epoch):
            self._lose()
            return False
        self._number, self.epoch = ours.number, ours.epoch
        self._ends, self._ends_ms = asked + self._seconds, added[0].until_ms
        self.leader = _leader(added)
        return True

    def condition(self) -> str:
        """What a write of the leader's tables must fulfil, as SQL that throws if it does not.

        The server looks at it when it runs the statement: however long this process was stopped
        between looking at its lease and sending, a write of a former leader changes nothing.
        Raises Fenced if the lease is not held.
        """
        if not self.is_held:
            raise Fenced("this daemon does not lead: another analyst has the lease, or none can")
        return (
            f"throwIf(toUnixTimestamp64Milli(now64(3)) >= {int(self._ends_ms)} "
            f"OR (SELECT max(epoch) FROM leases) > {self.epoch}, 'fenced') = 0"
        )

    def _may_add(self, entries: Sequence[Entry]) -> bool:
        """Whether the next entry may be ours: the lease is ours, or nobody's."""
        if self.epoch:
            if any(
                entry.number >= self._number
                and (entry.holder, entry.epoch) != (self._holder, self.epoch)
                for entry in entries
            ):
                self._lose()
                return False
            return True
        # An entry of our own name is of an earlier life, which the lock of the folder has ended.
        return not any(
            entry.until_ms + GRACE_SECONDS * 1000 > entry.now_ms
            for entry in entries
            if entry.holder != self._holder
        )

    def _lose(self) -> None:
        self.is_lost, self.epoch, self._ends = bool(self.epoch), 0, 0.0


def _leader(entries: Sequence[Entry]) -> Leader:
    """Who has the newest entry that has not ended; nobody where there is none."""
    for entry in entries:
        if entry.until_ms > entry.now_ms:
            return Leader(holder=entry.holder, epoch=entry.epoch, address=entry.address)
    return Leader()
