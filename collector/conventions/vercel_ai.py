"""Vercel AI SDK 3 to 7: `ai.*` attributes, including tool calls and reranking.

The wrapper of a call (`ai.generateText`) and each model call below it (`….doGenerate`) both have
the text and the usage: only the inner span counts as a call. SDK 7 also writes `gen_ai.*`, which
`otel_genai` reads.
Source: vercel/ai `packages/ai/src`, `packages/otel`; docs of AI SDK telemetry.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from collector.claims.claim import (
    NO_TEXT,
    Claim,
    Field,
    Listing,
    Message,
    SpanRole,
    Withheld,
    scalar_claims,
)
from collector.claims.documents import Draft, draft, draft_of, listing
from collector.claims.messages import text_of
from collector.claims.payload import question_of
from collector.claims.prompt_chunks import context_blocks, question_in
from collector.claims.recover import as_container, as_json, number, text, whole
from collector.claims.traced_calls import (
    decode,
    first_member,
    plain_text,
    question_in_arguments,
    tool_message_documents,
)
from ragvigil.model.span import Attributes, AttributeValue, Span

ROOTS = frozenset({"ai"})

# The names of newer SDKs have the lower number, so they win if a span has both.
SCALARS = {
    "ai.response.model": (Field.MODEL, text, 4),
    "ai.model.id": (Field.MODEL, text, 8),
    "ai.usage.inputTokens": (Field.INPUT_TOKENS, whole, 4),
    "ai.usage.promptTokens": (Field.INPUT_TOKENS, whole, 5),
    "ai.usage.tokens": (Field.INPUT_TOKENS, whole, 6),
    "ai.usage.outputTokens": (Field.OUTPUT_TOKENS, whole, 4),
    "ai.usage.completionTokens": (Field.OUTPUT_TOKENS, whole, 5),
    "ai.usage.inputTokenDetails.cacheReadTokens": (Field.CACHE_READ_TOKENS, whole, 4),
    "ai.usage.cachedInputTokens": (Field.CACHE_READ_TOKENS, whole, 5),
    "ai.usage.outputTokenDetails.reasoningTokens": (Field.REASONING_TOKENS, whole, 4),
    "ai.usage.reasoningTokens": (Field.REASONING_TOKENS, whole, 5),
    "ai.response.finishReason": (Field.FINISH_REASON, text, 4),
    "ai.finishReason": (Field.FINISH_REASON, text, 6),
    "ai.response.id": (Field.RESPONSE_ID, text, 4),
    "ai.settings.temperature": (Field.TEMPERATURE, number, 5),
    "ai.settings.maxOutputTokens": (Field.MAX_TOKENS, whole, 5),
    "ai.settings.maxTokens": (Field.MAX_TOKENS, whole, 6),
    "ai.telemetry.functionId": (Field.WORKFLOW, text, 5),
    "resource.name": (Field.WORKFLOW, text, 6),
}
METADATA = "ai.telemetry.metadata."
METADATA_FIELDS = {
    "sessionId": (Field.SESSION, 5), "session_id": (Field.SESSION, 5),
    "threadId": (Field.SESSION, 6), "thread_id": (Field.SESSION, 6),
    "conversationId": (Field.SESSION, 6), "chatId": (Field.SESSION, 7),
    "userId": (Field.USER, 5), "user_id": (Field.USER, 5),
    "tenant": (Field.TENANT, 5), "tenantId": (Field.TENANT, 6), "tenant_id": (Field.TENANT, 6),
    "locale": (Field.LOCALE, 5), "environment": (Field.ENVIRONMENT, 6),
    "promptVersion": (Field.PROMPT_VERSION, 6), "prompt_version": (Field.PROMPT_VERSION, 6),
}  # fmt: skip
CALLS, RESULTS = frozenset({"tool-call", "tool_call"}), frozenset({"tool-result", "tool_result"})
COMPACT = (",", ":")
"""Separators of `JSON.stringify`, which the SDK uses to write a result for the model."""
OLDER = "ai.result."
"""Names of results before SDK 4: `ai.result.text` for `ai.response.text`."""


def claims(span: Span) -> Iterator[Claim]:
    """Reads the claims of a span of the AI SDK."""
    attributes = span.attributes
    role = _role(attributes)
    if role is not None:
        yield Claim(Field.ROLE, role, 6)
    yield from scalar_claims(attributes, SCALARS)
    yield from _metadata(attributes)
    if role is SpanRole.LLM:
        yield from _model_call(attributes)
    elif role is SpanRole.TOOL:
        yield from _tool_call(attributes)
    elif role is SpanRole.RERANKER:
        yield from _ranking(attributes)
    elif role is SpanRole.EMBEDDING:
        values = attributes.get("ai.values", attributes.get("ai.value"))
        yield Claim(Field.QUERY, partial(_embedding_query, values), 6)
    else:
        yield from _wrapper(attributes)


def _role(attributes: Attributes) -> SpanRole | None:
    """The role by operation. SDK 7 has no operation of its own: there `gen_ai.*` has the role."""
    operation = text(attributes.get("ai.operationId"))
    if not operation:
        operation = text(attributes.get("operation.name")).partition(" ")[0]
    if not operation.startswith("ai."):
        return SpanRole.RERANKER if "ai.ranking" in attributes else None
    if operation.startswith("ai.rerank"):
        return SpanRole.RERANKER
    last = operation.rpartition(".")[2]
    if last in ("doGenerate", "doStream"):
        return SpanRole.LLM
    if last == "doEmbed":
        return SpanRole.EMBEDDING
    return SpanRole.TOOL if last == "toolCall" else SpanRole.CHAIN


def _metadata(attributes: Attributes) -> Iterator[Claim]:
    for key, value in attributes.items():
        if not key.startswith(METADATA):
            continue
        name = key[len(METADATA) :]
        if name in METADATA_FIELDS:
            claim_field, precedence = METADATA_FIELDS[name]
            yield Claim(claim_field, text(value), precedence)
        elif name == "langfusePrompt":
            yield Claim(Field.PROMPT_VERSION, text(first_member(value, "version")), 5)


def _result(attributes: Attributes, name: str) -> AttributeValue:
    """A result under its name, or under its name in older SDKs."""
    return attributes.get("ai.response." + name, attributes.get(OLDER + name))


def _model_call(attributes: Attributes) -> Iterator[Claim]:
    messages = attributes.get("ai.prompt.messages", attributes.get("ai.prompt"))
    if messages is not None:
        yield Claim(Field.PROMPT, partial(_prompt, messages), 5)
    yield Claim(Field.REPLY, partial(_reply, attributes), 5)
    if "ai.response.providerMetadata" in attributes:
        yield Claim(Field.RAW_REPLY, attributes["ai.response.providerMetadata"], 6)
    milliseconds = number(_result(attributes, "msToFirstChunk"))
    if milliseconds is None:
        milliseconds = number(attributes.get("ai.stream.msToFirstChunk"))
    if milliseconds is not None:
        yield Claim(Field.FIRST_TOKEN_SECONDS, milliseconds / 1000, 3)


def _wrapper(attributes: Attributes) -> Iterator[Claim]:
    """`ai.generateText` and its like: the whole turn, with the user's text and the last reply."""
    if "ai.prompt" in attributes:
        yield Claim(Field.INPUT, partial(_question, attributes["ai.prompt"]), 5)
    elif "ai.value" in attributes:
        yield Claim(Field.INPUT, partial(question_in_arguments, attributes["ai.value"]), 5)
    for name in ("text", "object"):
        if _result(attributes, name):
            yield Claim(Field.OUTPUT, _result(attributes, name), 5)


