"""Google's Agent Development Kit: Gemini's bodies as JSON text, tools inside of model calls."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from collector.conventions import google_adk
from collector.record.build import records
from ragvigil.model.record import Absent, RagRecord
from ragvigil.model.span import AttributeValue, Span
from tests.garbage import said_of, spans_of
from tests.traces import ANSWER, DOCUMENTS, PROMPT, QUESTION, retriever, span, trace

NAMES = [name for name, _ in DOCUMENTS]
SHOWN = "\n".join(f"[{name}] {text}" for name, text in DOCUMENTS)
LISTED = {"results": [{"chunk_id": name, "text": text} for name, text in DOCUMENTS]}
CALL = {"function_call": {"id": "c1", "args": {"query": "refund window"}, "name": "search"}}
AGENT = span("agent", {}, parent="root", at=(0, 1))


def said(role: str, *parts: object) -> dict[str, object]:
    return {"role": role, "parts": list(parts)}


def returned(result: object) -> dict[str, object]:
    return said("user", {"function_response": {"id": "c1", "name": "search", "response": result}})


def call_llm(
    name: str, at: tuple[float, float], contents: list[dict[str, object]], reply: object
) -> Span:
    config = {"system_instruction": "Answer from the context.", "temperature": 0.5}
    usage = {"prompt_token_count": 5, "candidates_token_count": 3}
    response = {"content": said("model", reply), "finish_reason": "STOP", "usage_metadata": usage}
    attributes: dict[str, AttributeValue] = {
        "gen_ai.system": "gcp.vertex.agent",
        "gen_ai.request.model": "gemini-x",
        "gcp.vertex.agent.session_id": "s1",
        "gcp.vertex.agent.llm_request": json.dumps(
            {"model": "gemini-x", "config": config, "contents": contents}
        ),
        "gcp.vertex.agent.llm_response": json.dumps(response),
    }
    return span(name, attributes, parent="agent", at=at)


def tool(result: object, name: str = "search") -> Span:
    attributes: dict[str, AttributeValue] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gcp.vertex.agent.tool_call_args": '{"query": "refund window"}',
        "gcp.vertex.agent.tool_response": json.dumps(result),
        "gcp.vertex.agent.llm_request": "{}",
        "gcp.vertex.agent.llm_response": "{}",
    }
    return span(f"execute_tool {name}", attributes, parent="first", at=(0.2, 0.3))


def record_of(*spans: Span) -> RagRecord:
    (record,) = records(trace(span("root"), AGENT, *spans))
    return record


ASKED = said("user", {"text": QUESTION})


@pytest.mark.parametrize("result", [{"result": SHOWN}, LISTED])
def test_an_agents_run_makes_a_whole_record(result: object) -> None:
    first = call_llm("first", (0.1, 0.4), [ASKED], CALL)
    last = call_llm("last", (0.5, 0.9), [ASKED, said("model", CALL), returned(result)],
                    {"text": ANSWER})  # fmt: skip
    record = record_of(first, tool(result), last)
    assert record.query == QUESTION
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )
    assert [document.chunk_id for document in record.context] == NAMES
    assert record.answer == ANSWER
    assert [citation.chunk_id for citation in record.citations] == ["refund-01"]
    assert record.usage is not None
    assert (record.usage.input_tokens, record.usage.output_tokens) == (10, 6)
    assert (record.session_id, record.dimensions.temperature) == ("s1", 0.5)


def test_model_calls_alone_hold_what_the_tool_returned() -> None:
    first = call_llm("first", (0.1, 0.4), [ASKED], CALL)
    last = call_llm("last", (0.5, 0.9), [ASKED, said("model", CALL), returned({"result": SHOWN})],
                    {"text": ANSWER})  # fmt: skip
    record = record_of(first, last)
    assert (record.query, record.answer) == (QUESTION, ANSWER)
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )


def test_thoughts_are_no_answer() -> None:
    reply = call_llm("only", (0.5, 0.9), [said("user", {"text": PROMPT})], {"text": ANSWER})
    body = {"content": said("model", {"text": "Let me think.", "thought": True}, {"text": ANSWER})}
    attributes = {**reply.attributes, "gcp.vertex.agent.llm_response": json.dumps(body)}
    assert record_of(span("only", attributes, parent="agent", at=(0.5, 0.9))).answer == ANSWER


def test_merged_tool_calls_repeat_what_single_ones_returned() -> None:
    first = call_llm("first", (0.1, 0.4), [ASKED], CALL)
    last = call_llm("last", (0.5, 0.9), [ASKED, returned({"result": SHOWN})], {"text": ANSWER})
    record = record_of(first, tool({"result": SHOWN}), tool(LISTED, "(merged tools)"), last)
    assert len(record.retrievals) == 1


def test_content_that_is_switched_off_is_hidden_and_not_empty() -> None:
    off: dict[str, AttributeValue] = {
        "gen_ai.request.model": "gemini-x",
        "gcp.vertex.agent.llm_request": "{}",
        "gcp.vertex.agent.llm_response": "{}",
    }
    record = record_of(retriever(parent="agent"), span("m", off, parent="agent", at=(0.3, 0.9)))
    assert record.answer is None
    assert record.absent["answer"] is Absent.HIDDEN


def test_a_body_that_was_cut_says_no_answer() -> None:
    call = call_llm("m", (0.3, 0.9), [said("user", {"text": PROMPT})], {"text": ANSWER})
    body = str(call.attributes["gcp.vertex.agent.llm_response"])[:40]
    cut = span("m", {**call.attributes, "gcp.vertex.agent.llm_response": body}, parent="agent",
               at=(0.3, 0.9))  # fmt: skip
    record = record_of(retriever(parent="agent"), cut)
    assert record.answer is None


ODD = (
    '{"contents": [{"parts": [null, 3, {"function_call": 1}]}], "config": []}',
    '{"content": {"parts": [{"thought": 1}]}, "usage_metadata": [], "finish_reason": {}}',
)


@given(spans_of(google_adk, "gcp.vertex.agent.llm_request", "gcp.vertex.agent.llm_response",
                "gcp.vertex.agent.tool_response", said=(*ODD, ODD[0][:30], "{}")))  # fmt: skip
def test_any_span_can_be_read(any_span: Span) -> None:
    said_of(google_adk, any_span)
