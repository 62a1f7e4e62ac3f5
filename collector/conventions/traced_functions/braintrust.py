"""Braintrust: `braintrust.input_json` and `braintrust.output_json`, or the same without `_json`.

Its exporter sends any span; these names are what the user's code sets on spans of its own.
Source: braintrust 0.48, `otel/__init__.py`, and its page on OpenTelemetry.
"""

from __future__ import annotations

from collections.abc import Iterator

from collector.claims.call_claims import Call, call_claims
from collector.claims.claim import Claim, Field, SpanRole
from collector.claims.recover import text, whole
from collector.claims.traced_calls import first_member
from ragvigil.model.span import Attributes, AttributeValue, Span

ROOTS = frozenset({"braintrust"})

ROLES = {
    "llm": SpanRole.LLM, "tool": SpanRole.TOOL, "task": SpanRole.CHAIN,
    "function": SpanRole.CHAIN, "score": SpanRole.EVALUATOR, "eval": SpanRole.CHAIN,
}  # fmt: skip
METRICS = (
    (Field.INPUT_TOKENS, "prompt_tokens"),
    (Field.OUTPUT_TOKENS, "completion_tokens"),
)


def claims(span: Span) -> Iterator[Claim]:
    """Reads the claims under Braintrust's own names."""
    attributes = span.attributes
    kind = text(first_member(attributes.get("braintrust.span_attributes"), "type"))
    role = ROLES.get(kind)
    arguments, result = _value(attributes, "input"), _value(attributes, "output")
    yield from call_claims(Call(role, span.name, arguments, result))
    model = text(first_member(attributes.get("braintrust.metadata"), "model"))
    if role is SpanRole.LLM:
        yield Claim(Field.MODEL, model, 7)
        for field, name in METRICS:
            yield Claim(field, whole(_metric(attributes, name)), 7)


def _value(attributes: Attributes, name: str) -> AttributeValue:
    return attributes.get(f"braintrust.{name}_json", attributes.get(f"braintrust.{name}"))


def _metric(attributes: Attributes, name: str) -> object:
    flat = attributes.get(f"braintrust.metrics.{name}")
    return flat if flat is not None else first_member(attributes.get("braintrust.metrics"), name)
