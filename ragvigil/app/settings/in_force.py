"""The settings in force: every key, its value with secrets masked, and where it comes from."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import BaseModel, SecretStr

from ragvigil.app.settings import Settings, file_values, known_keys, variable

MASKED = "set, not shown"
PASSWORD = re.compile(r"(?<=://)([^/:@\s]*):[^/\s]*@")
"""The password of a URL, between the user's name and the host."""
PARAMETER = re.compile(r"(?<=[?&])([^=&#\s]+)=[^&#\s]+")
"""A parameter of a URL: it may be a key."""


class Origin(StrEnum):
    """Where a value comes from."""

    DEFAULT = "default"
    FILE = "file"
    ENVIRONMENT = "environment"


def plain(settings: Settings) -> dict[str, object]:
    """Every key and its value, secrets masked."""
    values: dict[str, object] = {}
    for path in known_keys():
        value: object = settings
        for step in path:
            value = getattr(value, step)
        if not isinstance(value, BaseModel):
            values[".".join(path)] = _masked(value)
    return values


def origins(
    config: Path | None = None, environment: Mapping[str, str] = os.environ
) -> dict[str, Origin]:
    """Where the value of every key comes from; a flag of the command line is not told apart.

    Raises SettingsError where the settings file cannot be read.
    """
    in_file = file_values(config, environment)
    return {".".join(path): _origin(path, in_file, environment) for path in known_keys()}


def _origin(
    path: tuple[str, ...], in_file: Mapping[str, Any], environment: Mapping[str, str]
) -> Origin:
    names = {name.upper() for name in environment}
    # A variable may hold a whole section as JSON.
    if any(variable(path[:length]) in names for length in range(1, len(path) + 1)):
        return Origin.ENVIRONMENT
    value: object = in_file
    for step in path:
        if not isinstance(value, Mapping) or step not in value:
            return Origin.DEFAULT
        value = value[step]
    return Origin.FILE


def _masked(value: object) -> object:
    """The value without its secrets, whatever holds them."""
    if isinstance(value, SecretStr):
        return MASKED
    if isinstance(value, str) and "://" in value:
        return PARAMETER.sub(r"\1=***", PASSWORD.sub(r"\1:***@", value))
    if isinstance(value, BaseModel):
        return {name: _masked(getattr(value, name)) for name in type(value).model_fields}
    if isinstance(value, Mapping):
        return {key: _masked(each) for key, each in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return type(value)(map(_masked, value))
    return value
