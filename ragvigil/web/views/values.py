"""From values of the model to forms of the API."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NANOS = "_unix_nano"

Form = TypeVar("Form", bound=BaseModel)


def view(form: type[Form], value: DataclassInstance, **more: object) -> Form:
    """A value of the model as a form: its fields by name, then `more`, which wins.

    A field of the form that the value has needs no line here or in the caller; fields of the value
    that the form lacks are left out. Raises pydantic's ValidationError where a field is missing.
    """
    return form.model_validate({**api_values(value), **more})


def api_values(value: DataclassInstance) -> dict[str, Any]:
    """The fields of a dataclass by the names of the API.

    `<name>_unix_nano` becomes `<name>`: a time in UTC, None where it is 0, or a list of times.
    """
    values: dict[str, Any] = {}
    for field in fields(value):
        content = getattr(value, field.name)
        if field.name.endswith(NANOS):
            is_list = isinstance(content, tuple)
            content = list(map(time_or_none, content)) if is_list else time_or_none(content)
        values[field.name.removesuffix(NANOS)] = content
    return values


def time_or_none(nanos: int) -> datetime | None:
    """A time in UTC to the microsecond, None for 0."""
    return EPOCH + timedelta(microseconds=nanos // 1000) if nanos else None
