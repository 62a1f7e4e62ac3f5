"""Tool results among a user's parts are no words of the user; their envelopes are no documents."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from collector.claims.claim import Message, Withheld
from collector.claims.tool_results import (
    messages_with_tools,
    result_text,
    tool_result_documents,
    unwrap,
)
from tests.generated_traces import values
from tests.traces import DOCUMENTS

NAMES = [name for name, _ in DOCUMENTS]
SHOWN = "\n".join(f"[{name}] {text}" for name, text in DOCUMENTS)
LISTED = {"results": [{"chunk_id": name, "text": text} for name, text in DOCUMENTS]}


def test_objects_that_follow_one_another_are_a_list_of_documents() -> None:
    hits = [{"type": "text", "text": json.dumps({"id": name, "content": text}, indent=2)}
            for name, text in DOCUMENTS]  # fmt: skip
    for result in ({"content": hits}, "\n".join(hit["text"] for hit in hits)):
        listing = tool_result_documents(result)
        assert listing is not None
        assert [document.chunk_id for document in listing.documents] == NAMES
    assert tool_result_documents('{"id": 1}\n{"id": 2} and more') is None


def test_items_of_responses_are_a_call_and_the_message_of_a_tool() -> None:
    """In OpenAI's Responses API they stand beside the messages, without a role."""
    items = [
        {"role": "user", "content": "Why?"},
        {"type": "function_call", "call_id": "c1", "name": "search_docs", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": SHOWN},
    ]
    assert messages_with_tools(items, "user") == (
        Message("user", "Why?"), Message("assistant", "", calls_tool=True), Message("tool", SHOWN)
    )  # fmt: skip


@pytest.mark.parametrize(
    "part",
    [
        {"type": "tool_call_response", "id": "c1", "response": SHOWN},
        {"type": "tool_call_response", "id": "c1", "result": SHOWN},
        {"type": "tool_result", "content": [{"type": "text", "text": SHOWN}]},
        {"toolResult": {"status": "success", "content": [{"text": SHOWN}]}},
        {"function_response": {"name": "search", "response": {"result": SHOWN}}},
        {"functionResponse": {"name": "search", "response": {"output": SHOWN}}},
        {
            "type": "tool_result",
            "content": {
                "blocks": [{"text": SHOWN}],
                "tool_name": "search",
                "raw_output": SHOWN,
                "is_error": False,
            },
        },
    ],
)
def test_a_result_in_a_users_message_is_a_message_of_the_tool(part: object) -> None:
    question = {"type": "text", "content": "Why?"}
    asked = [{"role": "user", "parts": [part, question]}, {"role": "user", "parts": [part]}]
    expected = (Message("tool", SHOWN), Message("user", "Why?"), Message("tool", SHOWN))
    assert messages_with_tools(asked, "user") == expected
    assert messages_with_tools(json.dumps(asked), "user") == expected


def test_a_structured_result_stays_data() -> None:
    part = {"toolResult": {"content": [{"json": LISTED}], "status": "success"}}
    assert json.loads(result_text(part)) == LISTED


@pytest.mark.parametrize(
    "result",
    [
        SHOWN,
        LISTED,
        [{"text": SHOWN}],
        [{"type": "text", "text": SHOWN}],
        {"content": [{"type": "text", "text": SHOWN}], "isError": False},
        {"status": "success", "content": [{"json": LISTED}]},
        {"result": LISTED},
        [{"type": "text", "text": json.dumps(LISTED)}],
        [{"text": text, "chunk_id": name} for name, text in DOCUMENTS],
    ],
)
def test_documents_are_found_whatever_is_around_them(result: object) -> None:
    for sent in (result, json.dumps(result)):
        documents = tool_result_documents(sent)
        assert documents is not None
        assert [document.chunk_id for document in documents.documents] == NAMES


@pytest.mark.parametrize("envelope", [
    lambda text: [{"text": text}], lambda text: [{"type": "text", "text": text}],
    lambda text: {"content": [{"type": "text", "text": text}]}, lambda text: {"result": text},
])  # fmt: skip
def test_an_answer_of_another_tool_is_no_document(envelope: object) -> None:
    assert tool_result_documents(envelope("It is 20 degrees in Lisbon.")) is None  # type: ignore[operator]


def test_several_texts_without_a_type_are_documents() -> None:
    documents = tool_result_documents([{"text": text} for _, text in DOCUMENTS])
    assert documents is not None
    assert [document.content for document in documents.documents] == [text for _, text in DOCUMENTS]


def test_messages_without_any_content_say_nothing() -> None:
    assert messages_with_tools([{"role": "user", "parts": [{"type": "text"}]}], "user") is None
    assert messages_with_tools("__REDACTED__", "user") is Withheld.HIDDEN
    call = {"type": "tool_call", "name": "f"}
    calls = messages_with_tools([{"role": "assistant", "parts": [call]}], "")
    assert calls == (Message("assistant", "", calls_tool=True),)


@given(values)
def test_any_value_can_be_read(value: object) -> None:
    messages_with_tools(value, "user")
    result_text(value)
    unwrap(value)
    tool_result_documents(value)


def test_passages_behind_a_title_are_documents() -> None:
    banners = [
        f"===== Document {n} =====\n[{name}] {text}" for n, (name, text) in enumerate(DOCUMENTS)
    ]
    listing = tool_result_documents("\nRetrieved documents:\n\n" + "\n\n".join(banners))
    assert listing is not None
    assert [(d.chunk_id, d.content) for d in listing.documents] == list(DOCUMENTS)
    assert tool_result_documents("Opening hours:\n[1] Monday\n[2] Tuesday") is None


def test_a_header_with_a_mapping_has_the_id_in_it() -> None:
    """As LangChain's own guide writes what a retrieval tool returns."""
    long = "x" * 900
    result = (
        f"Source: {{'producer': '{long}', 'id': 'a-1', 'page': 3}}\nContent: First text.\n\n"
        f"Source: {{'producer': '{long}', 'id': 'b-2', 'page': 4}}\nContent: Second text."
    )
    found = tool_result_documents(result)
    assert found is not None
    assert [(document.chunk_id, document.content) for document in found.documents] == [
        ("a-1", "First text."),
        ("b-2", "Second text."),
    ]


@pytest.mark.parametrize("mark", ["...[truncated]", "… (truncated 812 characters)", ""])
def test_the_last_document_in_front_of_a_cut_is_not_whole(mark: str) -> None:
    for written in (json.dumps(LISTED["results"]), SHOWN):
        if not mark and written is SHOWN:
            continue  # nothing says that this text was cut
        found = tool_result_documents(written[:-20] + mark)
        assert found is not None
        assert [document.chunk_id for document in found.documents] == NAMES[:-1]
        assert not found.complete


def test_a_document_may_speak_of_what_is_truncated() -> None:
    found = tool_result_documents("[a-1] Cut texts end with [truncated].\n[b-2] Others do not.")
    assert found is not None
    assert found.complete