def _question(value: object) -> str | None:
    """The user's text: the prompt beside the system prompt, or the last message of a chat.

    If the prompt contains the context, only the question that its template labels.
    """
    prompt = first_member(value, "messages", "prompt")
    words = question_of(prompt if prompt is not None else value)
    return question_in(words) if words and context_blocks([words]) else words


def _embedding_query(values: object) -> str | None:
    """The embedded text; None if there are several, because none is the question then."""
    entries = values if isinstance(values, list) else [values]
    return (
        question_in_arguments(entries[0]) if len(entries) == 1 and entries[0] is not None else None
    )


def _prompt(value: object) -> tuple[Message, ...] | Withheld | None:
    """`ai.prompt.messages`, or `ai.prompt` with a system text beside the messages or the prompt."""
    container, complete = as_container(value)
    system = ""
    if isinstance(container, dict):
        system = text(container.get("system"))
        container = first_member(container, "messages", "prompt")
    if isinstance(container, str):
        messages = [Message("user", container)]
    else:
        entries = container if isinstance(container, list) else []
        messages = [message for entry in entries for message in _messages(entry)]
    if system:
        messages.insert(0, Message("system", system))
    if messages:
        return tuple(messages)
    return None if complete else Withheld.TRUNCATED


def _messages(entry: object) -> Iterator[Message]:
    """A message of the SDK: text and calls as one message, each tool result as another."""
    if not isinstance(entry, dict):
        return
    role, content = text(entry.get("role")) or "user", entry.get("content")
    parts = content if isinstance(content, list) else [content]
    results = [part for part in parts if _kind(part) in RESULTS]
    body = text_of([part for part in parts if _kind(part) not in RESULTS | CALLS])
    calls = any(_kind(part) in CALLS for part in parts)
    # A message of tool results alone has no text of its own.
    if body or calls or not results:
        yield Message(role, body, calls)
    for part in results:
        yield Message("tool", _as_text(first_member(part, "output", "result")))


