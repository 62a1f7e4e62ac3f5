"""Langfuse: `langfuse.observation.*` and `langfuse.trace.*`, its SDKs for Python and JavaScript.

Inputs and outputs are texts, or JSON text of the arguments and results of the user's code. There is
no type for rerankers: only the name of the observation reveals them.
Sources: langfuse/langfuse-python `_client/attributes.py` and `langchain/CallbackHandler.py` 3 to
5, langfuse/langfuse `packages/shared/src/server/otel`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial

from collector.claims.claim import UNNAMED, Claim, Field, Listing, SpanRole, Withheld, scalar_claims
from collector.claims.recover import as_container, number, text, whole
from collector.claims.traced_calls import (
    documents_in_arguments,
    first_member,
    plain_text,
    prompt_messages,
    question_in_arguments,
    reply_messages,
    returned_documents,
    tool_message_documents,
)
from ragvigil.model.span import Attributes, Span

ROOTS = frozenset({"langfuse"})

ROLES = {
    "generation": SpanRole.LLM, "embedding": SpanRole.EMBEDDING, "agent": SpanRole.AGENT,
    "tool": SpanRole.TOOL, "chain": SpanRole.CHAIN, "retriever": SpanRole.RETRIEVER,
    "guardrail": SpanRole.GUARDRAIL, "evaluator": SpanRole.EVALUATOR,
    "reranker": SpanRole.RERANKER,
}  # fmt: skip
SCALARS = {
    "session.id": (Field.SESSION, text, 1),
    "langfuse.session.id": (Field.SESSION, text, 3),
    "langfuse.trace.metadata.langfuse_session_id": (Field.SESSION, plain_text, 6),
    "langfuse.observation.metadata.langfuse_session_id": (Field.SESSION, plain_text, 7),
    "user.id": (Field.USER, text, 1),
    "langfuse.user.id": (Field.USER, text, 3),
    "langfuse.trace.metadata.langfuse_user_id": (Field.USER, plain_text, 6),
    "langfuse.observation.metadata.langfuse_user_id": (Field.USER, plain_text, 7),
    "langfuse.environment": (Field.ENVIRONMENT, text, 2),
    "langfuse.trace.name": (Field.WORKFLOW, text, 4),
    "langfuse.observation.model.name": (Field.MODEL, text, 7),
    "langfuse.observation.prompt.version": (Field.PROMPT_VERSION, text, 1),
    "langfuse.observation.prompt.name": (Field.PROMPT_VERSION, text, 7),
    "langfuse.version": (Field.PROMPT_VERSION, text, 9),
    "langfuse.trace.metadata.tenant": (Field.TENANT, plain_text, 5),
    "langfuse.trace.metadata.tenant_id": (Field.TENANT, plain_text, 6),
    "langfuse.trace.metadata.locale": (Field.LOCALE, plain_text, 5),
}
OBSERVED_IN, OBSERVED_OUT = "langfuse.observation.input", "langfuse.observation.output"
MASKED = "<fully masked due to failed mask function>"
CACHED = ("input_cache_read", "cache_read_input_tokens", "input_cached_tokens", "cache_read")
THOUGHT = ("output_reasoning", "output_reasoning_tokens", "reasoning_tokens", "reasoning")
UNTYPED = frozenset({"", "span", "chain", "tool", "retriever"})
"""Types that are too general to overrule the name of an observation."""


def claims(span: Span) -> Iterator[Claim]:
    """Reads the claims of a Langfuse observation."""
    attributes = span.attributes
    role = _role(span)
    if role is not None:
        yield Claim(Field.ROLE, role, 1)
    elif "langfuse.observation.type" in attributes:
        yield Claim(Field.ROLE, SpanRole.CHAIN, 20)  # an unknown type: any other claim is better
    yield from scalar_claims(attributes, SCALARS)
    if text(attributes.get("langfuse.observation.level")).upper() == "ERROR":
        why = plain_text(attributes.get("langfuse.observation.status_message"))
        yield Claim(Field.ERROR, why or UNNAMED, 5)
    if role is SpanRole.LLM:
        yield from _generation(span)
    if role in (SpanRole.LLM, SpanRole.EMBEDDING, SpanRole.RERANKER):
        yield from _usage(attributes)
    yield from _inputs(attributes, role)
    yield from _outputs(span, role)


def _role(span: Span) -> SpanRole | None:
    """The role by type; a reranker by its name, but only if it returned documents."""
    kind = text(span.attributes.get("langfuse.observation.type")).lower()
    if kind in UNTYPED and "rerank" in span.name.lower():
        ranked = returned_documents(span.attributes.get(OBSERVED_OUT))
        if isinstance(ranked, Listing) and ranked.documents:
            return SpanRole.RERANKER
    return ROLES.get(kind)


def _inputs(attributes: Attributes, role: SpanRole | None) -> Iterator[Claim]:
    """The input of an observation, and of the trace if the user's code set it on this span."""
    for name, precedence in ((OBSERVED_IN, 5), ("langfuse.trace.input", 4)):
        value = attributes.get(name)
        if value is None:
            continue
        if value == MASKED:
            yield Claim(Field.INPUT, Withheld.HIDDEN, precedence)
        elif role in (SpanRole.LLM, SpanRole.EMBEDDING) and name == OBSERVED_IN:
            claim_field = Field.PROMPT if role is SpanRole.LLM else Field.QUERY
            yield Claim(
                claim_field,
                partial(prompt_messages if role is SpanRole.LLM else question_in_arguments, value),
                5,
            )
        else:
            yield Claim(Field.INPUT, partial(_question_or_all, value), precedence)
    if role is SpanRole.RERANKER and OBSERVED_IN in attributes:
        yield Claim(Field.RERANK_INPUT, partial(documents_in_arguments, attributes[OBSERVED_IN]), 5)


