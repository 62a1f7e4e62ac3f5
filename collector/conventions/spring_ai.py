"""Spring AI: `spring.ai.*`, responses of vector stores, prompts and completions as lists of text.

Micrometer's values are all texts, `none` stands for no value. A list of texts has quotation marks
around each text, but no escapes. Since 1.0 content only goes to the application's log; users add it
to spans under the same names.
Source: spring-projects/spring-ai 1.0.0-M to 2.0, the `observation` packages and the reference.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from collector.claims.claim import NO_TEXT, Claim, Field, Listing, Message, SpanRole, Withheld
from collector.claims.documents import REDACTED, draft, listing
from collector.claims.recover import as_container, text, whole
from collector.claims.tool_results import tool_result_documents
from collector.claims.traced_calls import prompt_messages, question_in_arguments, reply_messages
from ragvigil.model.span import Attributes, AttributeValue, Span

ROOTS = frozenset({"spring", "gen_ai", "db"})

KINDS = {
    "chat_client": SpanRole.CHAIN, "advisor": SpanRole.CHAIN, "tool_call": SpanRole.TOOL,
}  # fmt: skip
DOCUMENTS = "db.vector.query.response.documents"
NONE = "none"
SEPARATOR = '", "'


def claims(span: Span) -> Iterator[Claim]:
    """Reads the claims under Spring AI's own names or in its own shapes."""
    attributes = span.attributes
    kind = text(attributes.get("spring.ai.kind"))
    if kind in KINDS:
        yield Claim(Field.ROLE, KINDS[kind], 10)
    elif kind == "vector_store" and text(attributes.get("db.operation.name")) == "query":
        yield Claim(Field.ROLE, SpanRole.RETRIEVER, 10)
    if "spring.ai.chat.client.conversation.id" in attributes:
        yield Claim(Field.SESSION, text(attributes["spring.ai.chat.client.conversation.id"]), 5)
    if "spring.ai.chat.client.user.text" in attributes:
        yield Claim(Field.INPUT, text(attributes["spring.ai.chat.client.user.text"]), 6)
    if text(attributes.get("gen_ai.response.model")) == NONE:
        yield Claim(Field.MODEL, text(attributes.get("gen_ai.request.model")), 1)
    yield from _tool(attributes)
    yield from _prompt_and_reply(attributes)
    if DOCUMENTS in attributes:
        top_k = whole(attributes.get("db.vector.query.top_k"))
        yield Claim(Field.RETRIEVED, partial(_documents, attributes[DOCUMENTS], top_k), 5)


def _tool(attributes: Attributes) -> Iterator[Claim]:
    if "spring.ai.tool.call.arguments" in attributes:
        yield Claim(
            Field.QUERY,
            partial(question_in_arguments, attributes["spring.ai.tool.call.arguments"]),
            7,
        )
    if "spring.ai.tool.call.result" in attributes:
        result = attributes["spring.ai.tool.call.result"]
        yield Claim(Field.OUTPUT, result, 7)
        yield Claim(Field.RETRIEVED, partial(tool_result_documents, result), 7)


def _prompt_and_reply(attributes: Attributes) -> Iterator[Claim]:
    """Prompt and completion of a model call, each in an attribute.

    LangSmith's spans use the same names in another form; `langsmith` reads them.
    """
    if "langsmith.span.kind" in attributes:
        return  # the same names in LangSmith's form
    if "gen_ai.prompt" in attributes:
        yield Claim(Field.PROMPT, partial(_messages, attributes["gen_ai.prompt"], "user"), 9)
    if "gen_ai.completion" in attributes:
        completion = attributes["gen_ai.completion"]
        yield Claim(Field.REPLY, partial(_messages, completion, "assistant"), 9)


def _messages(value: object, role: str) -> tuple[Message, ...] | Withheld | None:
    if value == REDACTED:
        return Withheld.HIDDEN
    texts = _texts(value)
    if texts is None:
        return prompt_messages(value) if role == "user" else reply_messages(value)
    messages = tuple(Message(role, body) for body in texts if body.strip())
    return messages or (NO_TEXT if role == "assistant" else None)


def _documents(value: AttributeValue, top_k: int | None) -> Listing | Withheld | None:
    """The texts of the documents; None if there seem to be more than `top_k`.

    Then a text contains the separator and was split.
    """
    texts = _texts(value)
    if texts is None or (top_k and len(texts) > top_k):
        return None
    return listing([draft(None, body) for body in texts])


def _texts(value: object) -> list[str] | None:
    """A list of texts, or its form as text; None for another shape.

    >>> _texts('["He said "no".", "Two\\nlines."]')
    ['He said "no".', 'Two\\nlines.']
    """
    container, complete = as_container(value)
    if complete and isinstance(container, list):
        texts = [entry for entry in container if isinstance(entry, str)]
        return texts if texts and len(texts) == len(container) else None
    if isinstance(value, str) and value.startswith('["') and value.endswith('"]'):
        return value[2:-2].split(SEPARATOR)
    return None
