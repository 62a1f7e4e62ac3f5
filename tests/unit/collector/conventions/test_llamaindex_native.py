"""LlamaIndex's own tracer: everything stands in events, the spans carry nothing."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from collector.conventions import llamaindex_native
from collector.record.build import records
from ragvigil.model.record import Absent
from ragvigil.model.span import AttributeValue, Event, Span
from tests.garbage import said_of, spans_of
from tests.traces import ANSWER, DOCUMENTS, PROMPT, QUESTION, span, trace

NAMES = [name for name, _ in DOCUMENTS]
AT = {"Start": "10:02:00.100000", "InProgress": "10:02:00.350000", "End": "10:02:01.000000"}


def event(name: str, **attributes: AttributeValue) -> Event:
    """An event as it is flattened; a double underscore stands for a dot."""
    ending = next(stage for stage in AT if name.endswith(f"{stage}Event"))
    named = {key.replace("__", "."): value for key, value in attributes.items()}
    when = f'"2026-11-21 {AT[ending]}"'
    return Event(name=name, time_unix_nano=9, attributes={**named, "timestamp": when})


def step(name: str, at: tuple[float, float], *events: Event, parent: str = "root") -> Span:
    return span(name, {}, parent=parent, at=at, events=events)


def nodes(documents: tuple[tuple[str, str], ...] = DOCUMENTS) -> str:
    return json.dumps(
        [
            {
                "node": {
                    "id_": f"8da901a6-a988-4c62-a6e3-5f51c6fd85a{index}",
                    "embedding": None,
                    "metadata": {"doc_id": name},
                    "text": text,
                    "class_name": "TextNode",
                },
                "score": 0.5 + index,
                "class_name": "NodeWithScore",
            }
            for index, (name, text) in enumerate(documents)
        ]
    )


def blocks(text: str) -> str:
    thought = {"block_type": "thinking", "content": "let me think"}
    return json.dumps([thought, {"block_type": "text", "text": text}])


ASKED = {"str_or_query_bundle__query_str": QUESTION, "str_or_query_bundle__embedding": "null"}
ROOT = span(
    "root",
    {},
    events=(
        event("QueryStartEvent", query=QUESTION),
        event("QueryEndEvent", query__query_str=QUESTION, response__response=ANSWER),
    ),
)
FOUND = step(
    "VectorIndexRetriever.retrieve",
    (0.1, 0.2),
    event("RetrievalStartEvent", **ASKED),
    event("RetrievalEndEvent", nodes=nodes(), **ASKED),
)
SENT = json.dumps(
    [
        {"role": "system", "additional_kwargs": {}, "blocks": json.loads(blocks("Be short."))},
        {"role": "user", "additional_kwargs": {}, "blocks": json.loads(blocks(PROMPT))},
    ]
)
MODEL: dict[str, AttributeValue] = {"model_dict__model_name": "m-1", "model_dict__temperature": 0.5}
CHAT = step(
    "OpenAI.chat",
    (0.3, 0.9),
    event("LLMChatStartEvent", messages=SENT, **MODEL),
    event(
        "LLMChatEndEvent",
        messages=SENT,
        response__message__role="assistant",
        response__message__blocks=blocks(ANSWER),
        response__raw__usage__prompt_tokens=12,
        response__raw__usage__completion_tokens=5,
    ),
)


def test_a_query_engine_makes_a_whole_record() -> None:
    (record,) = records(trace(ROOT, FOUND, CHAT))
    assert record.query == QUESTION
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )
    assert [document.score for document in record.retrieved] == [0.5, 1.5, 2.5]
    assert [document.chunk_id for document in record.context] == NAMES
    assert record.answer == ANSWER
    assert [citation.chunk_id for citation in record.citations] == ["refund-01"]
    assert (record.dimensions.llm_model, record.dimensions.temperature) == ("m-1", 0.5)
    assert record.usage is not None
    assert (record.usage.input_tokens, record.usage.output_tokens) == (12, 5)


def test_the_models_words_are_enough() -> None:
    (record,) = records(trace(span("root"), FOUND, CHAT))
    assert (record.query, record.answer) == (QUESTION, ANSWER)


def test_a_reranker_says_what_it_was_given_and_what_it_kept() -> None:
    ranked = step(
        "CohereRerank._postprocess_nodes",
        (0.2, 0.25),
        event("ReRankStartEvent", query__query_str=QUESTION, nodes=nodes(), top_n=1,
              model_name="rerank-3"),
        event("ReRankEndEvent", nodes=nodes(DOCUMENTS[:1])),
    )  # fmt: skip
    (record,) = records(trace(ROOT, FOUND, ranked, CHAT))
    assert [document.chunk_id for document in record.retrieved] == NAMES
    assert [document.chunk_id for document in record.reranked] == NAMES[:1]
    assert record.dimensions.reranker_model == "rerank-3"


def test_a_completion_is_read_as_well() -> None:
    model = step(
        "Ollama.complete",
        (0.3, 0.9),
        event("LLMCompletionStartEvent", prompt=PROMPT),
        event("LLMCompletionEndEvent", prompt=PROMPT, response__text=ANSWER),
    )
    (record,) = records(trace(span("root"), FOUND, model))
    assert (record.query, record.answer) == (QUESTION, ANSWER)
    assert [document.chunk_id for document in record.context] == NAMES


def test_a_stream_that_never_ended_says_what_it_said_so_far() -> None:
    model = step(
        "OpenAI.stream_chat",
        (0.3, 0.9),
        event("LLMChatStartEvent", messages=SENT),
        *(event("LLMChatInProgressEvent", response__message__blocks=blocks(ANSWER[:size]))
          for size in (3, 11)),
    )  # fmt: skip
    (record,) = records(trace(span("root"), FOUND, model))
    assert record.answer == ANSWER[:11]
    assert record.latencies.first_token == pytest.approx(0.25)


def test_a_call_for_a_tool_is_no_answer() -> None:
    call = json.dumps([{"block_type": "tool_call", "tool_name": "search", "tool_kwargs": {}}])
    asks = step("asks", (0.02, 0.05), event("LLMChatStartEvent", messages=SENT),
                event("LLMChatEndEvent", response__message__blocks=call))  # fmt: skip
    (reply,) = [
        value for field, value in said_of(llamaindex_native, asks) if field.value == "reply"
    ]
    assert [(message.text, message.calls_tool) for message in reply] == [("", True)]  # type: ignore[attr-defined]


def test_nothing_found_is_an_empty_list_and_not_an_unknown_one() -> None:
    found = step("retrieve", (0.1, 0.2), event("RetrievalEndEvent", nodes=[], **ASKED))
    (record,) = records(trace(ROOT, found, CHAT))
    assert record.retrieved == ()
    assert "retrieved" not in record.absent


def test_nodes_that_were_cut_are_no_shorter_list() -> None:
    found = step("retrieve", (0.1, 0.2), event("RetrievalEndEvent", nodes=nodes()[:260], **ASKED))
    model = step("chat", (0.3, 0.9), event("LLMCompletionEndEvent", prompt=QUESTION,
                                           response__text=ANSWER))  # fmt: skip
    (record,) = records(trace(ROOT, found, model))
    assert record.retrieved == ()
    assert record.absent["retrieved"] is Absent.TRUNCATED


def test_its_genai_mode_is_read_as_otels() -> None:
    documents = [{"id": name, "content": text, "score": 0.5} for name, text in DOCUMENTS]
    asked = [{"role": "user", "parts": [{"type": "text", "content": PROMPT}]}]
    replied = [{"role": "assistant", "parts": [{"type": "text", "content": ANSWER}]}]
    found = span("retrieval", {"gen_ai.operation.name": "retrieval",
                               "gen_ai.retrieval.query.text": QUESTION,
                               "gen_ai.retrieval.documents": json.dumps(documents)},
                 parent="root", at=(0.1, 0.2))  # fmt: skip
    model = span("completion m-1", {"gen_ai.operation.name": "completion",
                                    "gen_ai.input.messages": json.dumps(asked),
                                    "gen_ai.output.messages": json.dumps(replied)},
                 parent="root", at=(0.3, 0.9))  # fmt: skip
    (record,) = records(trace(span("root"), found, model))
    assert (record.query, record.answer) == (QUESTION, ANSWER)
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )


@given(spans_of(llamaindex_native, *llamaindex_native.ROOTS, *llamaindex_native.QUERIES,
                "nodes", "messages", "chunks", "timestamp", "response.text"))  # fmt: skip
def test_any_span_can_be_read(any_span: Span) -> None:
    said_of(llamaindex_native, any_span)