def _question_or_all(value: object) -> object:
    return question_in_arguments(value) or value


def _outputs(span: Span, role: SpanRole | None) -> Iterator[Claim]:
    attributes = span.attributes
    value = attributes.get(OBSERVED_OUT)
    if value is not None and role not in (SpanRole.LLM, SpanRole.EMBEDDING):
        yield Claim(Field.OUTPUT, Withheld.HIDDEN if value == MASKED else value, 5)
    if "langfuse.trace.output" in attributes:
        yield Claim(Field.OUTPUT, attributes["langfuse.trace.output"], 4)
    if value == MASKED:
        claim_field = Field.RERANKED if role is SpanRole.RERANKER else Field.RETRIEVED
        if role in (SpanRole.RETRIEVER, SpanRole.RERANKER):
            yield Claim(claim_field, Withheld.HIDDEN, 5)
    elif value is not None:
        if role is SpanRole.RERANKER:
            yield Claim(Field.RERANKED, partial(returned_documents, value), 5)
        elif role is SpanRole.TOOL:
            yield Claim(Field.RETRIEVED, partial(tool_message_documents, value), 5)
        elif role is SpanRole.RETRIEVER or _is_named_retrieval(span, role):
            yield Claim(Field.RETRIEVED, partial(returned_documents, value), 5)


def _is_named_retrieval(span: Span, role: SpanRole | None) -> bool:
    """Whether it is a function without a type whose name says that it retrieves."""
    return role in (None, SpanRole.CHAIN) and "retriev" in span.name.lower()


def _generation(span: Span) -> Iterator[Claim]:
    attributes = span.attributes
    output = attributes.get(OBSERVED_OUT)
    if output == MASKED:
        yield Claim(Field.REPLY, Withheld.HIDDEN, 5)
    elif output is not None:
        yield Claim(Field.REPLY, partial(reply_messages, output), 5)
        yield Claim(Field.RAW_REPLY, output, 5)
    if attributes.get(OBSERVED_IN) == MASKED:
        yield Claim(Field.PROMPT, Withheld.HIDDEN, 5)
    parameters = attributes.get("langfuse.observation.model.parameters")
    if parameters is not None:
        yield Claim(Field.TEMPERATURE, partial(_parameter, parameters, "temperature"), 5)
        yield Claim(Field.MAX_TOKENS, partial(_max_tokens, parameters), 5)
    started = attributes.get("langfuse.observation.completion_start_time")
    if started is not None:
        yield Claim(Field.FIRST_TOKEN_SECONDS, _seconds_since(span, plain_text(started)), 4)


def _parameter(parameters: object, name: str) -> float | None:
    return number(first_member(parameters, name))


def _max_tokens(parameters: object) -> int | None:
    return whole(
        first_member(parameters, "max_tokens", "max_completion_tokens", "max_output_tokens")
    )


def _seconds_since(span: Span, moment: str) -> float | None:
    """Seconds from the start of a span to a moment in ISO 8601; None if outside of the span."""
    with suppress(ValueError):  # not a date: no claim
        at = datetime.fromisoformat(moment)
        at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
        seconds = at.timestamp() - span.start_unix_nano / 1e9
        return seconds if 0 <= seconds <= _length(span) else None
    return None


def _length(span: Span) -> float:
    return (span.end_unix_nano - span.start_unix_nano) / 1e9


def _usage(attributes: Attributes) -> Iterator[Claim]:
    usage = as_container(attributes.get("langfuse.observation.usage_details")).value
    if isinstance(usage, dict):
        names = {str(name): tokens for name, count in usage.items()
                 if (tokens := whole(count)) is not None}  # fmt: skip
        yield Claim(Field.INPUT_TOKENS, _side(names, "input", "prompt_tokens"), 6)
        yield Claim(Field.OUTPUT_TOKENS, _side(names, "output", "completion_tokens"), 6)
        yield Claim(Field.CACHE_READ_TOKENS, _first(names, CACHED), 6)
        yield Claim(Field.REASONING_TOKENS, _first(names, THOUGHT), 6)
    costs = as_container(attributes.get("langfuse.observation.cost_details")).value
    if isinstance(costs, dict):
        parts = [cost for part in costs.values() if (cost := number(part)) is not None]
        total = number(costs.get("total"))
        yield Claim(Field.COST_USD, total if total is not None else sum(parts) or None, 4)


def _first(names: dict[str, int], known: tuple[str, ...]) -> int | None:
    return next((names[name] for name in known if name in names), None)


def _side(names: dict[str, int], side: str, older: str) -> int | None:
    """All tokens of a side (input or output).

    LangChain subtracts the details from `input` and `output`, so they are added again, unless the
    total shows that they were not subtracted.
    """
    for name in (older, f"{side}_tokens"):
        if name in names:
            return names[name]
    if side not in names:
        return None
    if names.get("total") == names.get("input", 0) + names.get("output", 0):
        return names[side]
    return names[side] + sum(count for name, count in names.items() if name.startswith(f"{side}_"))
