"""What an agent's model was shown, by the calls and results of tools among its messages."""

from __future__ import annotations

import json
from collections.abc import Mapping

from collector.record.build import records
from ragvigil.model.record import Absent, ContextSource, RagRecord
from ragvigil.model.span import AttributeValue
from tests.traces import ANSWER, DOCUMENTS, QUESTION, llm, retriever, span, trace

NAMES = [name for name, _ in DOCUMENTS]
MARKED = "\n\n".join(f"[{name}] {text}" for name, text in DOCUMENTS)
CALL: dict[str, AttributeValue] = {
    "llm.input_messages.1.message.role": "assistant",
    "llm.input_messages.1.message.tool_calls.0.tool_call.function.name": "search_docs",
}


def record_of(messages: Mapping[str, AttributeValue]) -> RagRecord:
    model = llm(prompt=QUESTION, extra=CALL | messages)
    (record,) = records(trace(span("root"), retriever(), model))
    return record


def test_results_that_a_prompt_leaves_out_are_shown_all_the_same() -> None:
    """The prompt is short because its instrumentor drops them."""
    for left_out in ({}, {"llm.input_messages.2.message.role": "function"}):
        record = record_of(left_out)
        assert [document.chunk_id for document in record.context] == NAMES
        assert record.context_source is ContextSource.RETRIEVED


def test_a_result_that_shows_none_of_the_chunks_leaves_an_empty_context() -> None:
    said = {
        "llm.input_messages.2.message.role": "tool",
        "llm.input_messages.2.message.content": "-",
    }
    assert record_of(said).context == ()


def test_an_observation_in_the_users_name_is_the_result_of_a_tool() -> None:
    """As ReAct agents write it; smolagents' roles are members of an enum."""
    asked = [
        {"role": "MessageRole.USER", "parts": [{"type": "text", "content": QUESTION}]},
        {"role": "MessageRole.ASSISTANT", "parts": [{"type": "text", "content": "Action: find"}]},
        {"role": "MessageRole.USER",
         "parts": [{"type": "text", "content": f"Observation:\n{MARKED}"}]},
    ]  # fmt: skip
    said = [{"role": "assistant", "parts": [{"type": "text", "content": ANSWER}]}]
    chat = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "small",
        "gen_ai.input.messages": json.dumps(asked),
        "gen_ai.output.messages": json.dumps(said),
    }
    (record,) = records(trace(span("root"), span("chat", chat, parent="root")))
    assert (record.query, record.answer) == (QUESTION, ANSWER)
    assert [document.chunk_id for document in record.context] == NAMES
    assert record.context_source is ContextSource.PROMPT


def test_a_result_that_was_cut_makes_the_retrieval_truncated_and_not_short() -> None:
    """Three documents, of which AG2 would send two and a half."""
    tool = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "search_docs",
        "gen_ai.tool.call.result": MARKED[:-30] + "...[truncated]",
    }
    spans = (span("root"), span("tool", tool, parent="root", at=(0.1, 0.2)), llm(prompt=QUESTION))
    (record,) = records(trace(*spans))
    assert (record.retrieved, record.context) == ((), ())
    assert record.absent["retrieved"] == record.absent["context"] == Absent.TRUNCATED
