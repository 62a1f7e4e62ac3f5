"""Messages of any shape are read, or are none; they never raise."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from collector.claims.called_tools import tools_in
from collector.claims.claim import Message
from collector.claims.messages import message_of, messages_of, messages_of_rows
from collector.claims.source_blocks import is_source_block
from collector.claims.tool_results import messages_with_tools, tool_documents

NO_NAME = ["text"]
"""Where a name is expected, a user's code or a broken exporter may have written a list."""


def read_with_tools(message: object) -> object:
    return messages_with_tools(message, "assistant")


@pytest.mark.parametrize(
    "read",
    [message_of, messages_of, tools_in, tool_documents, is_source_block, read_with_tools],
)
@pytest.mark.parametrize(
    "message",
    [
        {"type": NO_NAME, "text": "x"},
        {"role": NO_NAME, "content": "x"},
        {"role": "assistant", "content": [{"type": NO_NAME, "text": "x"}]},
        {"tool_calls": [{"type": NO_NAME, "name": NO_NAME}]},
    ],
    ids=str,
)
def test_a_list_where_a_name_is_expected_is_read(
    read: Callable[[object], object], message: object
) -> None:
    read(message)
    read([message])


def test_a_list_as_the_role_of_a_flattened_message_is_read() -> None:
    row = {"message.role": NO_NAME, "message.contents.0.message_content.text": "x"}
    messages = messages_of_rows({0: row})
    assert isinstance(messages, tuple)
    assert messages[0].text == "x"


def test_roles_that_are_members_of_an_enum_are_read() -> None:
    """As smolagents hands them to OpenAI's client."""
    messages = messages_of([{"role": "MessageRole.SYSTEM", "content": "Cite."},
                            {"role": "MessageRole.TOOL_RESPONSE", "content": "x"}])  # fmt: skip
    assert isinstance(messages, tuple)
    assert [message.role for message in messages] == ["system", "tool"]


def test_results_of_functions_in_a_message_without_a_content_are_its_text() -> None:
    """As OpenInference flattens what AutoGen sends to a model."""
    row = {"message.role": "function", "function.0": '{"name": "find", "content": "[a-1] First."}'}
    messages = messages_of_rows({0: {"message.role": "user", "message.content": "Why?"}, 1: row})
    assert isinstance(messages, tuple)
    assert messages[1] == Message("tool", "[a-1] First.")
