"""Laminar (lmnr): `lmnr.span.*`, the calls that its SDK and its `@observe` trace.

Models are traced by instrumentors that come with it, under OTel's and OpenLLMetry's names.
Source: lmnr 0.8.2, `opentelemetry_lib/tracing/attributes.py`.
"""

from __future__ import annotations

from collections.abc import Iterator

from collector.claims.call_claims import Call, call_claims
from collector.claims.claim import Claim, Field, SpanRole, scalar_claims
from collector.claims.recover import text
from ragvigil.model.span import Span

ROOTS = frozenset({"lmnr"})

ROLES = {
    "LLM": SpanRole.LLM, "TOOL": SpanRole.TOOL, "DEFAULT": SpanRole.CHAIN,
    "EXECUTOR": SpanRole.CHAIN, "EVALUATION": SpanRole.CHAIN, "EVALUATOR": SpanRole.EVALUATOR,
}  # fmt: skip
SCALARS = {
    "lmnr.association.properties.session_id": (Field.SESSION, text, 5),
    "lmnr.association.properties.user_id": (Field.USER, text, 5),
}


def claims(span: Span) -> Iterator[Claim]:
    """Reads the claims of a call that Laminar traced."""
    attributes = span.attributes
    yield from scalar_claims(attributes, SCALARS)
    role = ROLES.get(text(attributes.get("lmnr.span.type")))
    if role is not None:
        arguments, result = attributes.get("lmnr.span.input"), attributes.get("lmnr.span.output")
        yield from call_claims(Call(role, span.name, arguments, result))
