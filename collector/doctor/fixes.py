"""The line that makes an absent field arrive, from the facts in `instrumentors.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from ragvigil.model.record import Absent

Lines = Mapping[str, str]
"""By `field.reason`, or by `reason` for the fields without their own line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Instrumentor:
    """An instrumentation library and its scopes; a scope includes those below it."""

    name: str
    scopes: tuple[str, ...]
    lines: Lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """The instrumentors, and the lines that hold for any instrumentor."""

    instrumentors: tuple[Instrumentor, ...]
    general: Lines


def name_of(scope: str) -> str:
    """The common name of the instrumentor of a scope; the scope itself if unknown.

    >>> name_of("openinference.instrumentation.langchain")
    'OpenInference'
    >>> name_of("opentelemetry.instrumentation.openai.v1")
    'OpenLLMetry'
    >>> name_of("my.own.tracer")
    'my.own.tracer'
    """
    instrumentor = _of(scope)
    return instrumentor.name if instrumentor is not None else scope or "unnamed"


def fix(scope: str, field: str, reason: Absent) -> str:
    """The line that makes `field` arrive from the instrumentor of `scope`.

    Precedence: the instrumentor's line for this field and reason, its line for the reason, then
    the general lines in the same order. `field` is a key of a record's `absent`, or `attributes`
    or `events` if the SDK dropped some.

    >>> fix("openinference.instrumentation.langchain", "attributes", Absent.TRUNCATED)
    'export OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT=10000'
    >>> fix("my.own.tracer", "query", Absent.NOT_SENT)
    'span.set_attribute("ragvigil.query", question)'
    """
    instrumentor = _of(scope)
    for lines in (instrumentor.lines if instrumentor is not None else {}, _read_facts().general):
        for key in (f"{field}.{reason}", str(reason)):
            if key in lines:
                return lines[key]
    return f'span.set_attribute("ragvigil.{field}", …)'


def _of(scope: str) -> Instrumentor | None:
    # With a dot, so that `a.b` does not match the scope `a.bc`.
    below = f"{scope}."
    return next(
        (
            instrumentor
            for instrumentor in _read_facts().instrumentors
            if any(below.startswith(f"{known}.") for known in instrumentor.scopes)
        ),
        None,
    )


def facts() -> dict[str, Any]:
    """The contents of `instrumentors.toml`."""
    return tomllib.loads(files("collector.doctor").joinpath("instrumentors.toml").read_text("utf8"))


@cache
def _read_facts() -> Facts:
    read = facts()
    return Facts(
        instrumentors=tuple(
            Instrumentor(
                name=row["name"], scopes=tuple(row["scopes"]), lines=_by_single_key(row["lines"])
            )
            for row in read["instrumentor"]
        ),
        general=_by_single_key(read["general"]["lines"]),
    )


def _by_single_key(lines: Lines) -> Lines:
    """Splits combined keys: `query|answer.hidden` becomes two."""
    single: dict[str, str] = {}
    for key, line in lines.items():
        fields, _, reason = key.rpartition(".")
        for field in fields.split("|"):
            single[f"{field}.{reason}" if field else reason] = line
    return single
