"""Langtrace: `langchain.inputs` and `langchain.outputs`, and the hits of vector stores in events.

Models are traced under the names of OTel's GenAI conventions, with contents in events. A chat
model of LangChain has spans of its own around them, which alone have the reply where the client
returns a raw response.
Source: langtrace-python-sdk 3.8, `instrumentation/`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from collector.claims.call_claims import Call, call_claims
from collector.claims.claim import Claim, Field, SpanRole
from collector.claims.documents import Draft, draft, listing
from collector.claims.recover import as_container, text
from collector.claims.traced_calls import first_member, prompt_messages, reply_messages
from ragvigil.model.span import Attributes, Event, Span

ROOTS = frozenset({"langtrace"})

MODELS = frozenset({"chatmodel", "language_model", "llm"})
INPUTS, OUTPUTS = "langchain.inputs", "langchain.outputs"
HITS = {"db.query.match": "db.query.match.", "db.search.match": "", "db.chroma.query.result": ""}
"""Events of vector stores, one a hit, and how the names of their attributes begin."""


def claims(span: Span) -> Iterator[Claim]:
    """Reads the claims of a span of Langtrace's under names of its own."""
    attributes = span.attributes
    task = text(attributes.get("langchain.task.name"))
    if task in MODELS:
        yield from _model(attributes)
    elif task:
        role = SpanRole.RETRIEVER if task == "retriever" else SpanRole.CHAIN
        yield from call_claims(
            Call(role, span.name, attributes.get(INPUTS), attributes.get(OUTPUTS))
        )
    if text(attributes.get("langtrace.service.type")) == "vectordb":
        yield Claim(Field.QUERY, partial(_query_text, attributes.get("db.query")), 7)
        hits = [hit for event in span.events if (hit := _hit(event)) is not None]
        if hits:
            complete = span.dropped_events_count == 0
            yield Claim(Field.RETRIEVED, partial(listing, hits, complete=complete), 4)


def _model(attributes: Attributes) -> Iterator[Claim]:
    """What a chat model was given and returned. Which of its spans is the call, the usage says."""
    if INPUTS in attributes:
        yield Claim(Field.PROMPT, partial(prompt_messages, attributes[INPUTS]), 7)
    if INPUTS in attributes and OUTPUTS in attributes:  # without inputs it is a helper
        yield Claim(Field.REPLY, partial(reply_messages, attributes[OUTPUTS]), 7)
        yield Claim(Field.OUTPUT, attributes[OUTPUTS], 7)


def _query_text(request: object) -> str | None:
    """The text of a search in Chroma; None if it searches for a vector, or for several texts."""
    texts = first_member(request, "query_texts")
    if isinstance(texts, list) and len(texts) == 1:
        return text(texts[0]) or None
    return None


def _hit(event: Event) -> Draft | None:
    prefix = HITS.get(event.name)
    if prefix is None or f"{prefix}id" not in event.attributes:
        return None
    names = ("id", "score", "distance", "metadata", "document", "entity")
    values = {name: event.attributes.get(prefix + name) for name in names}
    score = values["score"] if values["score"] is not None else values["distance"]
    entity = as_container(values["entity"]).value
    metadata = values["metadata"] if values["metadata"] is not None else entity
    return draft(values["id"], values["document"], score, metadata)
