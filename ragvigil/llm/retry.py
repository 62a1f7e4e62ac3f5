"""How long to wait before asking again: jittered, growing, and as long as the server asks for."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """Pauses between attempts; see `pause`."""

    first_seconds: float = 0.5
    longest_seconds: float = 30.0

    def pause(self, attempt: int, *, asked: float | None, chance: random.Random) -> float:
        """Seconds to wait after attempt number `attempt` (from 1) has failed.

        Where the server `asked` for a pause, that one, lengthened by up to a tenth so that
        clients do not come back together, at most `longest_seconds`. Else a random part of a span
        that doubles with each attempt ("full jitter", AWS Architecture Blog, 2015).

        >>> Backoff().pause(1, asked=3600.0, chance=random.Random(1))
        30.0
        """
        if asked is not None:
            return min(asked * chance.uniform(1.0, 1.1), self.longest_seconds)
        span = min(self.first_seconds * 2.0 ** min(attempt - 1, 60), self.longest_seconds)
        return chance.uniform(0.0, span)


def asked_pause(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that `retry-after` asks for at Unix time `now`; None where it says nothing clear.

    >>> asked_pause({"retry-after": "2"}, now=0.0)
    2.0
    >>> asked_pause({"retry-after": "Thu, 01 Jan 1970 00:01:30 GMT"}, now=60.0)
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
