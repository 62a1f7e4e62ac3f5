"""Has traces scored anew whose spans came to several daemons: those that this one owns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field

from ragvigil.app.pipeline.joining import BACK_SECONDS
from ragvigil.app.pipeline.metrics import SPLIT_TRACES
from ragvigil.store.engine.store import Store
from ragvigil.store.fleet import late, members
from ragvigil.store.fleet.late import LateParts
from ragvigil.store.fleet.members import Member

FIRST_WAIT_SECONDS, LONGEST_SECONDS = 5.0, 900.0
"""How long a trace whose rest is not stored yet waits for the next look, twice as long each time;
and until it is given up: a trace is open for ten minutes at most, and a part tells a minute after
its last span."""
AT_ONCE = 500


@dataclass(slots=True)
class _Waiting:
    until: float
    due: float = 0.0
    seconds: float = field(default=FIRST_WAIT_SECONDS)


class LateSpanWork:
    """What an edge does about parts of traces that others told of.

    The owner of a trace is who stored its records, or has its root; where nobody does, or the owner
    is gone, the one among live edges that the hash of its id names. `join` takes ids of traces
    that this daemon is to score anew, with the time (seconds). For one thread.
    """

    def __init__(
        self,
        store: Store,
        members_now: Callable[[], Sequence[Member]],
        join: Callable[[Iterable[str], int], None],
        clock: Callable[[], float],
    ) -> None:
        self._store, self._members = store, members_now
        self._join, self._clock = join, clock
        # What an earlier life of this daemon had taken on, and had not stored yet.
        self._parts = LateParts(store, clock() - LONGEST_SECONDS)
        self._waiting: dict[str, _Waiting] = {}

    def run(self) -> None:
        """Takes what others told, and looks at what waits. Raises StoreError; the next run goes
        on."""
        now = self._clock()
        live = {each.replica for each in self._members() if "edge" in each.roles and each.is_live}
        live |= {self._store.replica}
        for part in self._parts.take(live - {self._store.replica}):
            if part.owner in live or self._is_ours(part.trace_id, live):
                self._waiting[part.trace_id] = _Waiting(until=now + LONGEST_SECONDS, due=now)
        for trace_id in [each for each, waiting in self._waiting.items() if waiting.until < now]:
            self._give_up(trace_id)
        due = [trace_id for trace_id, each in self._waiting.items() if each.due <= now]
        if due:
            # Who waits longest first: what never joins would keep the others from their turn.
            due.sort(key=lambda trace_id: self._waiting[trace_id].due)
            self._look(due[:AT_ONCE], live, now)

    def _look(self, due: Sequence[str], live: Collection[str], now: float) -> None:
        keeps_all = self._store.settings.spans == "all"
        split = late.split_traces(self._store, due, int(now) - BACK_SECONDS)
        for trace_id in due:
            found = split.get(trace_id)
            if found is None or found.is_complete(keeps_all=keeps_all):
                self._wait_on(trace_id, now)
                continue
            if found.owner in live and found.owner != self._store.replica:
                late.tell(self._store, trace_id, found.owner)
                SPLIT_TRACES.labels("handed").inc()
            else:
                self._join([trace_id], int(now))  # which counts it once it is joined
            del self._waiting[trace_id]

    def _wait_on(self, trace_id: str, now: float) -> None:
        waiting = self._waiting[trace_id]
        waiting.due, waiting.seconds = now + waiting.seconds, 2 * waiting.seconds
        if waiting.due > waiting.until:
            self._give_up(trace_id)

    def _give_up(self, trace_id: str) -> None:
        del self._waiting[trace_id]
        SPLIT_TRACES.labels("given_up").inc()

    def _is_ours(self, trace_id: str, live: Collection[str]) -> bool:
        return members.owner(trace_id, live) == self._store.replica
