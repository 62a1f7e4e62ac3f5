"""Who goes first at the engine."""

from __future__ import annotations

from enum import IntEnum


class Priority(IntEnum):
    """Lower goes first; writes go before all of them."""

    TICK = 1
    """Roll-ups and deltas: late ones are late alerts."""
    PAGE = 2
    """A person waits."""
    SCAN = 3
    """Rebuilding, retention, doctor."""
