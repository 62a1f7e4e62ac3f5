"""Agents whose tools have no spans: their models' messages show the searches that found nothing."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given

from collector.claims.called_tools import tools_in
from collector.record.build import records
from ragvigil.model.record import RagRecord
from ragvigil.model.span import AttributeValue, Event, Span
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


def langtrace(tool: str, result: str) -> tuple[Attributes, Attributes]:
    """Events; calls are content, and the call itself is lost from the next prompt."""
    call = {"id": "c", "type": "function", "function": {"name": tool, "arguments": "{}"}}
    user = {"role": "user", "content": QUESTION}
    returned = {"role": "tool", "tool_call_id": "c", "content": result}
    return (
        {"prompt": json.dumps([user]),
         "completion": json.dumps([{"role": "assistant", "content": [call]}])},
        {"prompt": json.dumps([user, [{"id": "", "type": ""}], returned]),
         "completion": json.dumps([{"role": "assistant", "content": ANSWER}])},
    )  # fmt: skip


STACKS = [openinference, openllmetry, otel_genai, langtrace]


def records_of(calls: tuple[Attributes, Attributes]) -> tuple[RagRecord, ...]:
    first, last = map(call_of, calls, ("first", "last"), (0.1, 0.5))
    return records(trace(span("root"), first, last))


def call_of(attributes: Attributes, name: str, start: float) -> Span:
    """A model's call; what Langtrace sends is in events."""
    at = (start, start + 0.2)
    if "prompt" not in attributes:
        return span(name, attributes, parent="root", at=at)
    events = tuple(
        Event(name=f"gen_ai.content.{part}", time_unix_nano=1,
              attributes={f"gen_ai.{part}": attributes[part]})
        for part in ("prompt", "completion")
    )  # fmt: skip
    return span(name, {"gen_ai.operation.name": "chat"}, parent="root", at=at, events=events)


@pytest.mark.parametrize("stack", STACKS)
def test_a_search_that_found_nothing_is_a_record(stack: Stack) -> None:
    (record,) = records_of(stack("search_docs", "[]"))
    assert (record.query, record.answer, record.retrieved) == (QUESTION, ANSWER, ())
    assert "retrieved" not in record.absent


@pytest.mark.parametrize("stack", STACKS)
@pytest.mark.parametrize(("tool", "result"), [("list_orders", "[]"), ("search_docs", "Sunny.")])
def test_any_other_call_is_none(stack: Stack, tool: str, result: str) -> None:
    assert records_of(stack(tool, result)) == ()


def test_an_empty_list_of_documents_says_so_whatever_the_tool_is_called() -> None:
    (record,) = records_of(openinference("search_help", '{"documents": []}'))
    assert record.retrieved == ()
    assert records_of(openinference("search_help", '{"results": []}')) == ()


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
