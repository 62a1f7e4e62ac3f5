"""LangWatch: `langwatch.*`, the functions that its decorators trace and the calls of models.

An input or an output is a typed value: `{"type": "text", "value": …}`. The chunks of a search are
an attribute of their own, in Python a list and in JavaScript a typed value.
Sources: langwatch 1.4 (Python), `attributes.py` and `domain`; langwatch 0.16 (JavaScript).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from collector.claims.call_claims import Call, call_claims
from collector.claims.claim import Claim, Field, Listing, SpanRole, Withheld, scalar_claims
from collector.claims.documents import find_documents
from collector.claims.recover import as_container, text, whole
from collector.claims.traced_calls import first_member
from ragvigil.model.span import AttributeValue, Span

ROOTS = frozenset({"langwatch"})

ROLES = {
    "llm": SpanRole.LLM, "tool": SpanRole.TOOL, "agent": SpanRole.AGENT,
    "rag": SpanRole.RETRIEVER, "guardrail": SpanRole.GUARDRAIL,
    "evaluation": SpanRole.EVALUATOR, "span": SpanRole.CHAIN, "chain": SpanRole.CHAIN,
    "workflow": SpanRole.CHAIN, "component": SpanRole.CHAIN, "module": SpanRole.CHAIN,
    "task": SpanRole.CHAIN,
}  # fmt: skip
CONTEXTS = ("langwatch.rag_contexts", "langwatch.contexts")
SCALARS = {
    "langwatch.thread.id": (Field.SESSION, text, 4),
    "langwatch.session.id": (Field.SESSION, text, 6),
    "langwatch.user.id": (Field.USER, text, 4),
    "langwatch.prompt.version.number": (Field.PROMPT_VERSION, text, 5),
}
METRICS = (
    (Field.INPUT_TOKENS, ("prompt_tokens", "promptTokens")),
    (Field.OUTPUT_TOKENS, ("completion_tokens", "completionTokens")),
)


def claims(span: Span) -> Iterator[Claim]:
    """Reads the claims of a call that LangWatch traced."""
    attributes = span.attributes
    yield from scalar_claims(attributes, SCALARS)
    role = ROLES.get(text(attributes.get("langwatch.span.type")))
    given = _value(attributes.get("langwatch.input"))
    returned = _value(attributes.get("langwatch.output"))
    yield from call_claims(Call(role, span.name, given, returned))
    contexts = next((attributes[name] for name in CONTEXTS if name in attributes), None)
    if contexts is not None:
        yield Claim(Field.RETRIEVED, partial(_contexts, contexts), 1)
    metrics = _value(attributes.get("langwatch.metrics"))
    if metrics is not None:
        for field, names in METRICS:
            yield Claim(field, whole(first_member(metrics, *names)), 7)


def _value(typed: AttributeValue) -> object:
    """The value without its type; a value without a type as it is."""
    container = as_container(typed).value
    if isinstance(container, dict) and set(container) == {"type", "value"}:
        return container["value"]
    return typed


def _contexts(value: AttributeValue) -> Listing | Withheld | None:
    contexts = _value(value)
    return Listing(()) if as_container(contexts).value == [] else find_documents(contexts)
