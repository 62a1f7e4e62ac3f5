"""Haystack's own tracer: `haystack.component.*`, `haystack.pipeline.*`, `haystack.agent.*`.

Only the type of a component says what it does. Its inputs and outputs are there only with
HAYSTACK_CONTENT_TRACING_ENABLED=true, the input of a pipeline always. Documents have their
metadata at the top level.
Sources: deepset-ai/haystack 2.0 to 3.2, `core/pipeline`, `components/agents`, `dataclasses`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from collector.claims.claim import NO_TEXT, Claim, Field, Listing, Message, SpanRole, Withheld
from collector.claims.documents import find_documents
from collector.claims.messages import is_empty_reply, text_of
from collector.claims.payload import question_of
from collector.claims.recover import as_container, text, whole
from collector.claims.traced_calls import first_member, plain_text, tool_message_documents
from ragvigil.model.span import Span

ROOTS = frozenset({"haystack"})

ROLES = (
    ("Retriever", SpanRole.RETRIEVER), ("WebSearch", SpanRole.RETRIEVER),
    ("Ranker", SpanRole.RERANKER), ("Reranker", SpanRole.RERANKER),
    ("ImageGenerator", SpanRole.CHAIN), ("Generator", SpanRole.LLM),
    ("Embedder", SpanRole.EMBEDDING), ("Agent", SpanRole.AGENT), ("ToolInvoker", SpanRole.TOOL),
)  # fmt: skip
"""Roles by the end of a component's type; the first match counts."""
SPAN_ROLES = {
    "haystack.agent.run": SpanRole.AGENT, "haystack.agent.step.llm": SpanRole.LLM,
    "haystack.agent.step.tool": SpanRole.TOOL,
}  # fmt: skip
PAYLOADS = (
    ("haystack.component.input", "haystack.component.output"),
    ("haystack.agent.step.llm.input", "haystack.agent.step.llm.output"),
    ("haystack.agent.step.input", "haystack.agent.step.llm_output"),
    ("haystack.agent.step.tool.input", "haystack.agent.step.tool.output"),
    ("haystack.agent.input", "haystack.agent.output"),
    ("haystack.pipeline.input_data", "haystack.pipeline.output_data"),
)
DOCUMENT_KEYS = ("documents", "context_documents", "retrieved_documents")
CALLS, RESULTS = ("tool_call", "tool_calls"), ("tool_call_result",)


def claims(span: Span) -> Iterator[Claim]:
    """Reads the claims of a span of Haystack's tracer."""
    attributes = span.attributes
    if not any(name.startswith("haystack.") for name in attributes):
        return
    role = _role(span)
    yield Claim(Field.ROLE, role, 9)
    names = next(
        (pair for pair in PAYLOADS if pair[0] in attributes or pair[1] in attributes), None
    )
    inputs, result = (attributes.get(name) for name in names) if names else (None, None)
    if inputs == "":
        inputs = None  # Haystack writes None as an empty text
    if result == "":
        result = None
    if role is SpanRole.LLM:
        yield from _generator(inputs, result)
    elif role in (SpanRole.RETRIEVER, SpanRole.RERANKER, SpanRole.EMBEDDING):
        yield from _search(role, inputs, result)
    elif role is SpanRole.TOOL:
        yield Claim(Field.TOOL_NAME, text(attributes.get("haystack.tool.name")), 6)
        yield from _tool(inputs, result)
    elif inputs is not None or result is not None:
        yield from _chain(span, inputs, result)


def _role(span: Span) -> SpanRole:
    kind = plain_text(span.attributes.get("haystack.component.type"))
    role = next((role for end, role in ROLES if kind.endswith(end)), None)
    if role is SpanRole.RETRIEVER and _takes_documents(span):
        return SpanRole.RERANKER  # AutoMergingRetriever, SentenceWindowRetriever
    if "haystack.agent.step.llm_output" in span.attributes:
        return SpanRole.LLM  # 2.2x had no separate span for the model call
    return role or SPAN_ROLES.get(span.name, SpanRole.CHAIN)


def _takes_documents(span: Span) -> bool:
    types = first_member(span.attributes.get("haystack.component.input_types"), *DOCUMENT_KEYS)
    return plain_text(types).startswith("list")


