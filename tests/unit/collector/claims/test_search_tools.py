"""A tool that searches documents and returns none is a retrieval; any other tool is not."""

from __future__ import annotations

import pytest

from collector.record.build import records
from ragvigil.model.record import Absent, RagRecord
from ragvigil.model.span import AttributeValue
from tests.traces import DOCUMENTS, llm, retriever, span, trace

NONE_FOUND = ("[]", '{"documents": []}', '{"result": []}', '[{"text": "[]"}]', "No results found.")


def records_of(tool: str, result: str | None) -> tuple[RagRecord, ...]:
    call: dict[str, AttributeValue] = {
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool,
        **({} if result is None else {"gen_ai.tool.call.result": result}),
    }  # fmt: skip
    question = {"llm.input_messages.0.message.role": "user",
                "llm.input_messages.0.message.content": "Do zebras sleep?"}  # fmt: skip
    answering = llm(answer="I do not know.")
    own = {**answering.attributes, **question}
    model = span(answering.name, own, parent="root", at=(0.5, 0.9))
    return records(trace(span("root"), span("tool", call, parent="root", at=(0.1, 0.2)), model))


@pytest.mark.parametrize("result", NONE_FOUND)
def test_a_search_without_documents_found_nothing(result: str) -> None:
    (record,) = records_of("search_documents", result)
    assert (record.retrieved, record.absent.get("retrieved")) == ((), None)


@pytest.mark.parametrize("tool", ["search_flights", "list_orders", "get_weather", "run_query"])
def test_another_tool_without_a_result_is_no_retrieval(tool: str) -> None:
    assert records_of(tool, "[]") == ()
    assert records_of(tool, None) == ()


def test_a_search_whose_result_is_not_sent_is_hidden() -> None:
    (record,) = records_of("retriever", None)
    assert record.absent["retrieved"] is Absent.HIDDEN


@pytest.mark.parametrize("result", ["", "20 degrees in Lisbon", '{"status": "ok"}'])
def test_any_other_result_of_a_search_says_nothing(result: str) -> None:
    assert records_of("search_documents", result) == ()


def test_a_retriever_inside_of_a_search_shows_what_the_tool_hides() -> None:
    call: dict[str, AttributeValue] = {
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search_documents",
    }  # fmt: skip
    tool = span("tool", call, parent="root", at=(0.1, 0.2))
    inner = retriever(parent="tool")
    (record,) = records(trace(span("root"), tool, inner, llm()))
    assert [document.chunk_id for document in record.retrieved] == [name for name, _ in DOCUMENTS]
    assert len(record.retrievals) == 1
