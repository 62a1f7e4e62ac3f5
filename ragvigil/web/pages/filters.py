"""What templates do to a value before they show it; numbers are worded in `model/figures.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any


def iso(time: datetime) -> str:
    """A time for a machine: ISO 8601 in UTC, to the second.

    >>> from datetime import UTC
    >>> iso(datetime(2026, 3, 1, 12, tzinfo=UTC))
    '2026-03-01T12:00:00Z'
    """
    return time.strftime("%Y-%m-%dT%H:%M:%SZ")


FILTERS: Mapping[str, Callable[..., Any]] = {"iso": iso}
