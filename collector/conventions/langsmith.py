"""LangSmith's SDKs over OTLP: `langsmith.*`; every run has JSON in `gen_ai.prompt`/`completion`.

`gen_ai.operation.name` is of no use here: retrievers have `embeddings`. There is no type for
rerankers: only the name of the run reveals them.
Source: langchain-ai/langsmith-sdk 0.11, `_internal/otel/_otel_exporter.py`, `js/src/experimental`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from collector.claims.claim import NO_TEXT, Claim, Field, Message, SpanRole, Withheld, scalar_claims
from collector.claims.documents import REDACTED
from collector.claims.messages import messages_of
from collector.claims.payload import answer_of
from collector.claims.recover import as_container, number, text, whole
from collector.claims.traced_calls import (
    decode,
    documents_in_arguments,
    first_member,
    prompt_messages,
    question_in_arguments,
    reply_messages,
    returned_documents,
    tool_message_documents,
)
from ragvigil.model.span import Attributes, Span

ROOTS = frozenset({"langsmith"})

ROLES = {
    "llm": SpanRole.LLM, "chain": SpanRole.CHAIN, "tool": SpanRole.TOOL,
    "retriever": SpanRole.RETRIEVER, "embedding": SpanRole.EMBEDDING, "prompt": SpanRole.PROMPT,
    "parser": SpanRole.CHAIN,
}  # fmt: skip
SCALARS = {
    "langsmith.metadata.session_id": (Field.SESSION, text, 4),
    "langsmith.metadata.thread_id": (Field.SESSION, text, 5),
    "langsmith.metadata.conversation_id": (Field.SESSION, text, 6),
    "langsmith.trace.session_id": (Field.SESSION, text, 8),
    "langsmith.metadata.user_id": (Field.USER, text, 5),
    "langsmith.metadata.tenant": (Field.TENANT, text, 5),
    "langsmith.metadata.tenant_id": (Field.TENANT, text, 6),
    "langsmith.metadata.locale": (Field.LOCALE, text, 5),
    "langsmith.metadata.lc_hub_commit_hash": (Field.PROMPT_VERSION, text, 6),
    "langsmith.metadata.ls_model_name": (Field.MODEL, text, 7),
    "langsmith.metadata.ls_temperature": (Field.TEMPERATURE, number, 5),
    "langsmith.metadata.ls_max_tokens": (Field.MAX_TOKENS, whole, 5),
}
INPUTS, OUTPUTS = "gen_ai.prompt", "gen_ai.completion"
HIDDEN = (REDACTED, "{}")
"""Inputs or outputs that are switched off arrive as an empty mapping."""
RERANKING = ("rerank", "contextualcompression", "crossencoder")
RERANKED_BY_NAME = frozenset({"chain", "tool", "retriever"})
DETAILS = (
    ("gen_ai.usage.input_token_details", "cache_read", Field.CACHE_READ_TOKENS),
    ("gen_ai.usage.output_token_details", "reasoning", Field.REASONING_TOKENS),
)


def claims(span: Span) -> Iterator[Claim]:
    """Reads the claims of a LangSmith run."""
    attributes = span.attributes
    role = _role(span)
    if role is not None:
        yield Claim(Field.ROLE, role, 3)
    yield from scalar_claims(attributes, SCALARS)
    if not span.parent_span_id and "langsmith.trace.name" in attributes:
        yield Claim(Field.WORKFLOW, text(attributes["langsmith.trace.name"]), 5)
    if role is SpanRole.LLM:
        yield from _usage_details(attributes)
    if INPUTS in attributes:
        yield from _inputs(attributes[INPUTS], role)
    if OUTPUTS in attributes:
        yield from _outputs(attributes[OUTPUTS], role)
        if role is SpanRole.CHAIN and "retriev" in span.name.lower():
            yield Claim(Field.RETRIEVED, partial(_from_chain, attributes[OUTPUTS]), 8)


def _role(span: Span) -> SpanRole | None:
    kind = text(span.attributes.get("langsmith.span.kind")).lower()
    name = (text(span.attributes.get("langsmith.trace.name")) or span.name).lower()
    if kind in RERANKED_BY_NAME and any(part in name for part in RERANKING):
        return SpanRole.RERANKER
    return ROLES.get(kind)


def _usage_details(attributes: Attributes) -> Iterator[Claim]:
    for name, key, claim_field in DETAILS:
        if name in attributes:
            yield Claim(claim_field, whole(first_member(attributes[name], key)), 5)


def _inputs(value: object, role: SpanRole | None) -> Iterator[Claim]:
    """The inputs of a run: arguments by name, or a model's request."""
    if value in HIDDEN:
        hidden_field = {SpanRole.LLM: Field.PROMPT, SpanRole.EMBEDDING: Field.QUERY}
        yield Claim(
            hidden_field.get(role, Field.INPUT) if role else Field.INPUT, Withheld.HIDDEN, 5
        )
    elif role is SpanRole.LLM:
        yield Claim(Field.PROMPT, partial(prompt_messages, value), 5)
    elif role in (SpanRole.RETRIEVER, SpanRole.EMBEDDING, SpanRole.RERANKER):
        yield Claim(Field.QUERY, partial(question_in_arguments, value), 8)
    elif role is not None:
        yield Claim(Field.INPUT, partial(_question_or_all, value), 5)
    if role is SpanRole.RERANKER:
        yield Claim(Field.RERANK_INPUT, partial(documents_in_arguments, value), 5)