def _kind(part: object) -> str:
    return text(part.get("type")) if isinstance(part, dict) else ""


def _as_text(output: object) -> str:
    """A tool's result as the model read it; SDK 5 wraps it in `{"type": …, "value": …}`."""
    if isinstance(output, dict) and "value" in output and "type" in output:
        output = output["value"]
    if isinstance(output, str):
        return output
    if isinstance(output, list) and any(_kind(part) == "text" for part in output):
        return text_of(output)
    return as_json(output, COMPACT) if isinstance(output, (list, dict)) else text(output)


def _reply(attributes: Attributes) -> tuple[Message, ...] | None:
    calls = as_container(_result(attributes, "toolCalls")).value
    body = text(_result(attributes, "text")) or text(_result(attributes, "object"))
    if not body and not calls:
        return NO_TEXT if _result(attributes, "text") == "" else None
    return (Message("assistant", body, bool(calls)),)


def _tool_call(attributes: Attributes) -> Iterator[Claim]:
    arguments, result = attributes.get("ai.toolCall.args"), attributes.get("ai.toolCall.result")
    if "ai.toolCall.name" in attributes:
        yield Claim(Field.TOOL_NAME, text(attributes["ai.toolCall.name"]), 3)
    if arguments is not None:
        yield Claim(Field.QUERY, partial(question_in_arguments, arguments), 6)
    if result is not None:
        yield Claim(Field.OUTPUT, partial(decode, result), 6)
        yield Claim(Field.RETRIEVED, partial(tool_message_documents, result), 6)


def _ranking(attributes: Attributes) -> Iterator[Claim]:
    """`ai.documents`, each as JSON text, and their order with scores in `ai.ranking`."""
    entries = attributes.get("ai.documents")
    drafts = [_document(entry) for entry in entries] if isinstance(entries, list) else []
    if not drafts:
        return
    yield Claim(Field.RERANK_INPUT, listing(drafts), 4)
    ranking = attributes.get("ai.ranking")
    if isinstance(ranking, list):
        yield Claim(Field.RERANKED, partial(_ranked, drafts, ranking), 4)


def _document(entry: object) -> Draft:
    value = decode(entry)
    if isinstance(value, Mapping):
        return draft_of(value) or draft(None, as_json(value, COMPACT))
    return draft(None, value if isinstance(value, str) else plain_text(entry))


def _ranked(drafts: list[Draft], ranking: list[AttributeValue]) -> Listing | Withheld | None:
    ranked = []
    for entry in ranking:
        index = whole(first_member(entry, "index", "originalIndex"))
        if index is None or index >= len(drafts):
            return None  # it ranks a document that `ai.documents` lacks
        score = number(first_member(entry, "relevanceScore", "score"))
        ranked.append(drafts[index]._replace(score=score))
    return listing(ranked)
