"""LlamaIndex's own tracer: its instrumentation events as span events, each field an attribute.

The spans themselves have no content. Every event lists its fields, with nested mappings flattened
(`response.message.blocks`) and lists as JSON text. The events' own times are the end of their span;
the real time is in `timestamp`. Its GenAI mode writes OTel's names.
Source: llama-index-observability-otel 0.7, llama-index-core 0.14 `instrumentation/events`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial

from collector.claims.claim import NO_TEXT, Claim, Field, Listing, Message, SpanRole, Withheld
from collector.claims.documents import find_documents
from collector.claims.messages import is_empty_reply, messages_of
from collector.claims.recover import as_container, number, text, whole
from collector.claims.traced_calls import plain_text
from ragvigil.model.span import Attributes, Span

ROLES = (
    ("ReRank", SpanRole.RERANKER), ("Retrieval", SpanRole.RETRIEVER),
    ("LLMChat", SpanRole.LLM), ("LLMCompletion", SpanRole.LLM),
    ("Embedding", SpanRole.EMBEDDING), ("SparseEmbedding", SpanRole.EMBEDDING),
    ("AgentChatWithStep", SpanRole.AGENT), ("AgentRunStep", SpanRole.CHAIN),
    ("Query", SpanRole.CHAIN), ("Synthesize", SpanRole.CHAIN), ("StreamChat", SpanRole.CHAIN),
    ("GetResponse", SpanRole.CHAIN), ("LLMPredict", SpanRole.CHAIN),
)  # fmt: skip
ROOTS = frozenset(f"{name}{at}Event" for name, _ in ROLES for at in ("Start", "InProgress", "End"))

QUERIES = ("str_or_query_bundle.query_str", "str_or_query_bundle", "query.query_str", "query",
           "query_str", "user_msg", "input")  # fmt: skip
ANSWERS = ("response.response", "response", "output")
MODEL_CALL = {
    "model_dict.model_name": (Field.MODEL, text, 7),
    "model_dict.model": (Field.MODEL, text, 8),
    "model_name": (Field.MODEL, text, 8),
    "top_n": (Field.TOP_K, whole, 5),
    "model_dict.temperature": (Field.TEMPERATURE, number, 5),
    "model_dict.max_tokens": (Field.MAX_TOKENS, whole, 5),
    "response.raw.model": (Field.MODEL, text, 6),
    "response.raw.id": (Field.RESPONSE_ID, text, 5),
    "response.raw.usage.prompt_tokens": (Field.INPUT_TOKENS, whole, 5),
    "response.raw.usage.completion_tokens": (Field.OUTPUT_TOKENS, whole, 5),
    "response.raw.usage.input_tokens": (Field.INPUT_TOKENS, whole, 5),
    "response.raw.usage.output_tokens": (Field.OUTPUT_TOKENS, whole, 5),
    "response.raw.stop_reason": (Field.FINISH_REASON, text, 5),
}
TEXTS = ("response.message.content", "response.text")
ABSENT = frozenset({"", "null"})


def claims(span: Span) -> Iterator[Claim]:
    """Reads the claims of LlamaIndex's events on a span."""
    events_by_subject = _events_by_subject(span)
    name, role = next(
        ((subject, role) for subject, role in ROLES if subject in events_by_subject), ("", None)
    )
    if role is None:
        return
    yield Claim(Field.ROLE, role, 9)
    events = events_by_subject[name]
    merged = {key: value for event in events for key, value in event.items()}
    if role in (SpanRole.LLM, SpanRole.EMBEDDING, SpanRole.RERANKER):
        for key in merged.keys() & MODEL_CALL.keys():
            field, read, precedence = MODEL_CALL[key]
            yield Claim(field, read(merged[key]), precedence)
    if role is SpanRole.LLM:
        yield Claim(Field.PROMPT, partial(_prompt, merged), 6)
        yield Claim(Field.REPLY, partial(_reply, merged), 6)
        yield Claim(Field.FIRST_TOKEN_SECONDS, _first_token(events), 5)
    elif role is SpanRole.EMBEDDING:
        yield Claim(Field.QUERY, partial(_embedding_query, merged), 6)
    elif role is SpanRole.RETRIEVER or role is SpanRole.RERANKER:
        yield Claim(Field.QUERY, _first(merged, QUERIES), 6)
        yield from _nodes(events, role)
    else:
        yield Claim(Field.INPUT, _first(merged, QUERIES), 7)
        yield Claim(Field.OUTPUT, _first(merged, ANSWERS), 7)


