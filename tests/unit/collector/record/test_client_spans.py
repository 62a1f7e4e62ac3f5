"""A client's own span of a call that an instrumentor describes adds no answer and no tokens."""

from __future__ import annotations

import pytest

from collector.record.build import records
from ragvigil.model.record import RagRecord
from ragvigil.model.span import AttributeValue
from tests.traces import ANSWER, llm, retriever, span, trace

USAGE: dict[str, AttributeValue] = {
    "llm.token_count.prompt": 5, "llm.token_count.completion": 3, "gen_ai.response.id": "r-1",
}  # fmt: skip
BARE: dict[str, AttributeValue] = {
    "gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.response.id": "r-1",
    "gen_ai.usage.output_tokens": 3,
}  # fmt: skip


def record_of(client_parent: str) -> RagRecord:
    model = llm("model", ANSWER, extra=USAGE)
    client = span("client", BARE, parent=client_parent, at=(0.5, 0.8), scope="com.client.sdk")
    (record,) = records(trace(span("root"), retriever(), model, client))
    return record


@pytest.mark.parametrize("parent", ["model", "root"])
def test_the_span_with_the_content_answers_and_counts(parent: str) -> None:
    record = record_of(parent)
    assert record.answer == ANSWER
    assert record.usage is not None
    assert (record.usage.input_tokens, record.usage.output_tokens) == (5, 3)
