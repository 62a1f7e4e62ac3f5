"""Haystack's own tracer: pipelines, agents, and content that is not traced."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from collector.conventions import haystack_native
from collector.record.build import records
from ragvigil.model.record import Absent, RagRecord
from ragvigil.model.span import AttributeValue, Span
from tests.garbage import said_of, spans_of
from tests.traces import ANSWER, DOCUMENTS, PROMPT, QUESTION, span, trace

NAMES = [name for name, _ in DOCUMENTS]
FLAT = [
    {"title": n, "id": n, "content": t, "blob": None, "score": 3.5, "embedding": None}
    for n, t in DOCUMENTS
]
MESSAGES = [
    {"role": "system", "meta": {}, "name": None, "content": [{"text": "Answer."}]},
    {"role": "user", "meta": {}, "name": None, "content": [{"text": PROMPT}]},
]
USAGE = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13,
         "prompt_tokens_details": {"cached_tokens": 5},
         "completion_tokens_details": {"reasoning_tokens": 2}}  # fmt: skip
META = {"model": "m-2026", "finish_reason": "length", "usage": USAGE}
REPLY = {"role": "assistant", "meta": META, "name": None, "content": [{"text": ANSWER}]}


def tags(**values: object) -> dict[str, AttributeValue]:
    """Tags as the tracer sends them: whatever is no text or number as JSON text."""
    return {
        f"haystack.{key.replace('__', '.')}": value
        if isinstance(value, (str, int))
        else json.dumps(value)
        for key, value in values.items()
        if value is not None
    }


def component(
    kind: str,
    taken: object = None,
    returned: object = None,
    *,
    at: tuple[float, float] = (0.1, 0.2),
    **more: object,
) -> Span:
    found = tags(component__type=kind, component__name=kind.lower(), component__input=taken,
                 component__output=returned, **more)  # fmt: skip
    name = "haystack.component.run"
    return span(name, found, parent="pipeline", at=at, scope="haystack", span_id=f"{kind} {at}")


def pipeline(asked: object = None, returned: object = None, kind: str = "pipeline") -> Span:
    asked = {"retriever": {"query": QUESTION}, "prompt": {"question": QUESTION}} \
        if asked is None else asked  # fmt: skip
    found = tags(pipeline__input_data=asked, pipeline__output_data=returned)
    return span(f"haystack.{kind}.run", found, scope="haystack", span_id="pipeline")


RETRIEVER = component("InMemoryBM25Retriever", {"query": QUESTION, "top_k": 3},
                      {"documents": FLAT})  # fmt: skip
GENERATOR = component("OpenAIChatGenerator", {"messages": MESSAGES}, {"replies": [REPLY]},
                      at=(0.5, 0.9))  # fmt: skip


def read(*spans: Span) -> RagRecord:
    (record,) = records(trace(*spans))
    return record


@pytest.mark.parametrize("kind", ["pipeline", "async_pipeline"])
def test_a_pipeline_is_one_record(kind: str) -> None:
    record = read(pipeline(kind=kind), RETRIEVER, GENERATOR)
    assert (record.query, record.answer) == (QUESTION, ANSWER)
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )
    assert [document.score for document in record.retrieved] == [3.5] * 3
    assert [citation.chunk_id for citation in record.citations] == NAMES[:1]
    assert record.dimensions.top_k == 3


def test_a_generators_metadata_is_read() -> None:
    record = read(pipeline(), RETRIEVER, GENERATOR)
    usage, dimensions = record.usage, record.dimensions
    assert (usage.input_tokens, usage.output_tokens) == (9, 4)
    assert (usage.cache_read_tokens, usage.reasoning_tokens) == (5, 2)
    assert (dimensions.llm_model, dimensions.finish_reason) == ("m-2026", "length")
    assert record.truncated == ("answer",)


def test_a_generator_of_texts_has_its_metadata_beside_them() -> None:
    plain = component("OpenAIGenerator", {"prompt": PROMPT, "system_prompt": "Answer."},
                      {"replies": [ANSWER], "meta": [META]}, at=(0.5, 0.9))  # fmt: skip
    record = read(pipeline(), RETRIEVER, plain)
    assert (record.answer, record.usage.input_tokens) == (ANSWER, 9)
    assert [document.chunk_id for document in record.context] == NAMES


def test_messages_of_older_versions_are_read() -> None:
    asked = {"_role": "user", "_content": [{"text": PROMPT}], "_name": None, "_meta": {}}
    reply = {"_role": "assistant", "_content": [{"text": ANSWER}], "_meta": META}
    older = component("OpenAIChatGenerator", {"messages": [asked]}, {"replies": [reply]},
                      at=(0.5, 0.9))  # fmt: skip
    record = read(pipeline(), RETRIEVER, older)
    assert (record.answer, record.usage.output_tokens) == (ANSWER, 4)
    assert [document.chunk_id for document in record.context] == NAMES


@pytest.mark.parametrize("kind", ["TransformersSimilarityRanker", "LLMReranker"])
def test_a_ranker_takes_and_returns_documents(kind: str) -> None:
    ranked = component(kind, {"documents": FLAT}, {"documents": FLAT[1::-1]}, at=(0.2, 0.3))
    record = read(pipeline(), RETRIEVER, ranked, GENERATOR)
    assert [document.chunk_id for document in record.retrieved] == NAMES
    assert [document.chunk_id for document in record.reranked] == NAMES[1::-1]


def test_a_joiner_says_what_several_retrievers_found() -> None:
    dense = component("QdrantEmbeddingRetriever", {"query_embedding": [0.1], "filters": None},
                      {"documents": FLAT[::-1]}, at=(0.1, 0.25))  # fmt: skip
    joined = component("DocumentJoiner", {"documents": [FLAT, FLAT[::-1]]},
                       {"documents": [FLAT[2], FLAT[0], FLAT[1]]}, at=(0.3, 0.4))  # fmt: skip
    record = read(pipeline(), RETRIEVER, dense, joined, GENERATOR)
    assert [document.chunk_id for document in record.retrieved] == [NAMES[2], NAMES[0], NAMES[1]]
    assert len(record.retrievals) == 2


def test_a_retriever_of_documents_for_documents_comes_after_the_search() -> None:
    merged = component("AutoMergingRetriever", {"documents": FLAT}, {"documents": FLAT[:1]},
                       at=(0.2, 0.3), component__input_types={"documents": "list"})  # fmt: skip
    record = read(pipeline(), RETRIEVER, merged, GENERATOR)
    assert [document.chunk_id for document in record.retrieved] == NAMES
    assert [document.chunk_id for document in record.reranked] == NAMES[:1]


def test_a_filter_is_no_question() -> None:
    filters = {"field": "meta.language", "operator": "==", "value": "de", "text": "x"}
    dense = component("QdrantEmbeddingRetriever", {"query_embedding": [0.1], "filters": filters},
                      {"documents": FLAT})  # fmt: skip
    record = read(pipeline({"embedder": {"text": QUESTION}}), dense, GENERATOR)
    assert record.query == QUESTION


@pytest.mark.parametrize(
    "returned",
    [
        {"answers": {"answers": [{"data": "From the builder.", "query": "", "documents": []}]}},
        {"answer_builder": {"answers": [
            {"type": "haystack.dataclasses.answer.GeneratedAnswer",
             "init_parameters": {"data": "From the builder.", "meta": {}}}]},
         "llm": {"replies": [REPLY]}},
    ],
)  # fmt: skip
def test_an_answer_builder_has_the_last_word(returned: object) -> None:
    assert read(pipeline(None, returned), RETRIEVER, GENERATOR).answer == "From the builder."


def test_of_several_generators_in_the_output_none_is_taken_for_the_answer() -> None:
    rewrite = {"replies": [{"role": "assistant", "content": [{"text": "refund period days"}]}]}
    returned = {"rewriter": rewrite, "llm": {"replies": [REPLY]}}
    assert read(pipeline(None, returned), RETRIEVER, GENERATOR).answer == ANSWER


def test_pictures_are_no_answers() -> None:
    painter = component("DALLEImageGenerator", {"prompt": "a parcel"}, {"images": ["x"]},
                        at=(0.91, 0.95))  # fmt: skip
    record = read(pipeline(), RETRIEVER, GENERATOR, painter)
    assert record.answer == ANSWER


def test_without_content_tracing_the_rest_is_hidden() -> None:
    bare = [component("InMemoryBM25Retriever"), component("OpenAIChatGenerator", at=(0.5, 0.9))]
    record = read(pipeline(), *bare)
    assert record.query == QUESTION
    assert (record.answer, record.retrieved) == (None, ())
    assert record.absent["answer"] is record.absent["retrieved"] is Absent.HIDDEN


def test_none_is_sent_as_an_empty_text() -> None:
    empty = component("InMemoryBM25Retriever", "", "")
    record = read(pipeline(), empty, component("OpenAIChatGenerator", "", "", at=(0.5, 0.9)))
    assert record.absent["answer"] is record.absent["retrieved"] is Absent.HIDDEN


def test_a_cut_list_is_told_to_be_cut() -> None:
    returned = json.dumps({"documents": FLAT})[:-50]
    cut = component("InMemoryBM25Retriever", {"query": QUESTION}, returned)
    say = component("OpenAIGenerator", {"prompt": "Say hello."}, {"replies": [ANSWER]},
                    at=(0.5, 0.9))  # fmt: skip
    record = read(pipeline(), cut, say)
    assert record.retrieved == ()
    assert record.absent["retrieved"] is Absent.TRUNCATED


SHOWN = "\n".join(f"[{name}] {text}" for name, text in DOCUMENTS)
ORIGIN = {"tool_name": "search", "arguments": {"query": "refund"}, "id": "c1"}
USER = {"role": "user", "meta": {}, "content": [{"text": QUESTION}]}
CALL = {"role": "assistant", "meta": META, "content": [{"tool_call": ORIGIN}]}
RESULT = {"role": "tool", "meta": {}, "content": [
    {"tool_call_result": {"result": SHOWN, "origin": ORIGIN, "error": False}}]}  # fmt: skip
HISTORY = [USER, CALL, RESULT]
OUTPUT = {"messages": [*HISTORY, REPLY], "last_message": REPLY}


def agent_span(
    name: str, parent: str, at: tuple[float, float], /, identifier: str = "", **values: object
) -> Span:
    return span(f"haystack.agent.{name}", tags(**values), parent=parent, at=at, scope="haystack",
                span_id=identifier or name)  # fmt: skip


AGENT = agent_span("run", "", (0, 1), agent__input={"messages": [USER]}, agent__output=OUTPUT)


def test_an_agent_of_version_3_retrieves_through_its_tool() -> None:
    record = read(
        AGENT,
        agent_span("step", "run", (0.1, 0.5), "step 0", agent__step=0),
        agent_span("step.llm", "step 0", (0.1, 0.2), "llm 0", agent__step__llm__input={
            "messages": [USER]}, agent__step__llm__output={"replies": [CALL]}),
        agent_span("step.tool", "step 0", (0.2, 0.4), "tool 0", tool__name="search",
                   agent__step__tool__input={"query": "refund"}, agent__step__tool__output=SHOWN),
        agent_span("step", "run", (0.5, 0.9), "step 1", agent__step=1),
        agent_span("step.llm", "step 1", (0.5, 0.9), "llm 1", agent__step__llm__input={
            "messages": HISTORY}, agent__step__llm__output={"replies": [REPLY]}),
    )  # fmt: skip
    assert (record.query, record.answer) == (QUESTION, ANSWER)
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )
    assert record.usage.input_tokens == 18


@pytest.mark.parametrize("found", [{"documents": []}, "[]"])
def test_a_search_through_a_tool_may_find_nothing(found: object) -> None:
    record = read(
        AGENT,
        agent_span("step.llm", "run", (0.1, 0.2), "llm 0", agent__step__llm__input={
            "messages": [USER]}, agent__step__llm__output={"replies": [CALL]}),
        agent_span("step.tool", "run", (0.2, 0.4), tool__name="search",
                   agent__step__tool__output=found),
        agent_span("step.llm", "run", (0.5, 0.9), "llm 1", agent__step__llm__input={
            "messages": [USER, CALL]}, agent__step__llm__output={"replies": [REPLY]}),
    )  # fmt: skip
    assert (record.answer, record.retrieved) == (ANSWER, ())
    assert "retrieved" not in record.absent


def test_an_agent_of_version_2_has_the_models_words_on_its_steps() -> None:
    record = read(
        AGENT,
        agent_span("step", "run", (0.1, 0.4), "step 0", agent__step__input=[USER],
                   agent__step__llm_output=[CALL]),
        agent_span("step", "run", (0.5, 0.9), "step 1", agent__step__input=HISTORY,
                   agent__step__llm_output=[REPLY]),
    )  # fmt: skip
    assert (record.query, record.answer) == (QUESTION, ANSWER)
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )


def test_the_invoker_of_tools_returns_their_results_as_messages() -> None:
    invoker = component("ToolInvoker", {"messages": [CALL]}, {"tool_messages": [RESULT]},
                        at=(0.2, 0.4))  # fmt: skip
    first = component("OpenAIChatGenerator", {"messages": [USER]}, {"replies": [CALL]},
                      at=(0.1, 0.2))  # fmt: skip
    last = component("OpenAIChatGenerator", {"messages": HISTORY}, {"replies": [REPLY]},
                     at=(0.5, 0.9))  # fmt: skip
    record = read(pipeline({"llm": {"messages": [USER]}}), first, invoker, last)
    assert (record.query, record.answer) == (QUESTION, ANSWER)
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )


SAID = (
    "BM25Retriever", "XGenerator", "Ranker", "DocumentJoiner", "Agent", '{"documents": [3]}',
    '{"replies": [{"_content": [{"tool_call_result": 3}]}]}', '{"meta": [null], "messages": [[]]}',
    '{"answers": [{"init_parameters": {"data": []}}], "last_message": {"role": "assistant"}}',
)  # fmt: skip


@given(spans_of(haystack_native, said=SAID))
def test_any_span_can_be_read(any_span: Span) -> None:
    said_of(haystack_native, any_span)