def _question_or_all(value: object) -> object:
    return question_in_arguments(value) or value


def _outputs(value: object, role: SpanRole | None) -> Iterator[Claim]:
    """The outputs of a run: a mapping; any other result is its member `output`."""
    hidden = value in HIDDEN
    if role is SpanRole.LLM:
        yield Claim(Field.REPLY, Withheld.HIDDEN if hidden else partial(_reply, value), 5)
        if not hidden:
            yield Claim(Field.RAW_REPLY, value, 5)
            yield Claim(Field.FINISH_REASON, partial(_finish_reason, value), 5)
    elif role is SpanRole.RETRIEVER:
        yield Claim(
            Field.RETRIEVED, Withheld.HIDDEN if hidden else partial(_output_documents, value), 8
        )
    elif role is SpanRole.RERANKER:
        yield Claim(
            Field.RERANKED, Withheld.HIDDEN if hidden else partial(_output_documents, value), 8
        )
    elif role not in (None, SpanRole.EMBEDDING, SpanRole.PROMPT):
        yield Claim(Field.OUTPUT, Withheld.HIDDEN if hidden else value, 5)
        if role is SpanRole.TOOL and not hidden:
            yield Claim(Field.RETRIEVED, partial(_from_tool, value), 8)


def _output_documents(value: object) -> object:
    inner = first_member(value, "output", "outputs")
    return returned_documents(inner if isinstance(inner, (list, str)) else value)


def _from_chain(value: object) -> object:
    """Documents from a function or graph node named for retrieving; None if it also answers."""
    return None if value in HIDDEN or answer_of(value) else _output_documents(value)


def _from_tool(value: object) -> object:
    inner = first_member(value, "output", "outputs")
    return tool_message_documents(inner if inner is not None else value)


def _generation(value: object) -> dict[str, object]:
    """LangChain's first generation; empty if the call returned something else."""
    generations = first_member(value, "generations")
    # A list per prompt of a batch, each a list of generations.
    while isinstance(generations, list) and generations:
        generations = generations[0]
    return generations if isinstance(generations, dict) else {}


def _reply(value: object) -> tuple[Message, ...] | Withheld | None:
    """LangChain's message, which may only call tools, else the result of another model call."""
    message = _generation(value).get("message")
    if isinstance(message, dict):
        messages = messages_of([message], "assistant")
        if isinstance(messages, tuple) and any(
            message.text or message.calls_tool for message in messages
        ):
            return messages
    container, complete = as_container(value)
    inner = first_member(container, "output") if isinstance(container, dict) else None
    reply = reply_messages(inner if isinstance(inner, (str, list, dict)) else decode(value))
    is_cut = container is not None and not complete
    return Withheld.TRUNCATED if is_cut and reply == NO_TEXT else reply


def _finish_reason(value: object) -> str:
    information = _generation(value).get("generation_info")
    reason = information.get("finish_reason") if isinstance(information, dict) else None
    return text(reason)
