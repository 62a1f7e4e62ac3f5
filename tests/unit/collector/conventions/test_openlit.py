"""OpenLIT: lists that end after three documents, texts that are cut, retrievals that are none."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from collector.conventions import openlit
from collector.record.build import records
from ragvigil.model.record import Absent, RagRecord
from ragvigil.model.span import AttributeValue, Span
from tests.garbage import said_of, spans_of
from tests.traces import ANSWER, DOCUMENTS, PROMPT, QUESTION, span, trace

NAMES = [name for name, _ in DOCUMENTS]
TEXTS = [text for _, text in DOCUMENTS]
HIDING_PROMPT = f"Answer shortly. {QUESTION}"


def chat(prompt: str = PROMPT, parent: str = "root", cost: float = 0.5) -> Span:
    asked = [{"role": "user", "parts": [{"type": "text", "content": prompt}]}]
    replied = [{"role": "assistant", "parts": [{"type": "text", "content": ANSWER}]}]
    attributes: dict[str, AttributeValue] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "m-1",
        "gen_ai.usage.cost": cost,
        "gen_ai.usage.input_tokens": 12,
        "gen_ai.input.messages": json.dumps(asked),
        "gen_ai.output.messages": json.dumps(replied),
    }
    return span("chat m-1", attributes, parent=parent, at=(0.3, 0.9))


def found(documents: list[dict[str, str]], count: int | None = None, parent: str = "root") -> Span:
    attributes: dict[str, AttributeValue] = {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.retrieval.query.text": QUESTION,
        "gen_ai.retrieval.document_count": len(documents) if count is None else count,
    }
    if documents:
        attributes["gen_ai.retrieval.documents"] = json.dumps(documents)
    return span("retrieval vectorstore", attributes, parent=parent, at=(0.1, 0.2))


def record_of(*spans: Span) -> RagRecord:
    (record,) = records(trace(span("root"), *spans))
    return record


LISTED = [{"content": text, "id": name} for name, text in DOCUMENTS]


def test_a_retrieval_and_an_answer_make_a_whole_record() -> None:
    record = record_of(found(LISTED), chat())
    assert record.query == QUESTION
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )
    assert [document.chunk_id for document in record.context] == NAMES
    assert (record.answer, record.cost_usd) == (ANSWER, 0.5)


def test_a_model_without_a_known_price_is_not_free() -> None:
    assert record_of(found(LISTED), chat(cost=0)).cost_usd is None


def test_documents_beyond_the_third_make_the_list_incomplete() -> None:
    record = record_of(found(LISTED, count=5), chat(HIDING_PROMPT))
    assert record.retrieved == ()
    assert record.absent["retrieved"] is Absent.TRUNCATED


MORE = [*DOCUMENTS, ("acct-04", "An account is locked after 6 failed attempts."),
        ("acct-05", "A locked account opens again after an hour.")]  # fmt: skip


def shows(documents: list[tuple[str, str]]) -> str:
    chunks = "\n\n".join(f"[{name}] {text}" for name, text in documents)
    return f"Context:\n{chunks}\n\nQuestion: {QUESTION}"


def test_a_prompt_that_shows_as_many_as_were_found_completes_the_list() -> None:
    listed = LISTED[:3]
    record = record_of(found(listed, count=len(MORE)), chat(shows(MORE)))
    assert [(document.chunk_id, document.content) for document in record.context] == MORE
    assert [document.chunk_id for document in record.retrieved] == [name for name, _ in MORE]
    assert "retrieved" not in record.absent


@pytest.mark.parametrize(
    "shown",
    [MORE[:-1], [*reversed(MORE)], [*MORE, ("x-9", "One more than were found.")]],
    ids=["fewer", "reordered", "more"],
)
def test_a_prompt_that_shows_others_completes_nothing(shown: list[tuple[str, str]]) -> None:
    record = record_of(found(LISTED[:3], count=len(MORE)), chat(shows(shown)))
    assert record.retrieved == ()
    assert record.absent["retrieved"] is Absent.TRUNCATED


def test_a_prompt_of_the_listed_ones_is_the_context_and_not_all_that_was_found() -> None:
    record = record_of(found(LISTED, count=5), chat(shows(list(DOCUMENTS))))
    assert [document.chunk_id for document in record.context] == NAMES
    assert record.absent["retrieved"] is Absent.TRUNCATED


def test_texts_that_were_cut_are_no_texts() -> None:
    cut = [{"content": f"{text[:40]}...", "id": name} for name, text in DOCUMENTS]
    record = record_of(found(cut), chat(HIDING_PROMPT))
    assert record.retrieved == ()
    assert record.absent["retrieved"] is Absent.TRUNCATED


def test_an_id_that_several_texts_share_names_their_file() -> None:
    shared = [{"content": text, "id": "handbook.pdf"} for text in TEXTS]
    record = record_of(found(shared), chat())
    assert len({document.chunk_id for document in record.retrieved}) == len(TEXTS)
    assert {document.document_id for document in record.retrieved} == {"handbook.pdf"}


def test_nothing_found_is_an_empty_list() -> None:
    record = record_of(found([]), chat(HIDING_PROMPT))
    assert record.retrieved == ()
    assert "retrieved" not in record.absent


@pytest.mark.parametrize("endpoint", ["query_engine_query", "query_engine_query_async"])
def test_a_query_engine_is_no_retriever(endpoint: str) -> None:
    attributes: dict[str, AttributeValue] = {"gen_ai.operation.name": "retrieval",
                                             "gen_ai.operation.endpoint": endpoint}  # fmt: skip
    engine = span("engine", attributes, parent="root", at=(0.05, 0.95))
    record = record_of(engine, found(LISTED, parent="engine"), chat(parent="engine"))
    assert record.answer == ANSWER
    assert [document.chunk_id for document in record.retrieved] == NAMES


def test_a_tool_message_is_read_from_its_repr() -> None:
    shown = "\n".join(f"[{name}] {text}" for name, text in DOCUMENTS)
    attributes: dict[str, AttributeValue] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.call.result": f"content={shown!r} name='search' tool_call_id='c1'",
    }
    tool = span("execute_tool search", attributes, parent="root", at=(0.1, 0.2))
    record = record_of(tool, chat(HIDING_PROMPT))
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )


def test_haystacks_generator_carries_the_prompt_as_text() -> None:
    attributes: dict[str, AttributeValue] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.framework.component.type": "generator",
        "gen_ai.prompt": PROMPT,
    }
    generator = span("chat openai_generator", attributes, parent="root", at=(0.3, 0.9))
    record = record_of(generator)
    assert record.query == QUESTION
    assert [(document.chunk_id, document.content) for document in record.context] == list(DOCUMENTS)


@given(spans_of(openlit, said=("content='[a] b'", 'content="', "content='" + "\\" * 9,
                               '[{"content": "a..."}]', "3")))  # fmt: skip
def test_any_span_can_be_read(any_span: Span) -> None:
    said_of(openlit, any_span)
