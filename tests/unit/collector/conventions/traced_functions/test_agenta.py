"""Agenta: members of what went in and came out, structures behind a mark."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from collector.conventions.traced_functions import agenta
from collector.record.build import records
from ragvigil.model.span import AttributeValue, Span, SpanKind
from tests.garbage import said_of, spans_of
from tests.traces import ANSWER, DOCUMENTS, QUESTION, llm, span, trace

FOUND = json.dumps([{"id": name, "content": text, "score": 0.5} for name, text in DOCUMENTS])
ASK: dict[str, AttributeValue] = {
    "ag.type.node": "workflow", "ag.session.id": "s-1",
    "ag.data.inputs.question": QUESTION, "ag.data.outputs.__default__": ANSWER,
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "name", "found"),
    [("TASK", "retrieve", agenta.JSON_MARK + FOUND), ("query", "lookup", agenta.JSON_MARK + FOUND),
     ("tool", "search_docs", FOUND)],
)  # fmt: skip
def test_a_search_gives_ids_and_scores(kind: str, name: str, found: str) -> None:
    search = {"ag.type.node": kind, "ag.data.inputs.query": QUESTION,
              "ag.data.outputs.__default__": found}  # fmt: skip
    (record,) = records(
        trace(span("ask", ASK, kind=SpanKind.SERVER), llm(parent="ask"),
              span(name, search, parent="ask", at=(0.1, 0.2)))
    )  # fmt: skip
    assert (record.query, record.answer, record.session_id) == (QUESTION, ANSWER, "s-1")
    assert [(d.chunk_id, d.score) for d in record.retrieved] == [(n, 0.5) for n, _ in DOCUMENTS]


@given(spans_of(agenta, "ag.type.node", "ag.data.inputs.query", "ag.data.outputs.__default__",
                said=(*agenta.ROLES, agenta.JSON_MARK + '[{"id":')))  # fmt: skip
def test_any_span_can_be_read(any_span: Span) -> None:
    said_of(agenta, any_span)
