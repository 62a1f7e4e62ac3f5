"""Which line makes an absent field arrive: facts about instrumentors, kept as data."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from ragvigil.model.record import Absent


@dataclass(frozen=True, slots=True, kw_only=True)
class Instrumentor:
    """An instrumentation library, recognised by a prefix of its scope name."""

    scope: str
    name: str
    lines: Mapping[str, str]


def name_of(scope: str) -> str:
    """The name people use for the instrumentor of a scope; the scope itself where unknown.

    >>> name_of("openinference.instrumentation.langchain")
    'OpenInference'
    >>> name_of("my.own.tracer")
    'my.own.tracer'
    """
    found = next(_matching(scope))
    return found.name if found.scope else scope or "unnamed"


def fix(scope: str, field: str, reason: Absent) -> str:
    """The exact line that makes `field` arrive from the instrumentor of `scope`.

    >>> fix("openinference.instrumentation.langchain", "answer", Absent.TRUNCATED)[:43]
    'export OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT=1000'
    """
    for instrumentor in _matching(scope):
        for key in (f"{field}.{reason}", field, reason):
            if key in instrumentor.lines and (key != field or reason is Absent.NOT_SENT):
                return instrumentor.lines[key]
    return f'span.set_attribute("ragvigil.{field}", …)'


def _matching(scope: str) -> Iterator[Instrumentor]:
    return (one for one in _instrumentors() if scope.startswith(one.scope))


@cache
def _instrumentors() -> tuple[Instrumentor, ...]:
    listed = tomllib.loads(files("collector").joinpath("instrumentors.toml").read_text("utf-8"))
    return tuple(
        Instrumentor(
            scope=one["scope"],
            name=one["name"],
            lines=_flat(one.get("lines", {})),
        )
        for one in listed["instrumentor"]
    )


def _flat(lines: Mapping[str, object]) -> dict[str, str]:
    return {key: str(line) for key, line in lines.items()}
