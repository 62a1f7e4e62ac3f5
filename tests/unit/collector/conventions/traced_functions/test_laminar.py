"""Laminar: functions that `@observe` traces, and items of OpenAI's Responses API as they came."""

from __future__ import annotations

import json

from hypothesis import given

from collector.conventions.traced_functions import laminar
from collector.record.build import records
from ragvigil.model.span import AttributeValue, Span
from tests.garbage import said_of, spans_of
from tests.traces import ANSWER, DOCUMENTS, PROMPT, QUESTION, span, trace

FOUND = [{"id": name, "content": text, "score": 0.5} for name, text in DOCUMENTS]
ASK: dict[str, AttributeValue] = {
    "lmnr.span.type": "DEFAULT",
    "lmnr.association.properties.session_id": "s-1",
    "lmnr.span.input": json.dumps({"question": QUESTION}),
    "lmnr.span.output": json.dumps(ANSWER),
}
CHAT: dict[str, AttributeValue] = {
    "lmnr.span.type": "LLM",
    "gen_ai.request.model": "small", "gen_ai.usage.input_tokens": 5,
    "gen_ai.usage.output_tokens": 3,
    "gen_ai.input.messages": json.dumps([{"role": "user", "content": PROMPT}]),
    "gen_ai.output.messages": json.dumps([{"message": {"role": "assistant", "content": ANSWER}}]),
}  # fmt: skip


def traced(kind: str, result: object) -> dict[str, AttributeValue]:
    query = json.dumps({"query": "refund window"})
    return {
        "lmnr.span.type": kind,
        "lmnr.span.input": query,
        "lmnr.span.output": json.dumps(result),
    }


def test_a_function_that_retrieves_gives_ids_and_scores() -> None:
    search = span("retrieve", traced("DEFAULT", FOUND), parent="ask", at=(0.1, 0.2))
    (record,) = records(
        trace(span("ask", ASK), search, span("openai.chat", CHAT, parent="ask", at=(0.3, 0.9)))
    )
    assert (record.answer, record.session_id) == (ANSWER, "s-1")
    assert [(d.chunk_id, d.score) for d in record.retrieved] == [(n, 0.5) for n, _ in DOCUMENTS]
    assert record.usage is not None
    assert record.usage.input_tokens == 5


def test_a_tool_that_finds_nothing_is_a_search() -> None:
    search = span("search_docs", traced("TOOL", "[]"), parent="ask", at=(0.1, 0.2))
    (record,) = records(
        trace(span("ask", ASK), search, span("openai.chat", CHAT, parent="ask", at=(0.3, 0.9)))
    )
    assert record.retrieved == ()
    assert "retrieved" not in record.absent


def test_a_failed_call_still_shows_what_was_retrieved() -> None:
    """The span of a failed call has no usage: its kind says that it is a model's."""
    failed = {k: v for k, v in CHAT.items() if "usage" not in k and "output" not in k}
    search = span("retrieve", traced("DEFAULT", FOUND), parent="ask", at=(0.1, 0.2))
    (record,) = records(
        trace(span("ask", {**ASK, "lmnr.span.output": ""}), search,
              span("openai.chat", failed, parent="ask", at=(0.3, 0.9)))
    )  # fmt: skip
    assert len(record.retrieved) == len(DOCUMENTS)


def test_the_results_of_tools_in_a_request_to_responses_are_its_context() -> None:
    call = {"type": "function_call", "call_id": "c", "name": "search_docs", "arguments": "{}"}
    request = [
        {"role": "user", "content": QUESTION, "type": "message"}, call,
        {"type": "function_call_output", "call_id": "c", "output": json.dumps(FOUND)},
    ]  # fmt: skip
    reply = {"type": "message", "role": "assistant", "content": [
        {"type": "output_text", "text": ANSWER, "annotations": []}]}  # fmt: skip
    first = {**CHAT, "gen_ai.input.messages": json.dumps(request[:1]),
             "gen_ai.output.messages": json.dumps([call])}  # fmt: skip
    last = {**CHAT, "gen_ai.input.messages": json.dumps(request),
            "gen_ai.output.messages": json.dumps([reply])}  # fmt: skip
    (record,) = records(
        trace(span("ask", ASK), span("first", first, parent="ask", at=(0.1, 0.2)),
              span("search_docs", traced("TOOL", json.dumps(FOUND)), parent="ask", at=(0.3, 0.4)),
              span("last", last, parent="ask", at=(0.5, 0.9)))
    )  # fmt: skip
    assert (record.query, record.answer) == (QUESTION, ANSWER)
    assert [document.chunk_id for document in record.context] == [name for name, _ in DOCUMENTS]


def test_the_results_of_a_file_search_are_its_context_and_its_annotations_citations() -> None:
    (name, text), *_ = DOCUMENTS
    found = {"file_id": name, "filename": "a.md", "score": 0.5, "text": text, "attributes": {}}
    note = {"type": "file_citation", "file_id": name, "filename": "a.md", "index": 3}
    reply = [
        {"type": "file_search_call", "id": "f", "queries": [QUESTION], "results": [found]},
        {"type": "message", "role": "assistant", "content": [
            {"type": "output_text", "text": text, "annotations": [note]}]},
    ]  # fmt: skip
    asked = [{"role": "user", "content": QUESTION, "type": "message"}]
    call = {**CHAT, "gen_ai.input.messages": json.dumps(asked),
            "gen_ai.output.messages": json.dumps(reply)}  # fmt: skip
    answered = {**ASK, "lmnr.span.output": json.dumps(text)}
    (record,) = records(trace(span("ask", answered), span("llm", call, parent="ask")))
    assert [document.chunk_id for document in record.context] == [name]
    assert [citation.chunk_id for citation in record.citations] == [name]


@given(spans_of(laminar, "lmnr.span.type", "lmnr.span.input", "lmnr.span.output",
                said=tuple(laminar.ROLES)))  # fmt: skip
def test_any_span_can_be_read(any_span: Span) -> None:
    said_of(laminar, any_span)
