"""OpenTelemetry GenAI semantic conventions, v1.26 to today.

It reads content from span attributes, span events and log records alike: `gen_ai.content.prompt`
(up to v1.27), `gen_ai.{system,user,assistant,tool}.message` and `gen_ai.choice` (v1.28 to v1.36),
`gen_ai.input.messages`, `gen_ai.output.messages`, `gen_ai.system_instructions` (since v1.37), on
the span or on an event `gen_ai.client.inference.operation.details`; retrieval since v1.40.
Sources: open-telemetry/semantic-conventions v1.26.0 to v1.41.0, semantic-conventions-genai.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import NamedTuple

from collector.claims.called_tools import tools_in
from collector.claims.claim import NO_TEXT, Claim, Field, Message, SpanRole, Withheld, scalar_claims
from collector.claims.documents import find_documents
from collector.claims.messages import is_empty_reply, message_of, messages_of, text_of
from collector.claims.recover import as_container, looks_structured, number, parse, text, whole
from collector.claims.tool_results import messages_with_tools, tool_result_documents
from collector.claims.traced_calls import returned_documents
from ragvigil.model.span import Attributes, AttributeValue, Span

ROOTS = frozenset({"gen_ai", "aws", "error"})

ROLES = {
    "chat": SpanRole.LLM, "text_completion": SpanRole.LLM, "generate_content": SpanRole.LLM,
    "completion": SpanRole.LLM, "generate": SpanRole.LLM, "response": SpanRole.LLM,
    "embeddings": SpanRole.EMBEDDING, "embedding": SpanRole.EMBEDDING,
    "retrieval": SpanRole.RETRIEVER, "vector_db_retrieve": SpanRole.RETRIEVER,
    "retrieve": SpanRole.RETRIEVER, "retrieve_documents": SpanRole.RETRIEVER,
    "rerank": SpanRole.RERANKER, "execute_tool": SpanRole.TOOL,
    "invoke_agent": SpanRole.AGENT, "create_agent": SpanRole.AGENT,
    "agent_step": SpanRole.CHAIN, "plan": SpanRole.CHAIN,  # the agent's own span begins a turn
    "invoke_workflow": SpanRole.CHAIN, "execute_task": SpanRole.CHAIN,
    "framework": SpanRole.CHAIN,
}  # fmt: skip
# A cost of 0 means that the price list does not know the model.
SCALARS = {
    "gen_ai.response.model": (Field.MODEL, text, 2),
    "gen_ai.request.model": (Field.MODEL, text, 5),
    "gen_ai.usage.input_tokens": (Field.INPUT_TOKENS, whole, 1),
    "gen_ai.usage.output_tokens": (Field.OUTPUT_TOKENS, whole, 1),
    "gen_ai.usage.prompt_tokens": (Field.INPUT_TOKENS, whole, 3),
    "gen_ai.usage.completion_tokens": (Field.OUTPUT_TOKENS, whole, 3),
    "gen_ai.usage.cache_read.input_tokens": (Field.CACHE_READ_TOKENS, whole, 1),
    "gen_ai.usage.cache_read_input_tokens": (Field.CACHE_READ_TOKENS, whole, 3),
    "gen_ai.usage.cache_read_tokens": (Field.CACHE_READ_TOKENS, whole, 4),
    "gen_ai.usage.reasoning.output_tokens": (Field.REASONING_TOKENS, whole, 1),
    "gen_ai.usage.cost": (Field.COST_USD, lambda cost: number(cost) or None, 2),
    "gen_ai.cost.total": (Field.COST_USD, number, 3),
    "gen_ai.cost.total_cost": (Field.COST_USD, number, 4),
    "gen_ai.request.temperature": (Field.TEMPERATURE, number, 1),
    "gen_ai.request.max_tokens": (Field.MAX_TOKENS, whole, 1),
    "gen_ai.retrieval.top_k": (Field.TOP_K, whole, 1),
    "gen_ai.response.id": (Field.RESPONSE_ID, text, 1),
    "gen_ai.response.time_to_first_chunk": (Field.FIRST_TOKEN_SECONDS, number, 1),
    "gen_ai.conversation.id": (Field.SESSION, text, 2),
    "gen_ai.user": (Field.USER, text, 6),
    "session.id": (Field.SESSION, text, 1),
    "user.id": (Field.USER, text, 1),
    "enduser.id": (Field.USER, text, 5),
    "gen_ai.workflow.name": (Field.WORKFLOW, text, 2),
    "gen_ai.agent.name": (Field.AGENT_NAME, text, 1),
    "gen_ai.tool.name": (Field.TOOL_NAME, text, 1),
    "gen_ai.prompt.template.version": (Field.PROMPT_VERSION, text, 3),
    "gen_ai.prompt.version": (Field.PROMPT_VERSION, text, 4),
    "gen_ai.prompt.name": (Field.PROMPT_VERSION, text, 8),
    "gen_ai.retrieval.query.text": (Field.QUERY, text, 1),
    "gen_ai.retrieval.query": (Field.QUERY, text, 2),
    "gen_ai.reranker.query": (Field.QUERY, text, 3),
}
ROLE_EVENTS = {
    "gen_ai.system.message": "system", "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant", "gen_ai.tool.message": "tool",
}  # fmt: skip


class Choice(NamedTuple):
    """The body of a `gen_ai.choice`, and the values that it was read from."""

    body: Mapping[str, object]
    sources: tuple[AttributeValue, ...]


DETAILS = "gen_ai.client.inference.operation.details"
DATA_SOURCE_ID = "gen_ai.data_source.id"


def claims(span: Span) -> Iterator[Claim]:
    """Reads the claims of a span by the GenAI conventions, old and new."""
    attributes = span.attributes
    operation = text(attributes.get("gen_ai.operation.name"))
    role = ROLES.get(operation) or _role_by_model(attributes)
    if role is not None:
        yield Claim(Field.ROLE, role, 5 if operation else 11)
    yield from scalar_claims(attributes, SCALARS)
    reasons = attributes.get("gen_ai.response.finish_reasons")
    if reasons is not None:
        yield Claim(Field.FINISH_REASON, _last_reason(reasons), 1)
    if role is SpanRole.RETRIEVER and "gen_ai.request.top_k" in attributes:
        yield Claim(Field.TOP_K, whole(attributes["gen_ai.request.top_k"]), 2)
    yield from _documents(attributes, role)
    yield from _content(attributes, role)
    if span.events or span.logs:
        yield from _events(span, role)
    if role is SpanRole.LLM:
        # Last resort, behind every claim of content: capturing content is off by default.
        yield Claim(Field.PROMPT, Withheld.HIDDEN, 90)
        yield Claim(Field.REPLY, Withheld.HIDDEN, 90)
    elif role is SpanRole.RETRIEVER:
        yield Claim(Field.RETRIEVED, Withheld.HIDDEN, 90)


def _role_by_model(attributes: Attributes) -> SpanRole | None:
    if "gen_ai.request.model" in attributes and (
        "gen_ai.usage.output_tokens" in attributes
        or "gen_ai.usage.completion_tokens" in attributes
        or "gen_ai.output.messages" in attributes
    ):
        return SpanRole.LLM
    return None


def _documents(attributes: Attributes, role: SpanRole | None) -> Iterator[Claim]:
    if "gen_ai.retrieval.documents" in attributes:
        value = attributes["gen_ai.retrieval.documents"]
        yield Claim(Field.RETRIEVED, partial(returned_documents, value), 2)
    for name, field in (
        ("gen_ai.reranker.input_documents", Field.RERANK_INPUT),
        ("gen_ai.reranker.output_documents", Field.RERANKED),
    ):
        if name in attributes:
            yield Claim(field, partial(find_documents, attributes[name]), 2)
    if role is SpanRole.TOOL and "gen_ai.tool.call.result" in attributes:
        result = attributes["gen_ai.tool.call.result"]
        yield Claim(Field.OUTPUT, result, 2)
        yield Claim(Field.RETRIEVED, partial(tool_result_documents, result), 6)
        if "gen_ai.tool.call.arguments" in attributes:
            yield Claim(
                Field.QUERY, partial(_tool_query, attributes["gen_ai.tool.call.arguments"]), 6
            )
    if DATA_SOURCE_ID in attributes:
        yield Claim(Field.INDEX_EPOCH, text(attributes[DATA_SOURCE_ID]), 8)


def _tool_query(arguments: object) -> str | None:
    container = as_container(arguments).value
    if not isinstance(container, dict):
        return None
    texts = [value for value in container.values() if isinstance(value, str)]
    queries = [container[key] for key in ("query", "question", "q") if key in container]
    query = text(queries[0]) if queries else (texts[0] if len(texts) == 1 else "")
    return query or None


def _content(attributes: Attributes, role: SpanRole | None) -> Iterator[Claim]:
    inputs = attributes.get("gen_ai.input.messages")
    system = attributes.get("gen_ai.system_instructions")
    outputs = attributes.get("gen_ai.output.messages")
    if role is SpanRole.EMBEDDING:
        if inputs is not None:
            yield Claim(Field.QUERY, partial(_last_asked, inputs), 5)
        return
    if role in (SpanRole.RERANKER, SpanRole.RETRIEVER) and inputs is not None:
        yield Claim(Field.QUERY, partial(_last_asked, inputs), 8)
        return
    if inputs is not None or system is not None:
        yield Claim(Field.PROMPT, partial(_prompt, inputs, system), 2)
    if outputs is not None:
        yield Claim(Field.REPLY, partial(messages_with_tools, outputs, "assistant"), 2)
        yield Claim(Field.CALLED_TOOLS, partial(tools_in, outputs), 2)
        if role is SpanRole.LLM:
            yield Claim(Field.FINISH_REASON, partial(_stated_reason, outputs), 4)
            # Laminar writes the items of a reply as they came, with the results of a file search.
            yield Claim(Field.RAW_REPLY, outputs, 8)
    if role is not SpanRole.LLM:
        if inputs is not None:
            yield Claim(Field.INPUT, partial(_last_asked, inputs), 6)
        if outputs is not None:
            yield Claim(Field.OUTPUT, partial(_last_reply, outputs), 6)


def _prompt(inputs: object, system: object) -> tuple[Message, ...] | Withheld | None:
    """System instructions first, then the input messages."""
    messages = messages_with_tools(inputs, "user") if inputs is not None else None
    if system is None:
        return messages
    container = as_container(system).value
    instructions = text_of(container if container is not None else system)
    if not instructions:
        return messages
    rest = messages if isinstance(messages, tuple) else ()
    return (Message("system", instructions), *rest)


def _last_asked(inputs: object) -> str | None:
    """The text of the last message of the user, tool results excluded."""
    messages = messages_with_tools(inputs, "")
    if not isinstance(messages, tuple):
        return None
    texts = [m.text for m in messages if m.role in ("user", "human") and m.text.strip()]
    return texts[-1] if texts else None


def _last_reply(outputs: object) -> str | None:
    messages = messages_with_tools(outputs, "assistant")
    if not isinstance(messages, tuple):
        return None
    return next((m.text for m in reversed(messages) if m.text and m.role != "tool"), None)


def _stated_reason(outputs: object) -> str:
    """The finish reason of the last output message; empty if it has none."""
    container = as_container(outputs).value
    last = container[-1] if isinstance(container, list) and container else None
    return text(last.get("finish_reason")) if isinstance(last, dict) else ""


def _last_reason(reasons: object) -> str:
    """The last of the reasons in a list, JSON text, or names joined by commas."""
    container = as_container(reasons).value
    if isinstance(container, list):
        return text(container[-1]) if container else ""
    return text(reasons).rpartition(",")[2].strip()


def _events(span: Span, role: SpanRole | None) -> Iterator[Claim]:
    """Content in span events and in the span's log records, by time."""
    events: list[tuple[int, str, Attributes, AttributeValue]] = [
        (event.time_unix_nano, event.name, event.attributes, None) for event in span.events
    ]
    events += [(r.time_unix_nano, r.event_name, r.attributes, r.body) for r in span.logs]
    events.sort(key=lambda event: event[0])
    prompt: list[Message] = []
    reply: list[Message] = []
    choices: list[Choice] = []
    details: dict[str, AttributeValue] = {}  # merged: Strands writes an event per detail
    for _, name, attributes, body in events:
        if name == DETAILS:
            details = {**_details(attributes, body), **details}
        elif name in ROLE_EVENTS:
            message = message_of(_body(attributes, body), ROLE_EVENTS[name])
            if message is not None:
                role_name = message.role if message.role in ROLE_EVENTS.values() else ""
                prompt.append(message._replace(role=role_name or ROLE_EVENTS[name]))
        elif name == "gen_ai.choice":
            choices.append(Choice(_body(attributes, body), (body, *attributes.values())))
            yield from _choice(choices[-1].body, reply)
        elif name == "gen_ai.content.prompt":
            yield Claim(
                Field.PROMPT, partial(messages_of, attributes.get("gen_ai.prompt"), "user"), 7
            )
        elif name == "gen_ai.content.completion":
            completion = attributes.get("gen_ai.completion")
            yield Claim(Field.REPLY, partial(messages_with_tools, completion, "assistant"), 7)
            yield Claim(Field.CALLED_TOOLS, partial(tools_in, completion), 7)
    if details:
        yield from _content(details, role)
    if prompt:
        yield Claim(Field.PROMPT, tuple(prompt) if any(m.text for m in prompt) else None, 5)
    if any(message.text or message.calls_tool for message in reply):
        yield Claim(Field.REPLY, tuple(reply), 5)
    elif choices:
        is_captured = any(message.text for message in prompt)
        is_empty = all(_is_empty(choice, is_captured) for choice in choices)
        yield Claim(Field.REPLY, NO_TEXT if is_empty else None, 5)


