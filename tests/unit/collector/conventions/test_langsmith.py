"""LangSmith: every run's inputs and outputs are JSON under the names of prompts."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from collector.conventions import langsmith
from collector.record.build import records
from ragvigil.model.record import Absent
from ragvigil.model.span import AttributeValue, Span
from tests.garbage import said_of, spans_of
from tests.traces import ANSWER, DOCUMENTS, PROMPT, QUESTION, span, trace

NAMES = [name for name, _ in DOCUMENTS]
OPERATIONS = {"llm": "chat", "retriever": "embeddings", "prompt": "chat", "tool": "execute_tool"}


def run(
    kind: str,
    inputs: object,
    outputs: object,
    *,
    name: str = "",
    parent: str = "root",
    at: tuple[float, float] = (0.1, 0.2),
    **more: AttributeValue,
) -> Span:
    attributes: dict[str, AttributeValue] = {
        "langsmith.span.kind": kind,
        "langsmith.trace.name": name or kind,
        "langsmith.trace.session_name": "default",
        "gen_ai.operation.name": OPERATIONS.get(kind, kind),
        "gen_ai.system": "langchain",
        "langsmith.metadata.session_id": "s1",
        "langsmith.metadata.ls_method": "traceable",
        "gen_ai.prompt": json.dumps(inputs),
        "gen_ai.completion": json.dumps(outputs),
        **more,
    }
    identifier = "" if parent else "root"
    return span(name or kind, attributes, parent=parent, at=at, span_id=identifier)


def constructed(kind: str, **kwargs: object) -> dict[str, object]:
    path = ["langchain", "schema", "messages", kind]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": kwargs}


def generations(message: dict[str, object], text: str) -> dict[str, object]:
    information = {"finish_reason": "stop"}
    return {"generations": [[{"text": text, "generation_info": information,
                              "type": "ChatGeneration", "message": message}]]}  # fmt: skip


DOCS = [{"page_content": text, "metadata": {"doc_id": name}, "type": "Document"}
        for name, text in DOCUMENTS]  # fmt: skip
ROOT = run("chain", {"input": QUESTION}, {"output": ANSWER}, name="RunnableSequence", parent="",
           at=(0, 1))  # fmt: skip
RETRIEVAL = run("retriever", {"query": QUESTION}, {"documents": DOCS}, name="VectorStoreRetriever")
SENT = {"messages": [[constructed("SystemMessage", content="Use the context."),
                      constructed("HumanMessage", content=PROMPT)]]}  # fmt: skip
SAID = generations(constructed("AIMessage", content=ANSWER, tool_calls=[]), ANSWER)
FACTS: dict[str, AttributeValue] = {
    "langsmith.metadata.ls_model_name": "m-1",
    "langsmith.metadata.ls_temperature": 0.5,
    "gen_ai.usage.input_tokens": 12,
    "gen_ai.usage.input_token_details": "{'cache_read': 4}",
}
CHAT = run("llm", SENT, SAID, name="ChatOpenAI", at=(0.3, 0.9), **FACTS)


def test_a_chain_of_langchain_makes_a_whole_record() -> None:
    (record,) = records(trace(ROOT, RETRIEVAL, CHAT))
    assert record.query == QUESTION
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )
    assert [document.chunk_id for document in record.context] == NAMES
    assert record.answer == ANSWER
    assert [citation.chunk_id for citation in record.citations] == ["refund-01"]
    assert (record.session_id, record.dimensions.finish_reason) == ("s1", "stop")
    assert (record.dimensions.llm_model, record.dimensions.temperature) == ("m-1", 0.5)
    assert record.usage is not None
    assert (record.usage.input_tokens, record.usage.cache_read_tokens) == (12, 4)
    assert record.route == "RunnableSequence"


@pytest.mark.parametrize("kind", ["llm", "LLM"])
@pytest.mark.parametrize(
    "outputs",
    [
        {"role": "assistant", "content": ANSWER},
        {"output": ANSWER},
        {"output": {"role": "assistant", "content": ANSWER}},
        {"choices": [{"message": {"role": "assistant", "content": ANSWER}}], "model": "m-1"},
    ],
)
def test_functions_that_are_traced_by_hand_make_a_whole_record(kind: str, outputs: object) -> None:
    root = run("chain", {"question": QUESTION}, {}, name="rag", parent="", at=(0, 1))
    found = run("retriever", {"question": QUESTION}, {"output": DOCS})
    model = run(kind, {"messages": [{"role": "user", "content": PROMPT}]}, outputs, at=(0.3, 0.9))
    (record,) = records(trace(root, found, model))
    assert (record.query, record.answer) == (QUESTION, ANSWER)
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )


@pytest.mark.parametrize("outputs", [{"context": DOCS}, {"output": DOCS}])
def test_a_graphs_node_that_is_named_for_retrieving_retrieves(outputs: object) -> None:
    node = run("chain", {"question": QUESTION}, outputs, name="retrieve")
    model = run("llm", {"messages": [{"role": "user", "content": QUESTION}]},
                {"role": "assistant", "content": ANSWER}, at=(0.3, 0.9))  # fmt: skip
    (record,) = records(trace(ROOT, node, model))
    assert (record.query, record.answer) == (QUESTION, ANSWER)
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )


def test_a_chain_that_answers_is_no_retrieval_whatever_its_name() -> None:
    outputs = {"input": QUESTION, "context": DOCS, "answer": ANSWER}
    whole = run("chain", {"input": QUESTION}, outputs, name="retrieval_chain", parent="", at=(0, 1))
    (record,) = records(trace(whole, RETRIEVAL, CHAT))
    assert [retrieval.query for retrieval in record.retrievals] == [QUESTION]
    assert record.latencies.retrieval == pytest.approx(0.1)


def test_a_step_that_is_named_after_reranking_reranks() -> None:
    found = run("retriever", {"query": QUESTION}, {"documents": DOCS[::-1]})
    ranked = run("chain", {"query": QUESTION, "documents": DOCS[::-1]}, {"output": DOCS[:1]},
                 name="rerank_documents", at=(0.2, 0.25))  # fmt: skip
    (record,) = records(trace(ROOT, found, ranked, CHAT))
    assert [document.chunk_id for document in record.retrieved] == NAMES[::-1]
    assert [document.chunk_id for document in record.reranked] == NAMES[:1]


SHOWN = "\n".join(f"[{name}] {text}" for name, text in DOCUMENTS)


@pytest.mark.parametrize("output", [SHOWN, DOCS])
def test_an_agent_retrieves_through_a_tool(output: object) -> None:
    calls = [{"name": "search", "args": {"query": "x"}, "id": "c1", "type": "tool_call"}]
    call = generations(constructed("AIMessage", content="", tool_calls=calls), "")
    question = constructed("HumanMessage", content=QUESTION)
    asks = run("llm", {"messages": [[question]]}, call, name="first", at=(0.05, 0.1))
    message = {"content": output, "type": "tool", "name": "search", "tool_call_id": "c1"}
    tool = run("tool", {"input": "{'query': 'x'}"}, {"output": message}, name="search")
    shown = constructed("ToolMessage", content=json.dumps(output))
    answers = run("llm", {"messages": [[question, shown]]}, SAID, name="second", at=(0.3, 0.9))
    (record,) = records(trace(ROOT, asks, tool, answers))
    assert (record.query, record.answer) == (QUESTION, ANSWER)
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )


def test_hidden_inputs_and_outputs_are_absent_and_not_empty() -> None:
    root = run("chain", {}, {}, parent="", at=(0, 1))
    found, model = run("retriever", {}, {}), run("llm", {}, {}, at=(0.3, 0.9))
    (record,) = records(trace(root, found, model))
    assert (record.query, record.answer, record.retrieved) == (None, None, ())
    assert record.absent["answer"] is Absent.HIDDEN
    assert record.absent["retrieved"] is Absent.HIDDEN


def test_documents_that_were_cut_are_no_shorter_list() -> None:
    whole = json.dumps({"documents": DOCS})
    cut = run("retriever", {"query": QUESTION}, None, **{"gen_ai.completion": whole[:170]})
    model = run("llm", {"messages": [{"role": "user", "content": QUESTION}]},
                {"content": ANSWER}, at=(0.3, 0.9))  # fmt: skip
    (record,) = records(trace(ROOT, cut, model))
    assert record.retrieved == ()
    assert record.absent["retrieved"] is Absent.TRUNCATED


ODD = ("llm", "retriever", "tool", '{"generations": [[{"message": {"lc": 1, "kwargs": 3}}]]}')


@given(spans_of(langsmith, said=ODD))
def test_any_span_can_be_read(any_span: Span) -> None:
    said_of(langsmith, any_span)
