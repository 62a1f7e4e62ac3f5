"""Google's Agent Development Kit: requests, responses and tool calls under `gcp.vertex.agent.*`.

Bodies are JSON text in Gemini's shape, or `{}` if content is switched off. The span of a model call
stays open while the requested tools run inside it. Newer versions can write OTel's names.
Source: google/adk-python 1 and 2, `telemetry/tracing.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from collector.claims.claim import NO_TEXT, Claim, Field, Message, SpanRole, Withheld
from collector.claims.messages import text_of
from collector.claims.recover import as_container, number, text, whole
from collector.claims.tool_results import messages_with_tools, tool_result_documents
from ragvigil.model.span import Attributes, Span

ROOTS = frozenset({"gcp"})

PREFIX = "gcp.vertex.agent."
REQUEST, RESPONSE = PREFIX + "llm_request", PREFIX + "llm_response"
TOOL_RESPONSE = PREFIX + "tool_response"
MERGED = "(merged tools)"
HIDDEN = "{}"
SPENT = (
    ("prompt_token_count", Field.INPUT_TOKENS), ("candidates_token_count", Field.OUTPUT_TOKENS),
    ("cached_content_token_count", Field.CACHE_READ_TOKENS),
    ("thoughts_token_count", Field.REASONING_TOKENS),
)  # fmt: skip


def claims(span: Span) -> Iterator[Claim]:
    """Reads the claims of a span of the kit.

    A tool's span also has an empty request and response, so it is recognised first.
    """
    attributes = span.attributes
    if PREFIX + "session_id" in attributes:
        yield Claim(Field.SESSION, text(attributes[PREFIX + "session_id"]), 6)
    if TOOL_RESPONSE in attributes:
        yield from _tool(attributes)
    elif REQUEST in attributes or RESPONSE in attributes:
        yield Claim(Field.ROLE, SpanRole.LLM, 8)
        yield from _request(attributes.get(REQUEST))
        yield from _response(attributes.get(RESPONSE))


def _tool(attributes: Attributes) -> Iterator[Claim]:
    """A tool call. Its arguments are the model's text, never the user's: no query is claimed."""
    if text(attributes.get("gen_ai.tool.name")) == MERGED:
        yield Claim(Field.ROLE, SpanRole.CHAIN, 4)  # it repeats the results of other spans
        return
    yield Claim(Field.ROLE, SpanRole.TOOL, 8)
    result = attributes[TOOL_RESPONSE]
    if result != HIDDEN:
        yield Claim(Field.OUTPUT, result, 7)
        yield Claim(Field.RETRIEVED, partial(tool_result_documents, result), 7)


def _request(value: object) -> Iterator[Claim]:
    if value == HIDDEN:
        yield Claim(Field.PROMPT, Withheld.HIDDEN, 7)
        return
    yield Claim(Field.PROMPT, partial(_prompt, value), 7)
    config = _part(as_container(value).value, "config")
    yield Claim(Field.TEMPERATURE, number(config.get("temperature")), 5)
    yield Claim(Field.MAX_TOKENS, whole(config.get("max_output_tokens")), 5)


def _response(value: object) -> Iterator[Claim]:
    if value == HIDDEN:
        yield Claim(Field.REPLY, Withheld.HIDDEN, 7)
        return
    yield Claim(Field.REPLY, partial(_reply, value), 7)
    yield Claim(Field.RAW_REPLY, value, 6)
    body = as_container(value).value
    usage = _part(body, "usage_metadata")
    for name, field in SPENT:
        if name in usage:
            yield Claim(field, whole(usage[name]), 6)
    if isinstance(body, dict):
        yield Claim(Field.FINISH_REASON, text(body.get("finish_reason")), 5)


def _part(body: object, name: str) -> Mapping[str, object]:
    part = body.get(name) if isinstance(body, dict) else None
    return part if isinstance(part, dict) else {}


def _prompt(value: object) -> tuple[Message, ...] | Withheld | None:
    """The system instruction, then the contents."""
    body, complete = as_container(value)
    if not isinstance(body, dict):
        return None if complete else Withheld.TRUNCATED
    contents = body.get("contents")
    contents_ = [_typed(content) for content in contents] if isinstance(contents, list) else []
    messages = messages_with_tools(contents_, "user") if contents_ else None
    system = text_of(_part(body, "config").get("system_instruction"))
    visible = messages if isinstance(messages, tuple) else ()
    return (*((Message("system", system),) if system else ()), *visible) or None


def _reply(value: object) -> tuple[Message, ...] | Withheld | None:
    body, complete = as_container(value)
    if not isinstance(body, dict):
        return None if complete else Withheld.TRUNCATED
    messages = messages_with_tools([_typed(body.get("content"))], "assistant")
    if not messages and not complete:
        return Withheld.TRUNCATED
    if messages is None and body.get("finish_reason") and not _part(body, "content").get("parts"):
        return NO_TEXT  # Gemini leaves out the parts of an empty reply
    if not isinstance(messages, tuple):
        return messages
    return tuple(message._replace(role="assistant") for message in messages)


def _typed(content: object) -> object:
    """A Gemini content with typed calls and without thoughts."""
    if not isinstance(content, dict) or not isinstance(content.get("parts"), list):
        return content
    parts = [
        part for part in content["parts"] if isinstance(part, dict) and not part.get("thought")
    ]
    calls = [
        {**part, "type": "function_call"} if "function_call" in part else part for part in parts
    ]
    return {**content, "parts": calls}
