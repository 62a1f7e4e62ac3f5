"""OpenInference as it is written, and as it is found."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from collector.record.build import records
from ragvigil.model.record import RagRecord
from ragvigil.model.span import AttributeValue
from tests.traces import ANSWER, DOCUMENTS, PROMPT, QUESTION, llm, retriever, span, trace

RETRIEVER = {"openinference.span.kind": "RETRIEVER", "input.value": QUESTION}
CHAIN = {"openinference.span.kind": "CHAIN"}
NAMES = [name for name, _ in DOCUMENTS]
TEXTS = [text for _, text in DOCUMENTS]


def record_of(attributes: dict[str, AttributeValue], name: str = "retrieve") -> RagRecord:
    found = span(name, {**RETRIEVER, **attributes}, parent="root", at=(0.1, 0.2))
    (record,) = records(trace(span("root", CHAIN), found, llm()))
    return record


def retrieved(attributes: dict[str, AttributeValue]) -> list[tuple[str, str | None]]:
    return [(document.chunk_id, document.content) for document in record_of(attributes).retrieved]


def flat(key: str, column: list[str]) -> dict[str, AttributeValue]:
    return {f"retrieval.documents.{n}.document.{key}": value for n, value in enumerate(column)}


@pytest.mark.parametrize(
    "value",
    [
        json.dumps([{"id": name, "content": text} for name, text in DOCUMENTS]),
        json.dumps([{"document.id": name, "document.content": text} for name, text in DOCUMENTS]),
        [json.dumps({"document.id": name, "document.content": text}) for name, text in DOCUMENTS],
        str([{"id": name, "content": text} for name, text in DOCUMENTS]),
    ],
)
def test_documents_set_as_one_attribute_are_read(value: AttributeValue) -> None:
    assert retrieved({"retrieval.documents": value}) == list(DOCUMENTS)


def test_documents_without_the_infix_are_read() -> None:
    rows: dict[str, AttributeValue] = {}
    for number, (name, text) in enumerate(DOCUMENTS):
        rows |= {f"retrieval.documents.{number}.id": name,
                 f"retrieval.documents.{number}.content": text}  # fmt: skip
    assert retrieved(rows) == list(DOCUMENTS)


@pytest.mark.parametrize("key", ["id", "_id", "chunk_id", "doc_id", "document_id", "uuid"])
def test_the_id_is_found_in_the_metadata(key: str) -> None:
    metadata = [json.dumps({key: name, "title": "t"}) for name in NAMES]
    assert retrieved({**flat("content", TEXTS), **flat("metadata", metadata)}) == list(DOCUMENTS)


def test_metadata_written_as_python_or_flattened_is_read() -> None:
    as_python = [str({"chunk_id": name, "page": None}) for name in NAMES]
    flattened = flat("metadata.chunk_id", NAMES)
    assert retrieved({**flat("content", TEXTS), **flat("metadata", as_python)}) == list(DOCUMENTS)
    more = {**flat("content", TEXTS), **flat("score", ["1", "2", "3"]), **flattened}
    assert retrieved({**more, **flat("extra", NAMES)}) == list(DOCUMENTS)


def test_the_users_id_is_preferred_to_a_frameworks() -> None:
    node_ids = [f"92dbf133-442a-412c-b9a3-c166e7f3dd2{n}" for n in range(3)]
    metadata = [json.dumps({"doc_id": name}) for name in NAMES]
    rows = {**flat("id", node_ids), **flat("content", TEXTS)}
    assert [name for name, _ in retrieved({**rows, **flat("metadata", metadata)})] == NAMES
    assert [name for name, _ in retrieved(rows)] == node_ids


def test_a_document_id_that_several_chunks_share_names_none_of_them() -> None:
    metadata = [json.dumps({"doc_id": "handbook"}) for _ in NAMES]
    record = record_of({**flat("content", TEXTS), **flat("metadata", metadata)})
    assert len({document.chunk_id for document in record.retrieved}) == 3
    assert {document.document_id for document in record.retrieved} == {"handbook"}
    assert "document_ids" in record.absent


def test_langchains_ids_are_found_in_the_output() -> None:
    output = {"documents": [{"id": name, "page_content": text, "metadata": {}, "type": "Document"}
                            for name, text in DOCUMENTS]}  # fmt: skip
    rows = {**flat("content", TEXTS), "output.value": json.dumps(output)}
    assert retrieved(rows) == list(DOCUMENTS)


def test_without_any_id_the_hash_of_the_text_is_the_id() -> None:
    record = record_of(flat("content", TEXTS))
    assert [document.chunk_id for document in record.retrieved] == [
        document.text_hash for document in record.retrieved
    ]
    assert "document_ids" in record.absent


def test_langchains_compressor_is_a_reranker_around_a_retriever() -> None:
    outer = retriever("ContextualCompressionRetriever", (DOCUMENTS[2],), at=(0.1, 0.3))
    inner = retriever("VectorStoreRetriever", parent="ContextualCompressionRetriever")
    (record,) = records(trace(span("root", CHAIN), outer, inner, llm()))
    assert [document.chunk_id for document in record.retrieved] == NAMES
    assert [document.chunk_id for document in record.reranked] == ["acct-03"]


def test_a_relevance_score_in_the_metadata_is_the_rerankers() -> None:
    rows = {"openinference.span.kind": "RETRIEVER"}
    for index, (name, text) in enumerate(reversed(DOCUMENTS)):
        place = f"retrieval.documents.{index}.document"
        metadata = {"id": name, "relevance_score": 0.9 - index / 10}
        rows |= {f"{place}.content": text, f"{place}.metadata": json.dumps(metadata)}
    outer = span("ContextualCompressionRetriever", rows, parent="root", at=(0.1, 0.3))
    inner = retriever("VectorStoreRetriever", parent="ContextualCompressionRetriever")
    (record,) = records(trace(span("root", CHAIN), outer, inner, llm()))
    assert [document.score for document in record.reranked] == pytest.approx([0.9, 0.8, 0.7])
    assert {document.score for document in record.retrieved} == {None}


def test_llamaindex_reranker_names_nodes_only_by_id() -> None:
    output = json.dumps([f"<NodeWithScore(node=TextNode(id_={name}), score=0.5)>"
                         for name in ("acct-03", "refund-01")])  # fmt: skip
    rerank = span("SentenceTransformerRerank._postprocess_nodes", {**CHAIN, "output.value": output},
                  parent="root", at=(0.2, 0.3))  # fmt: skip
    (record,) = records(trace(span("root", CHAIN), retriever(), rerank, llm()))
    assert [(document.chunk_id, document.content) for document in record.reranked] == [
        DOCUMENTS[2],
        DOCUMENTS[0],
    ]


def test_haystacks_joiner_tells_the_order_of_what_was_retrieved() -> None:
    output = json.dumps({"documents": [f"Document(id={name}, content: 'Cus...', score: 1.0)"
                                       for name in ("acct-03", "refund-01")]})  # fmt: skip
    joiner = span("DocumentJoiner.run", {**CHAIN, "output.value": output}, parent="root",
                  at=(0.2, 0.3))  # fmt: skip
    spans = (retriever("bm25", DOCUMENTS[:1]), retriever("dense", DOCUMENTS[2:]), joiner, llm())
    (record,) = records(trace(span("root", CHAIN), *spans))
    assert [(document.chunk_id, document.content) for document in record.retrieved] == [
        DOCUMENTS[2],
        DOCUMENTS[0],
    ]


def test_a_cut_span_is_made_whole_from_its_own_output() -> None:
    output = {"documents": [{"page_content": text, "metadata": {"id": name}}
                            for name, text in DOCUMENTS]}  # fmt: skip
    kept = {k: v for k, v in flat("content", TEXTS).items() if ".0." not in k}
    rows = {**RETRIEVER, **kept, "output.value": json.dumps(output)}
    cut = span("retrieve", rows, parent="root", at=(0.1, 0.2), dropped=1)
    (record,) = records(trace(span("root", CHAIN), cut, llm(prompt=None)))
    assert [document.chunk_id for document in record.retrieved] == NAMES


def test_a_huge_index_costs_nothing() -> None:
    rows = {"retrieval.documents.999999999.document.content": "x", **flat("content", TEXTS)}
    assert len(record_of(rows).retrieved) == 3


def test_messages_in_parts_and_raw_requests_are_read() -> None:
    parts = {
        "llm.output_messages.0.message.contents.0.message_content.type": "reasoning",
        "llm.output_messages.0.message.contents.0.message_content.text": "hm",
        "llm.output_messages.0.message.contents.1.message_content.type": "text",
        "llm.output_messages.0.message.contents.1.message_content.text": "In 30 days.",
    }
    model = llm(answer=None, prompt=None, extra=parts)
    (record,) = records(trace(span("root", CHAIN), retriever(), model))
    assert record.answer == "In 30 days."
    raw = {
        "input.value": json.dumps({"messages": [{"role": "user", "content": TEXTS[0]}]}),
        "output.value": json.dumps({"choices": [{"message": {"content": "In 30 days!"}}]}),
    }
    (record,) = records(trace(span("root", CHAIN), retriever(),
                              llm(answer=None, prompt=None, extra=raw)))  # fmt: skip
    assert record.answer == "In 30 days!"
    assert [document.chunk_id for document in record.context] == ["refund-01"]


def test_completions_of_old_are_read() -> None:
    old = {"llm.prompts": [f"{TEXTS[0]}\nQuestion: {QUESTION}"],
           "llm.choices.0.completion.text": "In 30 days."}  # fmt: skip
    model = llm(answer=None, prompt=None, extra=old)
    (record,) = records(trace(span("root", CHAIN), retriever(), model))
    assert record.answer == "In 30 days."
    assert [document.chunk_id for document in record.context] == ["refund-01"]


def test_an_agent_of_llamaindex_has_the_users_question_and_what_the_model_wrote() -> None:
    """Its run returns an object's repr, helpers have the kind of a model, and its tool rewrites."""
    kind = "openinference.span.kind"
    calls: dict[str, AttributeValue] = {
        kind: "LLM",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": QUESTION,
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "search_help",
    }
    said = f"StopEvent(result=AgentOutput(response=ChatMessage(text='{ANSWER[:20]}..."
    (record,) = records(
        trace(span("run", {kind: "CHAIN", "output.value": said}),
              span("prepare", {kind: "LLM"}, parent="run", at=(0.1, 0.15)),
              span("calls", calls, parent="run", at=(0.2, 0.3)),
              retriever(query=f"\ninput is {QUESTION}\n", parent="run", at=(0.4, 0.5)),
              llm(prompt=QUESTION, parent="run", at=(0.6, 0.9)))
    )  # fmt: skip
    assert (record.query, record.answer) == (QUESTION, ANSWER)