def _documents(value: object) -> Listing | Withheld | None:
    container, complete = as_container(value)
    if isinstance(container, dict):
        documents = next((container[key] for key in DOCUMENT_KEYS if key in container), None)
        listing = find_documents(documents) if isinstance(documents, list) else None
        if isinstance(listing, Listing):
            return listing._replace(complete=complete)
    return None if complete else Withheld.TRUNCATED


def _search(role: SpanRole, inputs: object, result: object) -> Iterator[Claim]:
    yield Claim(Field.QUERY, partial(_query, inputs), 5)
    yield Claim(Field.TOP_K, partial(_top_k, inputs), 6)
    if role is SpanRole.RETRIEVER:
        yield Claim(Field.RETRIEVED, partial(_documents, result), 5)
        # Without content tracing the output is missing: hidden, not empty.
        yield Claim(Field.RETRIEVED, Withheld.HIDDEN if result is None else None, 90)
    elif role is SpanRole.RERANKER:
        yield Claim(Field.RERANK_INPUT, partial(_documents, inputs), 5)
        yield Claim(Field.RERANKED, partial(_documents, result), 5)
        yield Claim(Field.RERANKED, Withheld.HIDDEN if result is None else None, 90)
    elif role is SpanRole.EMBEDDING and result is not None:
        yield Claim(Field.MODEL, partial(_embedding_model, result), 7)


def _query(inputs: object) -> str | None:
    """The text of a search; a filter is no query."""
    return text(first_member(inputs, "query", "text", "question")) or None


def _top_k(inputs: object) -> int | None:
    return whole(first_member(inputs, "top_k"))


def _embedding_model(result: object) -> str | None:
    return text(first_member(first_member(result, "meta"), "model", "embedding_model")) or None


def _tool(inputs: object, result: object) -> Iterator[Claim]:
    yield Claim(Field.QUERY, partial(question_of, inputs), 6)
    if result is not None:
        yield Claim(Field.OUTPUT, result, 6)
        yield Claim(Field.RETRIEVED, partial(_tool_documents, result), 6)


def _tool_documents(result: object) -> Listing | None:
    """The documents of a tool's result, or of the messages from the tool invoker."""
    tool_messages = first_member(result, "tool_messages")
    if not isinstance(tool_messages, list):
        inner = first_member(result, "tool_call_result", "result", "output")
        return tool_message_documents(inner if inner is not None else result)
    messages = [message for entry in tool_messages for message in _messages_of(entry, "tool")]
    return next(
        (listing for message in messages if (listing := tool_message_documents(message.text))), None
    )


def _chain(span: Span, inputs: object, result: object) -> Iterator[Claim]:
    yield Claim(Field.INPUT, inputs, 5)
    yield Claim(Field.OUTPUT, partial(_answer, result), 5)
    if plain_text(span.attributes.get("haystack.component.type")).endswith("Joiner"):
        yield Claim(Field.RERANK_INPUT, partial(_documents, result), 6)


def _answer(result: object) -> str | None:
    """The answer of an answer builder, else of the only generator that replied."""
    container = as_container(result).value
    if not isinstance(container, dict):
        return None
    outputs = [container, *(output for output in container.values() if isinstance(output, dict))]
    for read in (_builder_answer, _generator_reply, _last_message):
        answers = {answer for output in outputs if (answer := read(output))}
        if answers:
            return answers.pop() if len(answers) == 1 else None
    return None


def _builder_answer(output: Mapping[str, object]) -> str:
    """The first answer: a generated one, or the best that was extracted from documents."""
    answers = output.get("answers")
    first = answers[0] if isinstance(answers, list) and answers else None
    if isinstance(first, dict):
        inner = first.get("init_parameters")
        return text((inner if isinstance(inner, dict) else first).get("data"))
    return text(first)


def _generator_reply(output: Mapping[str, object]) -> str:
    messages = _messages(output.get("replies"), "assistant") or ()
    return messages[0].text if messages and not messages[0].calls_tool else ""


