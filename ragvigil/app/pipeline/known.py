"""Whether the store has what a closing would store: after a replay, a late span, or elsewhere."""

from __future__ import annotations

from collector.assembly.refs import Closing
from ragvigil.model.span import Closed
from ragvigil.store.records.traces import StoredTrace


def is_stored(closing: Closing, earlier: StoredTrace, replica: str, replay_until: int) -> bool:
    """Whether the store has this generation or a later one, as `replica` must see it.

    A late log record adds no span, so the generation stays; it changes the trace all the same.
    What another daemon has scored, or was put together of several's spans, is not replaced by what
    this one has. Frames up to `replay_until` may have been scored before.
    """
    if earlier.is_joined:
        return True
    if earlier.replica != replica:
        return bool(earlier.record_ids)
    is_change = closing.reason is Closed.LATE_SPAN and closing.first_seq > replay_until
    return earlier.generation >= len(closing.refs) and not is_change


def is_part(closing: Closing, earlier: StoredTrace, replica: str, replay_until: int) -> bool:
    """Whether a closing of a stored trace has spans of its own, and is no replay."""
    if earlier.replica != replica or (earlier.is_joined and closing.reason is Closed.LATE_SPAN):
        return True
    return earlier.generation > len(closing.refs) and closing.first_seq > replay_until
