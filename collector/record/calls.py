"""What a model was asked, and what it replied."""

from __future__ import annotations

from collector.claims.claim import NO_TEXT, Field, Message
from collector.claims.payload import answer_of, is_json_answer, unfenced
from collector.claims.prompt_fields import answer_in, answer_in_reply
from collector.claims.recover import as_container, text
from collector.record.tree import Node
from ragvigil.model.span import StatusCode

REPLYING = frozenset({"assistant", "model", "ai", "AIMessage", "CHATBOT", "chatbot"})
INSTRUCTING = frozenset({"system", "developer"})
UNANSWERED = frozenset(
    {"tool_calls", "tool_call", "tool_use", "function_call", "error", "abort", "aborted",
     "cancelled", "canceled", "interrupted", "malformed_function_call"}
)  # fmt: skip
"""Finish reasons of replies that are no answer: the model calls a tool, or did not end."""


def prompt_texts(model: Node | None) -> tuple[str, ...]:
    """The texts of the messages to a model; empty if they are not visible."""
    messages = model.reading.get(Field.PROMPT) if model and model.reading is not None else None
    if not isinstance(messages, tuple):
        return ()
    return tuple(m.text for m in messages if isinstance(m, Message) and m.text)


def turn_texts(model: Node | None) -> tuple[str, ...]:
    """The texts of this turn: system messages, and what came after the model's last reply.

    What stands further up was retrieved for other questions, or is an example of an answer.
    """
    return tuple(message.text for message in turn(model) if message.text)


def turn(model: Node | None) -> list[Message]:
    """The messages of this turn: system messages, and what came after the model's last reply."""
    messages = model.reading.get(Field.PROMPT) if model and model.reading is not None else None
    if not isinstance(messages, tuple):
        return []
    own = [m for m in messages if isinstance(m, Message)]
    while own and own[-1].role in REPLYING and not own[-1].calls_tool:
        own.pop()  # the beginning of the reply
    replies = [at for at, m in enumerate(own) if m.role in REPLYING and not m.calls_tool]
    first = replies[-1] + 1 if replies else 0
    return [m for at, m in enumerate(own) if at >= first or m.role in INSTRUCTING]


def has_failed(node: Node) -> bool:
    """Whether the span failed, by its status or by a vendor's attribute."""
    if node.reading is None:
        return False
    return node.reading.span.status is StatusCode.ERROR or node.reading.get(Field.ERROR) is not None


def reply_text(leaf: Node) -> str:
    """The text of the model's reply; empty if it has none or only calls tools."""
    reply = leaf.reading.get(Field.REPLY) if leaf.reading is not None else None
    if not isinstance(reply, tuple):
        return ""
    messages = [m for m in reply if isinstance(m, Message) and m.text
                and not m.calls_tool and m.role != "tool"]  # fmt: skip
    return messages[0].text if messages else ""


def unwrapped(reply: str) -> str:
    """The text of a reply; for a JSON reply, or one with named fields, the answer in it."""
    if not reply:
        return ""
    if is_json_answer(reply):
        container = as_container(unfenced(reply)).value
        inner = (
            answer_of(container) or answer_in(container) if isinstance(container, dict) else None
        )
        return inner or reply
    return answer_in_reply(reply) or reply


def calls_tool(node: Node) -> bool:
    """Whether the span is a model's that requested a tool call."""
    reply = node.reading.get(Field.REPLY) if node.reading is not None else None
    return isinstance(reply, tuple) and any(message.calls_tool for message in reply)


def said_nothing(leaf: Node) -> bool:
    """Whether the model ended its reply without a text: no tool call, failure or abort."""
    if leaf.reading is None or has_failed(leaf) or leaf.reading.raw(Field.REPLY) != NO_TEXT:
        return False
    return not ended_unanswered(leaf)


def ended_unanswered(leaf: Node) -> bool:
    """Whether the model's finish reason says that its reply is no answer."""
    reason = text(leaf.reading.get(Field.FINISH_REASON)) if leaf.reading is not None else ""
    return reason.lower().rpartition(".")[2].replace("-", "_") in UNANSWERED