def _events_by_subject(span: Span) -> dict[str, list[Attributes]]:
    """The events by subject (`LLMChat`), in the order of the span: start before end."""
    events_by_subject: dict[str, list[Attributes]] = {}
    for event in span.events:
        if event.name in ROOTS:
            about = event.name.removesuffix("Event")
            for ending in ("Start", "InProgress", "End"):
                about = about.removesuffix(ending)
            events_by_subject.setdefault(about, []).append(
                {**event.attributes, "class_name": event.name}
            )
    return events_by_subject


def _first(merged: Attributes, names: tuple[str, ...]) -> str | None:
    texts = (text(merged[name]) for name in names if name in merged)
    return next((value for value in texts if value not in ABSENT), None)


def _nodes(events: list[Attributes], role: SpanRole) -> Iterator[Claim]:
    """The nodes of the end events; a reranker's start event lists its input."""
    for event in events:
        if "nodes" not in event:
            continue
        is_end = text(event["class_name"]).endswith("EndEvent")
        nodes = partial(_node_listing, event["nodes"])
        if role is SpanRole.RERANKER:
            yield Claim(Field.RERANKED if is_end else Field.RERANK_INPUT, nodes, 6)
        elif is_end:
            yield Claim(Field.RETRIEVED, nodes, 6)


def _node_listing(nodes: object) -> Listing | Withheld | None:
    """A list of nodes. An empty list means that nothing was found: OTLP keeps no type for it."""
    return Listing(()) if nodes == [] else find_documents(nodes)


def _prompt(merged: Attributes) -> tuple[Message, ...] | Withheld | None:
    if "messages" in merged:
        return _messages(merged["messages"], "user")
    prompt = _first(merged, ("prompt",))
    return (Message("user", prompt),) if prompt else None


def _messages(value: object, role: str) -> tuple[Message, ...] | Withheld | None:
    container, complete = as_container(value)
    if not isinstance(container, list):
        return messages_of(value, role)
    messages = [_message(message, role) for message in container if isinstance(message, dict)]
    if not complete and not any(message.text for message in messages):
        return Withheld.TRUNCATED
    return (
        tuple(messages) if any(message.text or message.calls_tool for message in messages) else None
    )


def _message(message: Mapping[str, object], role: str) -> Message:
    """A message of typed blocks; LlamaIndex calls the type `block_type`."""
    blocks = as_container(message.get("blocks")).value
    extra = message.get("additional_kwargs")
    calls = isinstance(extra, dict) and bool(extra.get("tool_calls"))
    own_role = text(message.get("role")) or role
    if not isinstance(blocks, list):
        return Message(own_role, text(message.get("content")), calls)
    typed = [
        {**block, "type": block.get("block_type")} for block in blocks if isinstance(block, dict)
    ]
    messages = messages_of([{"role": own_role, "blocks": typed}], own_role)
    words = messages[0] if isinstance(messages, tuple) else Message(own_role, "")
    return words._replace(role=own_role, calls_tool=calls or words.calls_tool)


def _reply(merged: Attributes) -> tuple[Message, ...] | Withheld | None:
    """The last response; while streaming, every event has the whole text up to then."""
    blocks = merged.get("response.message.blocks")
    ended = text(merged.get("class_name")).endswith("EndEvent")  # a stream that broke has none
    if blocks is not None:
        container, complete = as_container(blocks)
        if container is None and not complete:
            return Withheld.TRUNCATED
        calls = merged.get("response.message.additional_kwargs.tool_calls")
        message = {"blocks": container, "additional_kwargs": {"tool_calls": calls}}
        messages = _messages([message], "assistant")
        is_empty = complete and ended and is_empty_reply([message])
        return NO_TEXT if messages is None and is_empty else messages
    text_ = _first(merged, TEXTS)
    if text_:
        return (Message("assistant", text_),)
    return NO_TEXT if ended and any(merged.get(name) == "" for name in TEXTS) else None


def _embedding_query(merged: Attributes) -> str | None:
    """The embedded text; None for a batch of several, which is no query."""
    chunks = as_container(merged.get("chunks")).value
    if not isinstance(chunks, list) or len(chunks) != 1:
        return None
    return chunks[0] if isinstance(chunks[0], str) else None


def _first_token(events: list[Attributes]) -> float | None:
    """Seconds from the start of a streamed call to its first event in progress."""
    started = [
        at for event in events if "Start" in text(event["class_name"]) and (at := _at(event))
    ]
    progressed = [
        at for event in events if "Progress" in text(event["class_name"]) and (at := _at(event))
    ]
    if not started or not progressed:
        return None
    seconds = (min(progressed) - min(started)).total_seconds()
    return seconds if seconds >= 0 else None


def _at(event: Attributes) -> datetime | None:
    # Without the zone: only the difference of two moments counts.
    with suppress(ValueError):  # not a date
        return datetime.fromisoformat(plain_text(event.get("timestamp"))).replace(tzinfo=None)
    return None
