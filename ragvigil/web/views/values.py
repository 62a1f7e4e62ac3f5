"""Values of the house as the API names them."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NANOS = "_unix_nano"


def api_values(one: DataclassInstance) -> dict[str, Any]:
    """Its fields by the names of the API: times without their unit, 0 is none."""
    values: dict[str, Any] = {}
    for field in fields(one):
        value = getattr(one, field.name)
        is_time = field.name.endswith(NANOS)
        values[field.name.removesuffix(NANOS)] = _time(value) if is_time else value
    return values


def _time(nanos: int) -> datetime | None:
    return EPOCH + timedelta(microseconds=nanos // 1000) if nanos else None
