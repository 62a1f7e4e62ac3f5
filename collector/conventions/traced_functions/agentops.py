"""AgentOps: `agentops.<kind>.input` and `.output`, the calls that its decorators trace.

Models are traced by instrumentors that come with it, under OpenLLMetry's names.
Source: agentops 0.4, `semconv/span_kinds.py`, `sdk/decorators/utility.py`.
"""

from __future__ import annotations

from collections.abc import Iterator

from collector.claims.call_claims import Call, call_claims
from collector.claims.claim import Claim, Field, SpanRole
from collector.claims.recover import text
from ragvigil.model.span import Attributes, AttributeValue, Span

ROOTS = frozenset({"agentops"})

ROLES = {
    "session": SpanRole.CHAIN, "workflow": SpanRole.CHAIN, "task": SpanRole.CHAIN,
    "operation": SpanRole.CHAIN, "chain": SpanRole.CHAIN, "agent": SpanRole.AGENT,
    "tool": SpanRole.TOOL, "guardrail": SpanRole.GUARDRAIL,
}  # fmt: skip
WHOLE = frozenset({"session", "workflow"})
"""Kinds of the calls that are a request to the service: their names are routes."""


def claims(span: Span) -> Iterator[Claim]:
    """Reads the claims of a call that AgentOps traced."""
    attributes = span.attributes
    # A tool that a model asks for has a span with the name of the enum's member, and no result.
    kind = text(attributes.get("agentops.span.kind"))
    role = ROLES.get(kind)
    if role is None:
        return
    name = text(attributes.get("operation.name"))
    if kind in WHOLE:
        yield Claim(Field.WORKFLOW, name, 5)
    elif role is SpanRole.TOOL:
        yield Claim(Field.TOOL_NAME, name, 5)
    arguments, result = (_value(attributes, kind, end) for end in ("input", "output"))
    yield from call_claims(Call(role, name or span.name, arguments, result))


def _value(attributes: Attributes, kind: str, end: str) -> AttributeValue:
    """What went into a call or came out: under the name of its kind, else under `entity`."""
    return attributes.get(f"agentops.{kind}.{end}", attributes.get(f"agentops.entity.{end}"))
