"""Converts values of exported rows to OTLP: attributes, and times in nanoseconds."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import orjson

Values = Mapping[str, object]
INT64 = 1 << 63
UINT64 = 1 << 64
SCALES = ((10**17, 1), (10**14, 10**3), (10**11, 10**6))
"""The least number read as ns, µs or ms since 1970, and its nanoseconds; less is seconds."""


def put(attributes: Any, values: Values) -> None:
    """Adds values to a repeated field of attributes, except None and NaN."""
    for key, value in values.items():
        if not is_absent(value):
            fill(attributes.add(key=clean(key)).value, value)


def fill(into: Any, value: object) -> None:
    """Writes a value into an AnyValue, with its type."""
    if isinstance(value, bool):
        into.bool_value = value
    elif isinstance(value, int) and -INT64 <= value < INT64:
        into.int_value = value
    elif isinstance(value, float):
        into.double_value = value
    elif isinstance(value, list | tuple):
        into.array_value.SetInParent()
        for member in value:
            if not is_absent(member):
                fill(into.array_value.values.add(), member)
    else:
        into.string_value = clean(str(value))


def is_absent(value: object) -> bool:
    """Whether a cell is empty: tables write a missing value as null or NaN."""
    return value is None or (isinstance(value, float) and math.isnan(value))


def clean(text: str) -> str:
    """A text that UTF-8 can encode: half a surrogate pair, which JSON allows, becomes `?`."""
    return text.encode("utf-8", "replace").decode()


def loads(text: bytes | str) -> Any:
    """Parses JSON text, also with the `NaN` and half surrogate pairs that Python writes.

    Raises ValueError, also if it is nested too deeply.
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        try:
            return json.loads(text)
        except RecursionError as error:
            raise ValueError("is nested too deeply") from error


def dumps(value: object) -> str:
    """Any value as JSON. Raises RecursionError if it is nested too deeply."""
    return clean(json.dumps(value, default=str, ensure_ascii=False))


def nanoseconds(moment: object) -> int | None:
    """Nanoseconds since 1970 of a date, an ISO 8601 text or a number; None for anything else.

    A number is in seconds, ms, µs or ns by its size; a time without a zone is UTC.

    >>> nanoseconds("2026-01-01T00:00:00.000001Z") == nanoseconds(1767225600000001)
    True
    """
    if isinstance(moment, str):
        try:
            moment = datetime.fromisoformat(moment.strip())
        except ValueError:
            return _number(moment)
    if isinstance(moment, datetime):
        return _of_date(moment)
    return _number(moment)


def _of_date(moment: datetime) -> int | None:
    at = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
    since = at - datetime(1970, 1, 1, tzinfo=UTC)
    nanos = (since.days * 86_400 + since.seconds) * 10**9 + since.microseconds * 1_000
    nanos += getattr(moment, "nanosecond", 0)  # pandas timestamps have this
    return nanos if 0 < nanos < UINT64 else None


def _number(moment: object) -> int | None:
    if isinstance(moment, bool) or not isinstance(moment, int | float | str):
        return None
    try:
        number = int(moment) if isinstance(moment, int) else float(moment)
    except ValueError:
        return None
    if not 0 < number < UINT64:
        return None
    scale = next((scale for least, scale in SCALES if number >= least), 10**9)
    nanos = int(number * scale)
    return nanos if 0 < nanos < UINT64 else None
