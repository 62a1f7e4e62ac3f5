"""Agenta: `ag.data.inputs.*` and `ag.data.outputs.*`, the calls that `@ag.instrument` traces.

Structures are JSON text behind a mark. Models are traced by instrumentors of OpenInference.
Source: agenta 0.125, `sdk/engines/tracing`.
"""

from __future__ import annotations

from collections.abc import Iterator

from collector.claims.call_claims import Call, call_claims
from collector.claims.claim import Claim, Field, SpanRole, scalar_claims
from collector.claims.recover import as_container, text
from ragvigil.model.span import Attributes, AttributeValue, Span

ROOTS = frozenset({"ag"})

ROLES = {
    "agent": SpanRole.AGENT, "workflow": SpanRole.CHAIN, "chain": SpanRole.CHAIN,
    "task": SpanRole.CHAIN, "tool": SpanRole.TOOL, "embedding": SpanRole.EMBEDDING,
    "query": SpanRole.RETRIEVER, "rerank": SpanRole.RERANKER, "completion": SpanRole.LLM,
    "chat": SpanRole.LLM, "llm": SpanRole.LLM,
}  # fmt: skip
INPUTS, OUTPUTS, DEFAULT = "ag.data.inputs", "ag.data.outputs", "__default__"
JSON_MARK = "@ag.type=json:"
SCALARS = {"ag.session.id": (Field.SESSION, text, 5), "ag.user.id": (Field.USER, text, 5)}


def claims(span: Span) -> Iterator[Claim]:
    """Reads the claims of a call that Agenta traced."""
    attributes = span.attributes
    yield from scalar_claims(attributes, SCALARS)
    role = ROLES.get(text(attributes.get("ag.type.node")).lower())
    if role is not None:
        arguments, result = _members(attributes, INPUTS), _members(attributes, OUTPUTS)
        yield from call_claims(Call(role, span.name, arguments, result))


def _members(attributes: Attributes, prefix: str) -> object:
    """The members under a prefix by name, or the only value of a call that has no names for it."""
    start = len(prefix) + 1
    members = {name[start:]: _decoded(value) for name, value in attributes.items()
               if name.startswith(f"{prefix}.")}  # fmt: skip
    return members.get(DEFAULT, members or None)


def _decoded(value: AttributeValue) -> object:
    if isinstance(value, str) and value.startswith(JSON_MARK):
        encoded = value.removeprefix(JSON_MARK)
        container, complete = as_container(encoded)
        return container if complete and container is not None else encoded
    return value
