"""Which line makes an absent field arrive: facts about instrumentors, kept as data."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from ragvigil.model.record import Absent

Lines = Mapping[str, str]
"""By `field.reason`, or by a reason alone for the fields that have no line of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Instrumentor:
    """An instrumentation library and its scopes; one stands for those below it too."""

    name: str
    scopes: tuple[str, ...]
    lines: Lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """All that is known: the instrumentors, and the lines that hold for any."""

    instrumentors: tuple[Instrumentor, ...]
    general: Lines


def name_of(scope: str) -> str:
    """The name people use for the instrumentor of a scope; the scope itself where unknown.

    >>> name_of("openinference.instrumentation.langchain")
    'OpenInference'
    >>> name_of("opentelemetry.instrumentation.openai.v1")
    'OpenLLMetry'
    >>> name_of("my.own.tracer")
    'my.own.tracer'
    """
    found = _of(scope)
    return found.name if found is not None else scope or "unnamed"


def fix(scope: str, field: str, reason: Absent) -> str:
    """The line that makes `field` arrive from the instrumentor of `scope`.

    What the instrumentor says of this field and reason, else of the reason; else what holds for
    any instrumentor, in the same order. `field` is a key of a record's `absent`, or
    `attributes` and `events` where the SDK dropped some.

    >>> fix("openinference.instrumentation.langchain", "attributes", Absent.TRUNCATED)
    'export OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT=10000'
    >>> fix("my.own.tracer", "query", Absent.NOT_SENT)
    'span.set_attribute("ragvigil.query", question)'
    """
    found = _of(scope)
    for lines in (found.lines if found is not None else {}, _known().general):
        for key in (f"{field}.{reason}", str(reason)):
            if key in lines:
                return lines[key]
    return f'span.set_attribute("ragvigil.{field}", …)'


def _of(scope: str) -> Instrumentor | None:
    below = f"{scope}."
    return next(
        (
            one
            for one in _known().instrumentors
            if any(below.startswith(f"{known}.") for known in one.scopes)
        ),
        None,
    )


def facts() -> dict[str, Any]:
    """The contents of `instrumentors.toml`."""
    return tomllib.loads(files("collector.doctor").joinpath("instrumentors.toml").read_text("utf8"))


@cache
def _known() -> Known:
    read = facts()
    return Known(
        instrumentors=tuple(
            Instrumentor(
                name=one["name"], scopes=tuple(one["scopes"]), lines=_one_by_one(one["lines"])
            )
            for one in read["instrumentor"]
        ),
        general=_one_by_one(read["general"]["lines"]),
    )


def _one_by_one(lines: Lines) -> Lines:
    """Lines by single keys: `query|answer.hidden` is two of them."""
    single: dict[str, str] = {}
    for key, line in lines.items():
        fields, _, reason = key.rpartition(".")
        for field in fields.split("|"):
            single[f"{field}.{reason}" if field else reason] = line
    return single
