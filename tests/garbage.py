"""Spans that carry a convention's own names with values as no instrumentor sends them."""

from __future__ import annotations

import ast
import inspect
from types import ModuleType

from hypothesis import strategies as st

from collector.claims.claim import Claim, Field
from ragvigil.model.span import Event, LogRecord, Scope, Span
from tests.generated_traces import ATTRIBUTE, values


def names_in(module: ModuleType) -> list[str]:
    """Every text in a module's code that looks like the name of an attribute or an event."""
    constants = (
        node.value
        for node in ast.walk(ast.parse(inspect.getsource(module)))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    return sorted({name for text in constants for name in ATTRIBUTE.findall(text)})


def spans_of(module: ModuleType, *more: str, said: tuple[str, ...] = ()) -> st.SearchStrategy[Span]:
    """Spans with the module's names, `more` names, and among the values what is `said` often."""
    names = st.sampled_from([*names_in(module), *more])
    drawn = st.one_of(st.sampled_from(said), values) if said else values
    attributes = st.dictionaries(names, drawn, max_size=10)
    events = st.builds(
        Event, name=names, time_unix_nano=st.integers(0, 9), attributes=attributes
    )  # fmt: skip
    logs = st.builds(
        LogRecord, trace_id=st.just("t"), span_id=st.just("s"), time_unix_nano=st.just(1),
        event_name=names, body=values, attributes=attributes,
    )  # fmt: skip
    return st.builds(
        Span, trace_id=st.just("t"), span_id=st.just("s"), attributes=attributes,
        name=st.sampled_from(("call_llm", "running tool", "retrieve", "rerank", "")),
        scope=st.builds(Scope, name=st.sampled_from(("pydantic-ai", "strands", ""))),
        events=st.lists(events, max_size=3).map(tuple),
        logs=st.lists(logs, max_size=2).map(tuple),
        start_unix_nano=st.just(2), dropped_attributes_count=st.integers(0, 1),
    )  # fmt: skip


def said_of(module: ModuleType, span: Span) -> list[tuple[Field, object]]:
    """All that a module claims of a span, what it claims lazily read as well."""
    claims: list[Claim] = list(module.claims(span))
    return [
        (claim.field, claim.value() if callable(claim.value) else claim.value) for claim in claims
    ]