def _last_message(output: Mapping[str, object]) -> str:
    """The last message of an agent, if the agent wrote it."""
    last = output.get("last_message")
    messages = output.get("messages")
    last = messages[-1] if last is None and isinstance(messages, list) and messages else last
    last_messages = list(_messages_of(last, "assistant"))
    return last_messages[-1].text if last_messages and last_messages[-1].role == "assistant" else ""


def _generator(inputs: object, result: object) -> Iterator[Claim]:
    yield Claim(Field.PROMPT, partial(_prompt, inputs), 5)
    yield Claim(Field.PROMPT, Withheld.HIDDEN if inputs is None else None, 90)
    yield Claim(Field.REPLY, partial(_reply, result), 5)
    yield Claim(Field.REPLY, Withheld.HIDDEN if result is None else None, 90)
    if result is None:
        return
    meta = _meta(result)
    usage = meta.get("usage")
    yield Claim(Field.MODEL, text(meta.get("model")), 6)
    yield Claim(Field.FINISH_REASON, text(first_member(meta, "finish_reason", "stop_reason")), 5)
    yield Claim(Field.INPUT_TOKENS, whole(first_member(usage, "prompt_tokens", "input_tokens")), 6)
    yield Claim(
        Field.OUTPUT_TOKENS, whole(first_member(usage, "completion_tokens", "output_tokens")), 6
    )
    details = first_member(usage, "prompt_tokens_details")
    yield Claim(Field.CACHE_READ_TOKENS, whole(first_member(details, "cached_tokens")), 6)
    details = first_member(usage, "completion_tokens_details")
    yield Claim(Field.REASONING_TOKENS, whole(first_member(details, "reasoning_tokens")), 6)


def _meta(result: object) -> Mapping[str, object]:
    """The metadata of the first reply: in the message, or in a list beside the texts."""
    container = as_container(result).value
    if isinstance(container, list):
        container = {"replies": container}
    if not isinstance(container, dict):
        return {}
    for name in ("meta", "replies"):
        values = container.get(name)
        first = values[0] if isinstance(values, list) and values else None
        if isinstance(first, dict):
            inner = first if name == "meta" else first.get("meta", first.get("_meta"))
            if isinstance(inner, dict):
                return inner
    return {}


def _prompt(inputs: object) -> tuple[Message, ...] | Withheld | None:
    container, complete = as_container(inputs)
    if isinstance(container, list):
        return _messages(container, "user")
    if not isinstance(container, dict):
        return None if complete else Withheld.TRUNCATED
    messages = _messages(first_member(container, "messages", "prompt"), "user") or ()
    system = text(container.get("system_prompt"))
    return ((Message("system", system), *messages) if system else messages) or None


def _reply(result: object) -> tuple[Message, ...] | Withheld | None:
    container, complete = as_container(result)
    if not complete:
        return Withheld.TRUNCATED
    replies = container if isinstance(container, list) else first_member(container, "replies")
    messages = _messages(replies, "assistant")
    if messages is None and isinstance(replies, list):
        plain = [_plain(reply) if isinstance(reply, dict) else reply for reply in replies]
        return NO_TEXT if is_empty_reply(plain) else None
    return messages


def _messages(value: object, role: str) -> tuple[Message, ...] | None:
    """Messages from the texts or chat messages that go into and come out of generators."""
    entries = value if isinstance(value, list) else [value]
    return tuple(message for entry in entries for message in _messages_of(entry, role)) or None


def _plain(message: Mapping[str, object]) -> dict[str, object]:
    """A chat message under its names since 2.10; up to 2.9 these were `_role` and `_content`."""
    return {name.removeprefix("_"): value for name, value in message.items()}


def _messages_of(entry: object, role: str) -> Iterator[Message]:
    """A chat message, and each tool result as a message."""
    if isinstance(entry, str) and entry:
        yield Message(role, entry)
    if not isinstance(entry, dict):
        return
    message = _plain(entry)
    own = text(message.get("role")) or role
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    dicts = [part for part in parts if isinstance(part, dict)]
    for result in (part[name] for part in dicts for name in RESULTS if name in part):
        yield Message("tool", text_of(first_member(result, "result")))
    calls = any(name in part for part in dicts for name in CALLS)
    body = text_of(parts or content)
    if body or calls:
        yield Message(own, body, calls)
