"""Points of time in query strings: ISO 8601, seconds since the epoch, or how long ago."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from fastapi import HTTPException

AGO = re.compile(r"(\d{1,6})([smhd])")
UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
EARLIEST = datetime(1971, 1, 1, tzinfo=UTC)
MILLISECONDS = 1e11
"""A number from here on counts milliseconds, as Grafana's links do: in seconds it is past 5000."""
LATEST = datetime(2200, 1, 1, tzinfo=UTC)


def point_of_time(text: str, now: datetime, name: str = "since") -> datetime:
    """The time that `text` names; `name` is the parameter that it is the value of.

    >>> now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    >>> for text in ("6h", "2026-03-01", "1772366400", "1772366400000"):
    ...     print(point_of_time(text, now))
    2026-03-01 06:00:00+00:00
    2026-03-01 00:00:00+00:00
    2026-03-01 12:00:00+00:00
    2026-03-01 12:00:00+00:00

    Raises HTTPException (422) where it names none.
    """
    try:
        time = _parsed(text.strip(), now)
    except (ValueError, OverflowError, OSError):
        time = LATEST
    if not EARLIEST <= time < LATEST:
        raise HTTPException(
            422,
            f"query.{name}: {text} is neither ISO 8601, nor epoch seconds, nor like 30m, 6h, 7d",
        )
    return time


def _parsed(text: str, now: datetime) -> datetime:
    ago = AGO.fullmatch(text)
    if ago is not None:
        return now - timedelta(**{UNITS[ago[2]]: int(ago[1])})
    # Eight digits are a date, 20260301, not seconds.
    if re.fullmatch(r"\d+(\.\d+)?", text) and len(text.partition(".")[0]) != 8:
        seconds = float(text)
        return datetime.fromtimestamp(seconds / 1000 if seconds >= MILLISECONDS else seconds, UTC)
    # A plus sign in a query string is read as a space.
    time = datetime.fromisoformat(text.replace(" ", "+") if "T" in text else text)
    return time if time.tzinfo else time.replace(tzinfo=UTC)
