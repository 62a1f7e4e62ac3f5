"""How long a server asks its clients to wait: the Retry-After header."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def requested_pause(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that the headers request at Unix time `now`; None where they cannot be read.

    `retry-after-ms` (OpenAI, Azure) is finer than `retry-after` and wins over it.

    >>> requested_pause({"retry-after": "2"}, now=0.0)
    2.0
    >>> requested_pause({"retry-after": "Thu, 01 Jan 1970 00:01:30 GMT"}, now=60.0)
    30.0
    """
    milliseconds = _seconds(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    text = headers.get("retry-after", "").strip()
    seconds = _seconds(text)
    return _until(text, now) if seconds is None else seconds


def _seconds(text: str) -> float | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) and seconds >= 0 else None


def _until(text: str, now: float) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return max(0.0, (moment - datetime.fromtimestamp(now, UTC)).total_seconds())
    except (ValueError, OverflowError):
        return None
