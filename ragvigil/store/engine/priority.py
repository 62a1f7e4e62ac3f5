"""The order in which reads get the engine."""

from __future__ import annotations

from enum import IntEnum


class Priority(IntEnum):
    """Lower goes first; writes go before TICK and SCAN, which share their connection."""

    TICK = 1
    """Roll-ups and deltas: if they are late, alerts are late."""
    PAGE = 2
    """A person waits: has connections of its own, and waits for other pages only."""
    SCAN = 3
    """Rebuilding, retention, doctor."""
