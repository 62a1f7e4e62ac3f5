"""Whether the store has what a closing would store: after a replay, a late span, or elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping

from collector.assembly.refs import Closing
from ragvigil.model.span import Closed
from ragvigil.store.engine.errors import Unavailable
from ragvigil.store.engine.store import Store
from ragvigil.store.records import traces
from ragvigil.store.records.traces import StoredTrace

AWAY_SECONDS = 0.2
Lookup = Callable[[Iterable[str]], Mapping[str, StoredTrace] | None]
"""What the store has of traces, by their ids; None while it cannot be asked."""


def look_up(store: Store, trace_ids: Iterable[str]) -> Mapping[str, StoredTrace] | None:
    """A `Lookup` of this store, which rests where it is away. Raises QueryFailed."""
    try:
        return traces.lookup(store, trace_ids)
    except Unavailable:
        time.sleep(AWAY_SECONDS)
        return None


def may_be_stored(closing: Closing, replay_until: int) -> bool:
    """Whether the store may hold this trace: after a late span, a lost root, a replay."""
    return closing.reason is not Closed.ROOT_ENDED or closing.first_seq <= replay_until


def is_stored(closing: Closing, earlier: StoredTrace, replica: str, replay_until: int) -> bool:
    """Whether the store has this generation or a later one, as `replica` must see it.

    A late log record adds no span, so the generation stays; it changes the trace all the same.
    What another daemon has scored, or was put together of several's spans, is not replaced by what
    this one has. Frames up to `replay_until` may have been scored before: a change has a later one.
    """
    if earlier.is_joined:
        return True
    if earlier.replica != replica:
        return bool(earlier.record_ids)
    if earlier.generation < len(closing.refs):
        return False
    is_new = any(ref.seq > replay_until for ref in closing.refs)
    is_new = is_new or any(log.seq > replay_until for log in closing.logs)
    return not (closing.reason is Closed.LATE_SPAN and is_new)


def is_part(closing: Closing, earlier: StoredTrace, replica: str, replay_until: int) -> bool:
    """Whether a closing of a stored trace has spans of its own, and is no replay."""
    if earlier.replica != replica or (earlier.is_joined and closing.reason is Closed.LATE_SPAN):
        return True
    return earlier.generation > len(closing.refs) and closing.first_seq > replay_until
