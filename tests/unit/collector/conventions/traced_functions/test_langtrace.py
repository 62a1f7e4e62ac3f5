"""Langtrace: LangChain's own spans around the client's, and hits of vector stores in events."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from collector.conventions.traced_functions import langtrace
from collector.record.build import records
from ragvigil.model.span import AttributeValue, Event, Span
from tests.garbage import said_of, spans_of
from tests.traces import ANSWER, DOCUMENTS, PROMPT, QUESTION, span, trace

NAMED: dict[str, AttributeValue] = {"langtrace.service.type": "framework"}
DOCS = [{"metadata": {"id": name}, "page_content": text, "type": "Document"}
        for name, text in DOCUMENTS]  # fmt: skip
ASKED = [{"role": "user", "content": PROMPT}]
PROMPTED = Event(name="gen_ai.content.prompt", time_unix_nano=1,
                 attributes={"gen_ai.prompt": json.dumps(ASKED)})  # fmt: skip
REPLIED = Event(name="gen_ai.content.completion", time_unix_nano=2, attributes={
    "gen_ai.completion": json.dumps([{"role": "assistant", "content": ANSWER}])})  # fmt: skip
CHAT: dict[str, AttributeValue] = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "small"}
IDS = [name for name, _ in DOCUMENTS]


def langchain(task: str, given_: object, returned: object) -> dict[str, AttributeValue]:
    return {**NAMED, "langchain.task.name": task, "langchain.inputs": json.dumps(given_, indent=2),
            "langchain.outputs": json.dumps(returned, indent=2)}  # fmt: skip


def test_the_reply_that_only_the_span_around_the_client_has() -> None:
    """The client of the model returned a raw response, which its instrumentor does not read."""
    model = {
        **langchain("chatmodel", [{"messages": [{"type": "human", "content": PROMPT}]}],
                    {"content": ANSWER, "type": "ai"}),
        "gen_ai.request.model": "small", "gen_ai.usage.input_tokens": 5,
        "gen_ai.usage.output_tokens": 3,
    }  # fmt: skip
    search = langchain("retriever", [QUESTION, {}], DOCS)
    helper: dict[str, AttributeValue] = {
        **NAMED, "langchain.task.name": "chatmodel", "langchain.outputs": '{"model": "small"}',
    }  # fmt: skip
    (record,) = records(
        trace(span("rag"),
              span("sequence", {**NAMED, "langchain.task.name": "runnable",
                                "langchain.inputs": json.dumps({"input": QUESTION}),
                                "langchain.outputs": ANSWER}, parent="rag"),
              span("BaseRetriever.invoke", search, parent="sequence", at=(0.1, 0.2)),
              span("BaseChatModel.invoke", model, parent="sequence", at=(0.3, 0.9)),
              span("BaseChatModel.asdict", helper, parent="BaseChatModel.invoke", at=(0.3, 0.4)),
              span("create", CHAT, parent="BaseChatModel.invoke", at=(0.4, 0.8),
                   events=(PROMPTED,)))
    )  # fmt: skip
    assert (record.query, record.answer) == (QUESTION, ANSWER)
    assert [document.chunk_id for document in record.retrieved] == IDS
    assert record.usage is not None
    assert record.usage.input_tokens == 5


@pytest.mark.parametrize(("system", "event", "prefix"), [
    ("chromadb", "db.chroma.query.result", ""), ("milvus", "db.search.match", ""),
    ("pinecone", "db.query.match", "db.query.match."),
])  # fmt: skip
def test_the_hits_of_a_store(system: str, event: str, prefix: str) -> None:
    hits = tuple(
        Event(name=event, time_unix_nano=1, attributes={f"{prefix}id": name, f"{prefix}score": 0.5})
        for name in IDS
    )
    search: dict[str, AttributeValue] = {
        "langtrace.service.type": "vectordb", "db.system": system,
        "db.operation": "search" if system == "milvus" else "query",
        "db.query": json.dumps({"query_texts": [QUESTION]}),
    }  # fmt: skip
    (record,) = records(
        trace(span("rag"), span("search", search, parent="rag", at=(0.1, 0.2), events=hits),
              span("create", CHAT, parent="rag", at=(0.3, 0.9), events=(PROMPTED, REPLIED)))
    )  # fmt: skip
    assert [(d.chunk_id, d.score, d.content) for d in record.retrieved] == [
        (name, 0.5, text) for name, text in DOCUMENTS
    ]
    assert record.retrievals[0].query == QUESTION


@given(spans_of(langtrace, "langtrace.service.type", "langchain.task.name", "id",
                said=("retriever", "chatmodel", "vectordb")))  # fmt: skip
def test_any_span_can_be_read(any_span: Span) -> None:
    said_of(langtrace, any_span)