def _is_empty(choice: Choice, is_captured: bool) -> bool:
    """Whether a choice arrived whole and has neither a text nor a call.

    Instrumentors leave out an empty content, as they do when content is switched off; but then
    no text is captured, of the prompt either.
    """
    if any(isinstance(v, str) and looks_structured(v) and not parse(v).complete
           for v in choice.sources):  # fmt: skip
        return False
    message = choice.body.get("message")
    is_bare = isinstance(message, dict) and message.keys() <= {"role"}
    ended = is_captured and bool(choice.body.get("finish_reason"))
    return (is_bare and ended) or is_empty_reply([choice.body])


def _body(attributes: Attributes, body: AttributeValue) -> Mapping[str, object]:
    """An event's body: the log body, `gen_ai.event.content`, or the attributes."""
    for carrier in (body, attributes.get("gen_ai.event.content")):
        container = as_container(carrier).value
        if isinstance(container, dict):
            return container
        if isinstance(carrier, str) and carrier:
            return {"content": carrier}
    content = attributes.get("content", attributes.get("gen_ai.prompt"))
    container = as_container(content).value
    merged: dict[str, object] = dict(attributes)
    if container is not None:
        merged["content"] = container
    if "message" in attributes:
        inner = as_container(attributes["message"]).value
        merged["message"] = inner if isinstance(inner, dict) else {
            "content": inner if inner is not None else attributes["message"]}  # fmt: skip
    return merged


def _details(attributes: Attributes, body: AttributeValue) -> Attributes:
    return {**body, **attributes} if isinstance(body, dict) else attributes


def _choice(body: Mapping[str, object], reply: list[Message]) -> Iterator[Claim]:
    message = message_of(body, "assistant")
    if message is not None:
        reply.append(message._replace(role="assistant"))
    reason = text(body.get("finish_reason"))
    if reason:
        yield Claim(Field.FINISH_REASON, reason, 5)