def test_a_tool_of_llamaindex_that_found_nothing_is_a_search() -> None:
    returned = {"blocks": [{"text": "[]"}], "tool_name": "search_docs", "raw_output": "[]",
                "raw_input": {"kwargs": {"query": QUESTION}}, "is_error": False}  # fmt: skip
    tool: dict[str, AttributeValue] = {
        "openinference.span.kind": "TOOL", "tool.name": "search_docs",
        "output.value": json.dumps(returned),
    }  # fmt: skip
    (record,) = records(
        trace(span("root"), span("tool", tool, parent="root", at=(0.1, 0.2)), llm(prompt=QUESTION))
    )
    assert record.retrieved == ()
    assert "retrieved" not in record.absent


def test_a_tools_result_that_only_the_inputs_repr_has_is_its_message() -> None:
    found = "\n".join(f"[{name}] {text}" for name, text in DOCUMENTS)
    reprs = [
        f"ChatMessage(_content=[TextContent(text={QUESTION!r})])",
        "ChatMessage(_content=[ToolCall(tool_name='search_docs', arguments={})])",
        f"ChatMessage(_content=[ToolCallResult(result={found!r}, error=False)])",
    ]
    asked = {
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": QUESTION,
        "llm.input_messages.1.message.role": "assistant",
        "llm.input_messages.2.message.role": "tool",
        "input.value": json.dumps({"messages": reprs}),
    }
    (record,) = records(trace(llm(prompt=None, parent="", extra=asked)))
    assert record.query == QUESTION
    assert [document.chunk_id for document in record.context] == [name for name, _ in DOCUMENTS]


@pytest.mark.parametrize("answer", [ANSWER, None])
def test_a_model_whose_kind_was_cut_off_is_a_model(answer: str | None) -> None:
    """Where no row of the reply is left, rows of the prompt may be gone, too: the input has all."""
    whole = llm(answer=answer, dropped=4, extra={"input.value": PROMPT})
    attributes = dict(whole.attributes)
    del attributes["openinference.span.kind"]
    cut = replace(whole, attributes=attributes)
    (record,) = records(trace(span("root", CHAIN), retriever(), cut))
    assert record.answer == answer
    assert [document.chunk_id for document in record.context] == NAMES
