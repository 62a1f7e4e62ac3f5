"""Documents beside the texts of requests and replies, of every provider that has them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from collector.claims.source_blocks import blocks_as_text, is_source_block, searched_by_provider
from collector.claims.tool_results import messages_with_tools, tool_documents
from collector.record.build import records
from tests.generated_traces import values
from tests.traces import span, trace

TEXT = "Refunds take 30 days."
TEXT_PART = {"type": "text", "text": TEXT}
BLOCKS = [
    {"type": "document", "title": "a-1", "source": {"type": "text", "data": TEXT}},
    {"type": "document", "title": "a-1", "source": {"type": "content", "content": [TEXT_PART]}},
    {"type": "search_result", "source": "a-1", "title": "Refunds", "content": [TEXT_PART]},
    {"type": "document", "document": {"id": "a-1", "data": {"text": TEXT}}},
]
CHUNK = {"file_id": "a-1", "filename": "a.md", "score": 0.5, "text": TEXT, "attributes": {}}
REPLIES = [
    {"output": [{"type": "file_search_call", "results": [CHUNK]}]},
    [{"type": "file_search_call", "results": [CHUNK]}],
    {"candidates": [{"groundingMetadata": {"groundingChunks": [
        {"retrievedContext": {"text": TEXT, "uri": "a-1"}}, {"web": {"uri": "b"}}]}}]},
    {"choices": [{"message": {"context": {"citations": [{"content": TEXT, "chunk_id": "a-1"}]}}}]},
]  # fmt: skip


@pytest.mark.parametrize("block", BLOCKS)
def test_a_block_of_a_request_is_a_document_and_no_word_of_the_user(block: object) -> None:
    asked = [{"role": "user", "content": [block, {"type": "text", "text": "How long?"}]}]
    messages = messages_with_tools(asked, "user")
    assert isinstance(messages, tuple)
    assert [(message.role, message.text) for message in messages][1:] == [("user", "How long?")]
    found = tool_documents(messages[0].text)
    assert found is not None
    assert [(d.chunk_id, d.content) for d in found.documents] == [("a-1", TEXT)]


def test_a_name_that_blocks_share_is_the_id_of_none() -> None:
    pages = [
        {**BLOCKS[2], "content": [{"type": "text", "text": page}]} for page in ("One.", "Two.")
    ]
    found = tool_documents(blocks_as_text(pages))
    assert found is not None
    assert [d.chunk_id == d.text_hash for d in found.documents] == [True, True]
    assert [d.document_id for d in found.documents] == ["a-1", "a-1"]


def test_a_file_without_a_visible_text_is_no_document() -> None:
    pdf = {"type": "document", "source": {"type": "base64", "media_type": "application/pdf"}}
    assert not is_source_block(pdf)


@pytest.mark.parametrize("reply", REPLIES)
def test_what_a_provider_searched_is_in_its_reply(reply: object) -> None:
    for raw in (reply, json.dumps(reply)):
        found = searched_by_provider(raw)
        assert found is not None
        (document,) = found.documents
        assert document.content == TEXT
        assert "a-1" in (document.chunk_id, document.document_id)


def test_a_search_that_the_reply_does_not_show_is_unknown() -> None:
    assert searched_by_provider({"output": [{"type": "file_search_call", "results": None}]}) is None


@given(values)
def test_anything_may_be_searched(value: object) -> None:
    searched_by_provider(value)
    searched_by_provider({"output": value, "candidates": [value], "choices": value})
    if isinstance(value, dict):
        is_source_block({**value, "type": "document"})


def test_documents_of_an_earlier_turn_are_not_those_of_this_answer() -> None:
    def asked(name: str, question: str) -> dict[str, object]:
        block = {
            "type": "search_result",
            "source": name,
            "content": [{"type": "text", "text": name}],
        }
        return {"role": "user", "content": [block, {"type": "text", "text": question}]}

    turns = [asked("First text.", "One?"), {"role": "assistant", "content": "One."},
             asked("Second text.", "Two?")]  # fmt: skip
    reply = [{"role": "assistant", "content": "Two."}]
    attributes = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": json.dumps(turns),
                  "gen_ai.output.messages": json.dumps(reply)}  # fmt: skip
    (record,) = records(trace(span("root"), span("chat", attributes, parent="root", at=(0.1, 0.9))))
    assert [document.content for document in record.context] == ["Second text."]
    assert (record.query, record.answer) == ("Two?", "Two.")
