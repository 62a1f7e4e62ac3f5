"""Rubrics are data: one TOML file each, and the folder is the registry."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Any

from ragvigil.model.score import Layer

FIELDS = frozenset(
    {"query", "retrieved", "document_texts", "reranked", "context", "answer", "citations", "usage"}
)
SCALES = frozenset({"0..1", "label"})


class BadRubric(ValueError):
    """A rubric file is wrong; `str(error)` names the file, the key and what is allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    """What is asked, of which layer, and when a record fails it.

    `needs` are the fields of the record without which it cannot be answered; `fails_below` is
    the value under which a record fails, None for a rubric that is only a label.
    """

    name: str
    layer: Layer
    version: str
    scale: str
    needs: tuple[str, ...]
    description: str
    fails_below: float | None = None
    labels: tuple[str, ...] = ()


def parse_rubric(text: str, name: str) -> Rubric:
    """The rubric of a TOML text; `name` is the file's.

    >>> parse_rubric('name = "a"', "a.toml")
    Traceback (most recent call last):
    ...
    scorers.rubric.BadRubric: a.toml: layer is missing

    Raises BadRubric.
    """
    try:
        written = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadRubric(f"{name}: is not TOML: {error}") from error
    known = {field.name for field in fields(Rubric)}
    for key in written:
        if key not in known:
            raise BadRubric(
                f"{name}: {key}: there is no such key; allowed: {', '.join(sorted(known))}"
            )
    for key in ("name", "layer", "version", "scale", "needs", "description"):
        if key not in written:
            raise BadRubric(f"{name}: {key} is missing")
    _check(written, name)
    plain: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in written.items()
    }
    return Rubric(**plain | {"layer": Layer(written["layer"])})


def _check(written: Mapping[str, Any], name: str) -> None:
    if written["layer"] not in set(Layer):
        raise BadRubric(f"{name}: layer: {written['layer']} is not one of {', '.join(Layer)}")
    if written["scale"] not in SCALES:
        raise BadRubric(f"{name}: scale: {written['scale']} is not one of {', '.join(SCALES)}")
    for field in written["needs"]:
        if field not in FIELDS:
            raise BadRubric(f"{name}: needs: a record has no field {field}")
    bound = written.get("fails_below")
    if bound is not None and not 0 <= bound <= 1:
        raise BadRubric(f"{name}: fails_below: {bound} is not between 0 and 1")


@cache
def load_rubrics() -> Mapping[str, Rubric]:
    """Every rubric of `scorers/rubrics`, by name. Raises BadRubric."""
    folder = files("scorers").joinpath("rubrics")
    listed = sorted(
        (one for one in folder.iterdir() if one.name.endswith(".toml")), key=lambda one: one.name
    )
    rubrics = [parse_rubric(one.read_text("utf-8"), one.name) for one in listed]
    return {rubric.name: rubric for rubric in rubrics}
