"""AgentOps: decorated functions, and tools whose results are lists of documents."""

from __future__ import annotations

import json

from hypothesis import given

from collector.conventions.traced_functions import agentops
from collector.record.build import records
from ragvigil.model.record import Absent
from ragvigil.model.span import AttributeValue, Span, StatusCode
from tests.garbage import said_of, spans_of
from tests.traces import ANSWER, DOCUMENTS, PROMPT, QUESTION, span, trace

FOUND = json.dumps([{"id": name, "content": text} for name, text in DOCUMENTS])
SESSION: dict[str, AttributeValue] = {
    "agentops.span.kind": "session", "operation.name": "ask",
    "agentops.entity.input": json.dumps({"args": [QUESTION], "kwargs": {}}),
    "agentops.entity.output": ANSWER,
}  # fmt: skip
CHAT: dict[str, AttributeValue] = {
    "gen_ai.request.type": "chat", "gen_ai.request.model": "small",
    "gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": PROMPT,
}  # fmt: skip
REPLY: dict[str, AttributeValue] = {
    "gen_ai.usage.prompt_tokens": 5, "gen_ai.usage.completion_tokens": 3,
    "gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": ANSWER,
    "gen_ai.completion.0.finish_reason": "stop",
}  # fmt: skip
RETRIEVE: dict[str, AttributeValue] = {
    "agentops.span.kind": "task", "operation.name": "retrieve",
    "agentops.task.input": json.dumps({"args": [QUESTION], "kwargs": {}}),
    "agentops.task.output": FOUND,
}  # fmt: skip
IDS = [name for name, _ in DOCUMENTS]


def test_a_task_that_retrieves_and_the_name_of_the_function_as_route() -> None:
    (record,) = records(
        trace(span("ask.session", SESSION),
              span("retrieve.task", RETRIEVE, parent="ask.session", at=(0.1, 0.2)),
              span("chat", {**CHAT, **REPLY}, parent="ask.session", at=(0.3, 0.9)))
    )  # fmt: skip
    assert (record.query, record.answer, record.route) == (QUESTION, ANSWER, "ask")
    assert [document.chunk_id for document in record.retrieved] == IDS


def test_a_failed_call_is_a_models() -> None:
    asked = {k: v for k, v in SESSION.items() if k != "agentops.entity.output"}
    chat = span("chat", CHAT, parent="ask.session", at=(0.3, 0.9), status=StatusCode.ERROR,
                message="overloaded")  # fmt: skip
    search = span("retrieve.task", RETRIEVE, parent="ask.session", at=(0.1, 0.2))
    (record,) = records(trace(span("ask.session", asked), search, chat))
    assert (record.error, record.absent["answer"]) == ("overloaded", Absent.ERRORED)
    assert [document.chunk_id for document in record.context] == IDS


def test_a_tools_result_in_the_prompt_keeps_its_ids() -> None:
    chat: dict[str, AttributeValue] = {
        **CHAT, **REPLY, "gen_ai.prompt.0.content": QUESTION,
        "gen_ai.prompt.1.role": "tool", "gen_ai.prompt.1.content": FOUND,
    }  # fmt: skip
    (record,) = records(
        trace(span("ask.session", SESSION), span("chat", chat, parent="ask.session"))
    )
    assert [document.chunk_id for document in record.context] == IDS


def test_a_call_that_a_model_asked_for_hides_no_result() -> None:
    """Its span is named like the tool, and the decorated tool has one of its own."""
    asked: dict[str, AttributeValue] = {
        "agentops.span.kind": "AgentOpsSpanKindValues.TOOL", "tool.name": "search_docs",
        "tool.parameters": json.dumps({"query": QUESTION}),
    }  # fmt: skip
    tool: dict[str, AttributeValue] = {
        "agentops.span.kind": "tool", "operation.name": "search_docs",
        "agentops.tool.input": json.dumps({"args": [], "kwargs": {"query": QUESTION}}),
        "agentops.tool.output": "[]",
    }  # fmt: skip
    (record,) = records(
        trace(span("ask.session", SESSION),
              span("first", CHAT, parent="ask.session", at=(0.1, 0.2)),
              span("tool_call.search_docs", asked, parent="first", at=(0.15, 0.16)),
              span("search_docs.tool", tool, parent="ask.session", at=(0.3, 0.4)),
              span("last", {**CHAT, **REPLY, "gen_ai.prompt.0.content": QUESTION},
                   parent="ask.session", at=(0.5, 0.9)))
    )  # fmt: skip
    assert record.retrieved == ()
    assert "retrieved" not in record.absent


@given(spans_of(agentops, "agentops.span.kind", "agentops.tool.input", "agentops.task.output",
                said=tuple(agentops.ROLES)))  # fmt: skip
def test_any_span_can_be_read(any_span: Span) -> None:
    said_of(agentops, any_span)
