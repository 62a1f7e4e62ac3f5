"""Spring AI: a vector store's texts, prompts and completions as lists without escapes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from collector.conventions import spring_ai
from collector.record.build import records
from ragvigil.model.record import Absent, RagRecord
from ragvigil.model.span import AttributeValue, Span
from tests.garbage import said_of, spans_of
from tests.traces import ANSWER, DOCUMENTS, PROMPT, QUESTION, span, trace

TEXTS = [text for _, text in DOCUMENTS]
CLIENT = span(
    "root",
    {
        "gen_ai.operation.name": "framework",
        "gen_ai.system": "spring_ai",
        "spring.ai.kind": "chat_client",
        "spring.ai.chat.client.conversation.id": "s1",
        "spring.ai.chat.client.user.text": QUESTION,
    },
)


def listed(*texts: str) -> str:
    """A list as Spring AI writes it."""
    return "[" + ", ".join(f'"{text}"' for text in texts) + "]"


def store(**more: AttributeValue) -> Span:
    attributes: dict[str, AttributeValue] = {
        "spring.ai.kind": "vector_store",
        "db.system": "pg_vector",
        "db.operation.name": "query",
        "db.vector.query.content": QUESTION,
        "db.vector.query.top_k": "4",
        "db.vector.query.response.documents": listed(*TEXTS),
        **{key.replace("__", "."): value for key, value in more.items()},
    }
    return span("pg_vector query", attributes, parent="root", at=(0.1, 0.2))


def chat(prompt: str = PROMPT, answer: str | None = None) -> Span:
    attributes: dict[str, AttributeValue] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.system": "openai",
        "gen_ai.request.model": "m-1",
        "gen_ai.response.model": "none",
        "gen_ai.request.temperature": "0.5",
        "gen_ai.usage.input_tokens": "12",
        "gen_ai.response.finish_reasons": '["STOP"]',
        "gen_ai.prompt": listed("You are terse.", prompt),
        "gen_ai.completion": listed(answer or ANSWER),
    }
    return span("chat m-1", attributes, parent="root", at=(0.3, 0.9))


def record_of(*spans: Span) -> RagRecord:
    (record,) = records(trace(*spans))
    return record


def test_a_vector_store_and_a_model_make_a_whole_record() -> None:
    record = record_of(CLIENT, store(), chat())
    assert record.query == QUESTION
    assert [document.content for document in record.retrieved] == TEXTS
    assert [document.content for document in record.context] == TEXTS
    assert record.answer == ANSWER
    assert (record.session_id, record.dimensions.llm_model) == ("s1", "m-1")
    assert (record.dimensions.temperature, record.dimensions.finish_reason) == (0.5, "STOP")
    assert record.usage is not None
    assert (record.usage.input_tokens, record.dimensions.top_k) == (12, 4)


def test_texts_without_escapes_are_read_to_the_letter() -> None:
    texts = ['She said "no".', "Two\nlines, then."]
    record = record_of(CLIENT, store(db__vector__query__response__documents=listed(*texts)), chat())
    assert [document.content for document in record.retrieved] == texts
    answer = 'As she said: "no".\nThat is all.'
    assert record_of(CLIENT, store(), chat(answer=answer)).answer == answer


def test_more_texts_than_were_asked_for_are_no_list() -> None:
    text = 'Say "yes", "no", "perhaps", "never", "always" or nothing.'
    shown = store(db__vector__query__response__documents=listed(text, "Second\none."))
    record = record_of(CLIENT, shown, chat("Just answer."))
    assert record.retrieved == ()
    assert "retrieved" in record.absent


def test_documents_with_ids_that_a_user_writes_are_read() -> None:
    documents = [{"id": name, "text": text, "score": 0.5} for name, text in DOCUMENTS]
    shown = store(db__vector__query__response__documents=json.dumps(documents))
    record = record_of(CLIENT, shown, chat())
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )


def test_writing_to_a_store_is_no_retrieval() -> None:
    assert records(trace(CLIENT, store(db__operation__name="add",
                                       db__vector__query__response__documents=""),
                         chat("Say hello."))) == ()  # fmt: skip


def test_a_tool_can_retrieve() -> None:
    shown = "\n".join(f"[{name}] {text}" for name, text in DOCUMENTS)
    attributes: dict[str, AttributeValue] = {
        "gen_ai.operation.name": "framework",
        "spring.ai.kind": "tool_call",
        "spring.ai.tool.call.arguments": json.dumps({"query": "x"}),
        "spring.ai.tool.call.result": json.dumps(shown),
    }
    tool = span("tool_call search", attributes, parent="root", at=(0.1, 0.2))
    record = record_of(CLIENT, tool, chat(QUESTION))
    assert [(document.chunk_id, document.content) for document in record.retrieved] == list(
        DOCUMENTS
    )


def test_content_in_the_log_only_is_absent() -> None:
    silent = {key: value for key, value in chat().attributes.items()
              if key not in ("gen_ai.prompt", "gen_ai.completion")}  # fmt: skip
    searched = {key: value for key, value in store().attributes.items() if "response" not in key}
    record = record_of(CLIENT, span("store", searched, parent="root", at=(0.1, 0.2)),
                       span("chat", silent, parent="root", at=(0.3, 0.9)))  # fmt: skip
    assert (record.query, record.answer, record.retrieved) == (QUESTION, None, ())
    assert record.absent["answer"] is Absent.HIDDEN


@pytest.mark.parametrize("name", ["gen_ai.prompt", "gen_ai.completion"])
def test_hidden_content_is_no_text(name: str) -> None:
    hidden = span("x", {"gen_ai.operation.name": "chat", name: "__REDACTED__"})
    assert "__REDACTED__" not in str(said_of(spring_ai, hidden))


@given(
    spans_of(spring_ai, "gen_ai.prompt", said=('["a", "b"]', '["', '[""]', "query", "tool_call"))
)
def test_any_span_can_be_read(any_span: Span) -> None:
    said_of(spring_ai, any_span)
