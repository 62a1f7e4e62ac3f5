"""Live traffic and declared backfills side by side: one assembly each, each with its own clock.

Live traces close by the monotonic clock. A backfill's traces close by event time: its clock is
the latest end of a span seen, so 8 days close in the order in which they happened.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from collector.assembly.assembly import Assembly
from collector.assembly.refs import Arrival, Closing, LogArrival
from collector.assembly.settings import AssemblyLimits
from collector.spool.frames import Frame
from ragvigil.model.span import Closed

BACKFILL_IDLE_SECONDS = 3.0
"""A backfill that sends no frame for this long has ended: its open traces close."""


@dataclass(slots=True)
class _Backfill:
    assembly: Assembly
    event_now: float = 0.0
    last_frame: float = 0.0


class Assemblies:
    """Hands every arrival to its assembly and collects the traces that close."""

    def __init__(self, limits: AssemblyLimits) -> None:
        self._limits = limits
        self._live = Assembly(limits)
        self._backfills: dict[str, _Backfill] = {}

    def add(self, frame: Frame, arrivals: Iterable[Arrival | LogArrival], now: float) -> None:
        """Adds a frame's spans or log records to the live assembly or to its backfill's."""
        if not frame.backfill:
            for arrival in arrivals:
                self._live.add(arrival, now)
            return
        backfill = self._backfills.setdefault(frame.backfill, _Backfill(Assembly(self._limits)))
        backfill.last_frame = now
        for arrival in arrivals:
            backfill.event_now = max(backfill.event_now, arrival.ended_unix_nano / 1e9)
            backfill.assembly.add(arrival, backfill.event_now)

    def close(self, now: float, *, relieves: bool) -> list[Closing]:
        """The traces that are due; with `relieves` also the older half of the open ones."""
        return self.close_due(now) + (self.close_oldest(now) if relieves else [])

    def close_due(self, now: float) -> list[Closing]:
        """The traces that closed since the last call."""
        closings = self._live.close_due(now)
        for name, backfill in list(self._backfills.items()):
            closings += backfill.assembly.close_due(backfill.event_now)
            if now - backfill.last_frame > BACKFILL_IDLE_SECONDS:
                closings += backfill.assembly.close_all(Closed.BACKFILL_END)
                del self._backfills[name]
        return closings

    def close_oldest(self, now: float) -> list[Closing]:
        """Closes the older half of the open traces, to free memory."""
        closings: list[Closing] = []
        backfills = self._backfills.values()
        clocks = [(self._live, now), *((each.assembly, each.event_now) for each in backfills)]
        for assembly, clock in clocks:
            closings += assembly.close_oldest(max(1, assembly.open_count // 2), clock)
        return closings

    def wait(self, now: float) -> None:
        """Says that frames are left unread: no backfill ends because its next are among them."""
        for backfill in self._backfills.values():
            backfill.last_frame = now

    def drain_duplicates(self) -> list[int]:
        """The frame of each span that came again after its trace had closed, as its seq."""
        return [seq for assembly in self._assemblies() for seq in assembly.drain_duplicates()]

    def open_traces(self) -> int:
        """Traces waiting for their last span."""
        return sum(assembly.open_count for assembly in self._assemblies())

    def oldest_seq(self, now: float) -> int | None:
        """The oldest frame that an open or lately closed trace still needs."""
        needed = [self._live.oldest_needed_seq(now)] + [
            backfill.assembly.oldest_open_seq() for backfill in self._backfills.values()
        ]
        return min((seq for seq in needed if seq is not None), default=None)

    def _assemblies(self) -> list[Assembly]:
        return [self._live, *(backfill.assembly for backfill in self._backfills.values())]
