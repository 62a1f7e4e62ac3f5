"""Genkit (Google, Firebase): `genkit:input` and `genkit:output` of every action, as JSON text.

An action is a flow, a model, a retriever, a reranker, an embedder or a tool, by its subtype. Texts
are lists of parts, `{text}`, `{toolRequest}` or `{toolResponse}`. The exporter for Google Cloud may
put `<redacted>` in place of inputs and outputs.
Source: genkit 1.42 for JavaScript, `core/src/tracing/instrumentation.ts`, `ai/src/model-types.ts`,
`ai/src/document.ts`; its plug-in google-cloud, `gcpOpenTelemetry.ts`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from collector.claims.claim import NO_TEXT, Claim, Field, Listing, Message, SpanRole, Withheld
from collector.claims.documents import REDACTED, listed_under
from collector.claims.messages import text_of
from collector.claims.recover import as_container, number, text, whole
from collector.claims.tool_results import messages_with_tools, tool_result_documents
from collector.claims.traced_calls import question_in_arguments
from ragvigil.model.span import Attributes, AttributeValue, Span

ROOTS = frozenset({"genkit:type"})

ROLES = {
    "flow": SpanRole.CHAIN, "util": SpanRole.CHAIN, "agent": SpanRole.AGENT,
    "model": SpanRole.LLM, "background-model": SpanRole.LLM, "embedder": SpanRole.EMBEDDING,
    "retriever": SpanRole.RETRIEVER, "reranker": SpanRole.RERANKER, "tool": SpanRole.TOOL,
    "tool.v2": SpanRole.TOOL, "prompt": SpanRole.PROMPT, "executable-prompt": SpanRole.CHAIN,
    "evaluator": SpanRole.EVALUATOR,
}  # fmt: skip
HIDDEN = ("<redacted>", REDACTED)
USAGE = (
    ("inputTokens", Field.INPUT_TOKENS), ("outputTokens", Field.OUTPUT_TOKENS),
    ("cachedContentTokens", Field.CACHE_READ_TOKENS), ("thoughtsTokens", Field.REASONING_TOKENS),
)  # fmt: skip


def claims(span: Span) -> Iterator[Claim]:
    """Reads the claims of a Genkit action."""
    attributes = span.attributes
    kind = text(attributes.get("genkit:metadata:subtype")) or text(attributes.get("genkit:type"))
    role = ROLES.get(kind)
    if role is not None:
        yield Claim(Field.ROLE, role, 4)
    if kind == "flow":
        yield Claim(Field.WORKFLOW, text(attributes.get("genkit:name")), 4)
    inputs, outputs = attributes.get("genkit:input"), attributes.get("genkit:output")
    if role is SpanRole.LLM:
        yield from _model(attributes, inputs, outputs)
    elif role in (SpanRole.RETRIEVER, SpanRole.RERANKER):
        yield from _search(role, inputs, outputs)
    elif role is SpanRole.EMBEDDING:
        return  # its input is a whole batch of texts
    elif role is not None:
        yield from _call(role, inputs, outputs)


def _visible(field: Field, value: AttributeValue, reading: object) -> Claim:
    return Claim(field, Withheld.HIDDEN if value in HIDDEN else reading, 5)


def _call(role: SpanRole, inputs: AttributeValue, outputs: AttributeValue) -> Iterator[Claim]:
    if inputs is not None:
        yield _visible(Field.INPUT, inputs, inputs)
    if outputs is not None:
        yield _visible(Field.OUTPUT, outputs, outputs)
    if role is SpanRole.TOOL:
        yield _visible(Field.QUERY, inputs, partial(question_in_arguments, inputs))
        yield _visible(Field.RETRIEVED, outputs, partial(tool_result_documents, outputs))


def _search(role: SpanRole, inputs: AttributeValue, outputs: AttributeValue) -> Iterator[Claim]:
    yield _visible(Field.QUERY, inputs, partial(_query, inputs))
    if role is SpanRole.RERANKER:
        yield _visible(Field.RERANK_INPUT, inputs, partial(_documents, inputs))
        yield _visible(Field.RERANKED, outputs, partial(_documents, outputs))
    else:
        yield _visible(Field.RETRIEVED, outputs, partial(_documents, outputs))
        options = _member(inputs, "options")
        yield Claim(Field.TOP_K, whole(options.get("k")), 5)


def _model(
    attributes: Attributes, inputs: AttributeValue, outputs: AttributeValue
) -> Iterator[Claim]:
    yield Claim(Field.MODEL, text(attributes.get("genkit:name")).partition("/")[2], 5)
    yield _visible(Field.PROMPT, inputs, partial(_messages, inputs, "messages", "user"))
    config = _member(inputs, "config")
    yield Claim(Field.TEMPERATURE, number(config.get("temperature")), 5)
    yield Claim(Field.MAX_TOKENS, whole(config.get("maxOutputTokens")), 5)
    if outputs is None:
        return
    yield _visible(Field.REPLY, outputs, partial(_messages, outputs, "message", "assistant"))
    yield _visible(Field.RAW_REPLY, outputs, outputs)
    usage = _member(outputs, "usage")
    for name, field in USAGE:
        if name in usage:
            yield Claim(field, whole(usage[name]), 5)
    body = as_container(outputs).value
    if isinstance(body, dict):
        yield Claim(Field.FINISH_REASON, text(body.get("finishReason")), 5)


def _member(value: object, name: str) -> Mapping[str, object]:
    body = as_container(value).value
    member = body.get(name) if isinstance(body, dict) else None
    return member if isinstance(member, dict) else {}


def _query(value: object) -> str | None:
    body = as_container(value).value
    query = body.get("query") if isinstance(body, dict) else None
    return text_of(_plain_parts(query)) or None


def _plain_parts(document: object) -> object:
    """The parts of a document or a message that are texts."""
    parts = document.get("content") if isinstance(document, dict) else document
    if not isinstance(parts, list):
        return parts
    return [part for part in parts if isinstance(part, dict) and "text" in part]


def _documents(value: object) -> Listing | Withheld | None:
    """The documents of a search."""
    return listed_under("documents", value, lambda entry: text_of(_plain_parts(entry)) or None)


def _messages(value: object, name: str, role: str) -> tuple[Message, ...] | Withheld | None:
    body, complete = as_container(value)
    if not isinstance(body, dict):
        return None if complete else Withheld.TRUNCATED
    found = body.get(name)
    entries = found if isinstance(found, list) else [found]
    messages = messages_with_tools([_typed(entry) for entry in entries], role)
    if not isinstance(messages, tuple) or messages == NO_TEXT or role == "user":
        return messages if messages or complete else Withheld.TRUNCATED
    return tuple(message._replace(role=role) for message in messages)


def _typed(message: object) -> object:
    """A message whose parts name their type, as other conventions do."""
    if not isinstance(message, dict) or not isinstance(message.get("content"), list):
        return message
    return {**message, "content": [_typed_part(part) for part in message["content"]]}


def _typed_part(part: object) -> object:
    if not isinstance(part, dict):
        return part
    if "toolRequest" in part:
        return {"type": "tool_call"}
    if isinstance(part.get("toolResponse"), dict):
        return {"type": "tool_call_response", "response": part["toolResponse"].get("output")}
    if "reasoning" in part:
        return {"type": "reasoning", "content": part["reasoning"]}
    return part
