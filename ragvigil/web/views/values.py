"""From values of the model to forms of the API."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime, timedelta
from functools import cache
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
    plain, times = _names(type(value))
    values = {name: getattr(value, name) for name in plain}
    for name in times:
        content = getattr(value, name)
        is_list = isinstance(content, tuple)
        time = list(map(time_or_none, content)) if is_list else time_or_none(content)
        values[name.removesuffix(NANOS)] = time
    return values


@cache
def _names(kind: type[DataclassInstance]) -> tuple[list[str], list[str]]:
    """The fields of a dataclass: those taken as they are, and those of times. A page asks often."""
    names = [field.name for field in fields(kind)]
    times = [name for name in names if name.endswith(NANOS)]
    return [name for name in names if name not in times], times


def time_or_none(nanos: int) -> datetime | None:
    """A time in UTC to the microsecond, None for 0."""
    return EPOCH + timedelta(microseconds=nanos // 1000) if nanos else None
