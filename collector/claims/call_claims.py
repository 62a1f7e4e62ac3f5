"""The claims of a traced call: a user's function, a tool or a model, with what went in and out.

Stacks that trace functions by a decorator differ in the names of their attributes and not in what
they hold: a kind, the arguments, and the result, each as a text or as JSON text.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

from collector.claims.claim import Claim, Field, Listing, SpanRole, Withheld
from collector.claims.merge import names_reranker
from collector.claims.payload import answer_of
from collector.claims.recover import as_container
from collector.claims.search_tools import searches_documents
from collector.claims.traced_calls import (
    documents_in_arguments,
    prompt_messages,
    question_in_arguments,
    reply_messages,
    returned_documents,
    tool_message_documents,
)

PRECEDENCE = 7
"""Behind what an instrumentor of the model's client says of the same span."""


class Call(NamedTuple):
    """A traced call; None for arguments or a result that the span does not have."""

    role: SpanRole | None
    name: str
    arguments: object
    result: object


def call_claims(call: Call) -> Iterator[Claim]:
    """Reads the claims of a traced call."""
    role = role_of(call)
    if role is not None:
        yield Claim(Field.ROLE, role, PRECEDENCE)
    if call.arguments is not None:
        yield from _arguments(role, call.arguments)
    if call.result is not None:
        yield from _result(role, call)


def role_of(call: Call) -> SpanRole | None:
    """The role of a call. A plain function that returned documents retrieved or ranked them.

    >>> role_of(Call(SpanRole.CHAIN, "find_passages", '"how?"', '[{"id": "a", "text": "A."}]'))
    <SpanRole.RETRIEVER: 'retriever'>
    >>> role_of(Call(SpanRole.CHAIN, "answer", '"how?"', '[{"id": "a", "text": "A."}]'))
    <SpanRole.CHAIN: 'chain'>
    """
    if call.role not in (None, SpanRole.CHAIN) or call.result is None:
        return call.role
    ranks = names_reranker(call.name)
    if not ranks and "retriev" not in call.name.lower() and not searches_documents(call.name):
        return call.role
    is_answer = isinstance(as_container(call.result).value, dict) and answer_of(call.result)
    if is_answer or not isinstance(returned_documents(call.result), Listing):
        return call.role  # `ask_docs` may be the whole service, which returns its sources too
    return SpanRole.RERANKER if ranks else SpanRole.RETRIEVER


def _arguments(role: SpanRole | None, value: object) -> Iterator[Claim]:
    if role is SpanRole.LLM:
        yield Claim(Field.PROMPT, partial(prompt_messages, value), PRECEDENCE)
    elif role is SpanRole.EMBEDDING:
        yield Claim(Field.QUERY, partial(question_in_arguments, value), PRECEDENCE)
    else:
        yield Claim(Field.INPUT, partial(_question_or_all, value), PRECEDENCE)
    if role is SpanRole.RERANKER:
        yield Claim(Field.RERANK_INPUT, partial(documents_in_arguments, value), PRECEDENCE)


def _question_or_all(value: object) -> object:
    return question_in_arguments(value) or value


def _result(role: SpanRole | None, call: Call) -> Iterator[Claim]:
    value = call.result
    if role is SpanRole.LLM:
        yield Claim(Field.REPLY, partial(reply_messages, value), PRECEDENCE)
        yield Claim(Field.RAW_REPLY, value, PRECEDENCE)
    elif role is not SpanRole.EMBEDDING:
        yield Claim(Field.OUTPUT, value, PRECEDENCE)
    if role is SpanRole.RETRIEVER:
        yield Claim(Field.RETRIEVED, partial(_documents, value), PRECEDENCE)
    elif role is SpanRole.RERANKER:
        yield Claim(Field.RERANKED, partial(_documents, value), PRECEDENCE)
    elif role is SpanRole.TOOL:
        yield Claim(Field.RETRIEVED, partial(tool_message_documents, value), PRECEDENCE)


def _documents(value: object) -> Listing | Withheld | None:
    """The documents that a search returned, as data or, as a tool does, as marked text."""
    return returned_documents(value) or tool_message_documents(value)
