"""LlamaIndex's own tracer: its instrumentation events as span events, each field an attribute.

The spans themselves carry nothing. Every event lists its fields with nested mappings flattened
(`response.message.blocks`) and lists as JSON text. The events' own times are those of their
span's end; when they happened stands in `timestamp`. Its GenAI mode writes OTel's names.
Source: llama-index-observability-otel 0.7, llama-index-core 0.14 `instrumentation/events`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from functools import partial

from collector.claims.claim import Claim, Field, Listing, Message, SpanRole, Withheld
from collector.claims.documents import find
from collector.claims.messages import several
from collector.claims.recover import as_container, number, text, whole
from collector.claims.traced_calls import plain
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
ABSENT = frozenset({"", "null"})


def claims(span: Span) -> Iterator[Claim]:
    """What LlamaIndex's events on a span say."""
    said = _said(span)
    name, role = next(((one, role) for one, role in ROLES if one in said), ("", None))
    if role is None:
        return
    yield Claim(Field.ROLE, role, 9)
    events = said[name]
    merged = {key: value for one in events for key, value in one.items()}
    if role in (SpanRole.LLM, SpanRole.EMBEDDING, SpanRole.RERANKER):
        for key in merged.keys() & MODEL_CALL.keys():
            field, read, precedence = MODEL_CALL[key]
            yield Claim(field, read(merged[key]), precedence)
    if role is SpanRole.LLM:
        yield Claim(Field.PROMPT, partial(_prompt, merged), 6)
        yield Claim(Field.REPLY, partial(_reply, merged), 6)
        yield Claim(Field.FIRST_TOKEN_SECONDS, _first_token(events), 5)
    elif role is SpanRole.EMBEDDING:
        yield Claim(Field.QUERY, partial(_embedded, merged), 6)
    elif role is SpanRole.RETRIEVER or role is SpanRole.RERANKER:
        yield Claim(Field.QUERY, _first(merged, QUERIES), 6)
        yield from _nodes(events, role)
    else:
        yield Claim(Field.INPUT, _first(merged, QUERIES), 7)
        yield Claim(Field.OUTPUT, _first(merged, ANSWERS), 7)


def _said(span: Span) -> dict[str, list[Attributes]]:
    """The events by what they are about, start before end, as they stand on the span."""
    found: dict[str, list[Attributes]] = {}
    for event in span.events:
        if event.name in ROOTS:
            about = event.name.removesuffix("Event")
            for ending in ("Start", "InProgress", "End"):
                about = about.removesuffix(ending)
            found.setdefault(about, []).append({**event.attributes, "class_name": event.name})
    return found


def _first(merged: Attributes, names: tuple[str, ...]) -> str | None:
    found = (text(merged[name]) for name in names if name in merged)
    return next((one for one in found if one not in ABSENT), None)


def _nodes(events: list[Attributes], role: SpanRole) -> Iterator[Claim]:
    """The nodes of the last end; a reranker's start lists what it was given."""
    for one in events:
        if "nodes" not in one:
            continue
        is_end = text(one["class_name"]).endswith("EndEvent")
        nodes = partial(_listed, one["nodes"])
        if role is SpanRole.RERANKER:
            yield Claim(Field.RERANKED if is_end else Field.RERANK_INPUT, nodes, 6)
        elif is_end:
            yield Claim(Field.RETRIEVED, nodes, 6)


def _listed(nodes: object) -> Listing | Withheld | None:
    """A list of nodes; OTLP has no empty list apart from one without a type."""
    return Listing(()) if nodes == [] else find(nodes)


def _prompt(merged: Attributes) -> tuple[Message, ...] | Withheld | None:
    if "messages" in merged:
        return _messages(merged["messages"], "user")
    asked = _first(merged, ("prompt",))
    return (Message("user", asked),) if asked else None


def _messages(value: object, role: str) -> tuple[Message, ...] | Withheld | None:
    container, complete = as_container(value)
    if not isinstance(container, list):
        return several(value, role)
    found = [_message(one, role) for one in container if isinstance(one, dict)]
    if not complete and not any(one.text for one in found):
        return Withheld.TRUNCATED
    return tuple(found) if any(one.text or one.calls_tool for one in found) else None


def _message(message: Mapping[str, object], role: str) -> Message:
    """A message of typed blocks; the type of a block is called `block_type` here."""
    blocks = as_container(message.get("blocks")).value
    extra = message.get("additional_kwargs")
    calls = isinstance(extra, dict) and bool(extra.get("tool_calls"))
    named = text(message.get("role")) or role
    if not isinstance(blocks, list):
        return Message(named, text(message.get("content")), calls)
    typed = [{**one, "type": one.get("block_type")} for one in blocks if isinstance(one, dict)]
    found = several([{"role": named, "blocks": typed}], named)
    words = found[0] if isinstance(found, tuple) else Message(named, "")
    return words._replace(role=named, calls_tool=calls or words.calls_tool)


def _reply(merged: Attributes) -> tuple[Message, ...] | Withheld | None:
    """The last response; while streaming every event holds all that was said so far."""
    blocks = merged.get("response.message.blocks")
    if blocks is not None:
        container, complete = as_container(blocks)
        if container is None and not complete:
            return Withheld.TRUNCATED
        calls = merged.get("response.message.additional_kwargs.tool_calls")
        message = {"blocks": container, "additional_kwargs": {"tool_calls": calls}}
        return _messages([message], "assistant")
    replied = _first(merged, ("response.message.content", "response.text"))
    return (Message("assistant", replied),) if replied else None


def _embedded(merged: Attributes) -> str | None:
    """The text that was embedded; a batch of several is no query."""
    chunks = as_container(merged.get("chunks")).value
    if not isinstance(chunks, list) or len(chunks) != 1:
        return None
    return chunks[0] if isinstance(chunks[0], str) else None


def _first_token(events: list[Attributes]) -> float | None:
    """Seconds from the start of a streamed call to its first event in progress."""
    started = [at for one in events if "Start" in text(one["class_name"]) and (at := _at(one))]
    spoken = [at for one in events if "Progress" in text(one["class_name"]) and (at := _at(one))]
    if not started or not spoken:
        return None
    seconds = (min(spoken) - min(started)).total_seconds()
    return seconds if seconds >= 0 else None


def _at(event: Attributes) -> datetime | None:
    with suppress(ValueError):  # no date: no time
        return datetime.fromisoformat(plain(event.get("timestamp"))).replace(tzinfo=None)
    return None
