"""Agents whose tools have no spans: their models' messages show the searches that found nothing."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given

from collector.claims.called_tools import tools_in
from collector.record.build import records
from ragvigil.model.record import RagRecord
from ragvigil.model.span import AttributeValue
from tests.generated_traces import values
from tests.traces import QUESTION, span, trace

Attributes = dict[str, AttributeValue]
Stack = Callable[[str, str], tuple[Attributes, Attributes]]
ANSWER = "I do not know."


def openinference(tool: str, result: str) -> tuple[Attributes, Attributes]:
    sent, said = "llm.input_messages", "llm.output_messages"
    asked: Attributes = {
        "openinference.span.kind": "LLM",
        f"{sent}.0.message.role": "user", f"{sent}.0.message.content": QUESTION,
        f"{said}.0.message.role": "assistant",
    }  # fmt: skip
    call: Attributes = {f"{said}.0.message.tool_calls.0.tool_call.function.name": tool}
    answered: Attributes = {
        f"{sent}.1.message.role": "tool", f"{sent}.1.message.content": result,
        f"{said}.0.message.content": ANSWER,
    }  # fmt: skip
    return {**asked, **call}, {**asked, **answered}


def openllmetry(tool: str, result: str) -> tuple[Attributes, Attributes]:
    asked: Attributes = {
        "llm.request.type": "chat", "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": QUESTION, "gen_ai.completion.0.role": "assistant",
    }  # fmt: skip
    answered: Attributes = {
        "gen_ai.prompt.1.role": "tool", "gen_ai.prompt.1.content": result,
        "gen_ai.completion.0.content": ANSWER,
    }  # fmt: skip
    return {**asked, "gen_ai.completion.0.tool_calls.0.name": tool}, {**asked, **answered}


def otel_genai(tool: str, result: str) -> tuple[Attributes, Attributes]:
    user = {"role": "user", "parts": [{"type": "text", "content": QUESTION}]}
    call = {"role": "assistant", "parts": [{"type": "tool_call", "id": "c", "name": tool}]}
    returned = {"role": "tool", "parts": [{"type": "tool_call_response", "response": result}]}
    reply = {"role": "assistant", "parts": [{"type": "text", "content": ANSWER}]}
    chat: Attributes = {"gen_ai.operation.name": "chat"}
    return (
        {**chat, "gen_ai.input.messages": json.dumps([user]),
         "gen_ai.output.messages": json.dumps([call])},
        {**chat, "gen_ai.input.messages": json.dumps([user, call, returned]),
         "gen_ai.output.messages": json.dumps([reply])},
    )  # fmt: skip


STACKS = [openinference, openllmetry, otel_genai]


def records_of(calls: tuple[Attributes, Attributes]) -> tuple[RagRecord, ...]:
    first, last = calls
    return records(
        trace(span("root"), span("first", first, parent="root", at=(0.1, 0.2)),
              span("last", last, parent="root", at=(0.5, 0.9)))
    )  # fmt: skip


@pytest.mark.parametrize("stack", STACKS)
def test_a_search_that_found_nothing_is_a_record(stack: Stack) -> None:
    (record,) = records_of(stack("search_docs", "[]"))
    assert (record.query, record.answer, record.retrieved) == (QUESTION, ANSWER, ())
    assert "retrieved" not in record.absent


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize(("tool", "result"), [("list_orders", "[]"), ("search_docs", "Sunny.")])
def test_any_other_call_is_none(stack: Stack, tool: str, result: str) -> None:
    assert records_of(stack(tool, result)) == ()


@pytest.mark.parametrize("stack", STACKS)
def test_the_only_hit_of_a_search_needs_no_list(stack: Stack) -> None:
    """MCP sends each item of a list as a text part of its own."""
    hit = json.dumps({"id": "a-1", "content": "Zebras sleep standing."})
    (record,) = records_of(stack("search_docs", hit))
    assert [document.chunk_id for document in record.retrieved] == ["a-1"]
    assert records_of(stack("get_order", hit)) == ()


def test_the_calls_of_a_turn_are_one_answer() -> None:
    """They look like a batch of requests: the same name and arguments under a plain span."""
    found = json.dumps([{"id": "a-1", "content": "Zebras sleep."}, {"id": "b-2", "content": "So."}])
    request = json.dumps({"messages": [{"role": "user", "content": QUESTION}], "model": "small"})
    usage: Attributes = {
        "input.value": request, "llm.token_count.prompt": 50, "llm.token_count.completion": 9,
    }  # fmt: skip
    first, last = openinference("search_docs", found)
    (record,) = records(
        trace(span("ask"), span("chat", {**first, **usage}, parent="ask", span_id="1"),
              span("chat", {**last, **usage}, parent="ask", at=(2, 3), span_id="2"))
    )  # fmt: skip
    assert [document.chunk_id for document in record.retrieved] == ["a-1", "b-2"]
    assert record.usage is not None
    assert record.usage.input_tokens == 100


def test_a_search_beside_another_tool_is_none() -> None:
    """Which of the tools returned nothing is not known."""
    first, last = openllmetry("search_docs", "[]")
    first["gen_ai.completion.0.tool_calls.1.name"] = "list_orders"
    assert records_of((first, last)) == ()


@given(values)
def test_anything_can_be_read(value: AttributeValue) -> None:
    assert all(isinstance(name, str) for name in tools_in(value))
