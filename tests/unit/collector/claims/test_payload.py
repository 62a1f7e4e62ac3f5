"""Questions and answers out of inputs and outputs of every shape."""

from __future__ import annotations

import json

import pytest

from collector.claims.payload import answer_of, question_of

Q, A = "How long does it take?", "Up to 30 days. [a-1]"


@pytest.mark.parametrize(
    "value",
    [
        Q,
        json.dumps(Q),
        json.dumps({"question": Q, "chat_history": []}),
        json.dumps({"query": Q, "filters": None, "top_k": 4}),
        json.dumps({"query_bundle": {"query_str": Q, "embedding": None}}),
        json.dumps({"args": [Q], "kwargs": {}}),
        json.dumps({"args": [], "kwargs": {"question": Q}}),
        json.dumps({"inputs": {"input": Q}, "tags": []}),
        json.dumps({"messages": [{"role": "user", "content": Q}]}),
        json.dumps({"messages": [[{"lc": 1, "id": ["x", "HumanMessage"],
                                   "kwargs": {"content": Q}}]]}),
        json.dumps({"data": {"embedder": {"text": Q}, "retriever": {"query": Q, "top_k": 3}}}),
        json.dumps([{"role": "system", "content": "s"}, {"role": "user", "content": Q}]),
        str({"query": Q, "top_k": None}),
        {"query": Q},
    ],
)  # fmt: skip
def test_the_question_is_found(value: object) -> None:
    assert question_of(value) == Q


@pytest.mark.parametrize(
    "value",
    [
        A,
        json.dumps(A),
        json.dumps({"answer": A, "context": [{"page_content": "x"}]}),
        json.dumps({"question": "q", "docs": [], "answer": A}),
        json.dumps({"response": A, "source_nodes": []}),
        json.dumps({"response": A, "metadata": None}),
        json.dumps({"response": A, "metadata": {"a-1": {"file": "a.md"}}}),
        json.dumps({"result": {"output": A}}),
        json.dumps({"outputs": A, "kwargs": {}}),
        json.dumps({"type": "ai", "data": {"content": A}}) ,
        json.dumps({"generations": [[{"text": A}]]}),
        json.dumps({"choices": [{"message": {"role": "assistant", "content": A}}]}),
        json.dumps({"llm": {"replies": [A]}}),
        {"final_answer": A},
    ],
)  # fmt: skip
def test_the_answer_is_found_and_kept_to_the_letter(value: object) -> None:
    assert answer_of(value) == A


@pytest.mark.parametrize(
    "value",
    [
        "__REDACTED__",
        "",
        "   ",
        '""',
        None,
        7,
        json.dumps([{"page_content": "x", "metadata": {}}]),
        json.dumps({"documents": [{"content": "x"}]}),
        json.dumps({"content": "x", "metadata": {}}),
        json.dumps([{"question": Q, "answer": A, "metadata": {"id": "faq-1"}}]),
        json.dumps({"response": None, "text": "x", "metadata": {}}),
        json.dumps(["a", "b"]),
        "ChatMessage(_role=<ChatRole.USER>, _content=[])",
        "StopEvent(result=AgentOutput(response=ChatMessage(blocks=[TextBlock(text='In 30 da...",
        '[{"page_content": "cut he',
    ],
)
def test_what_is_no_answer_is_none(value: object) -> None:
    assert answer_of(value) is None
