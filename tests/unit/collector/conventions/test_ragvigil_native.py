"""ragvigil's own attributes come before everything that is inferred."""

from __future__ import annotations

import json

from collector.record.build import records
from ragvigil.model.record import ContextSource
from tests.traces import ANSWER, llm, retriever, span, trace


def test_what_the_service_declares_wins() -> None:
    declared = {
        "ragvigil.query": "What was asked",
        "ragvigil.answer": "What was told [x]",
        "ragvigil.context": json.dumps([{"id": "own-1", "content": "own text"}]),
        "ragvigil.citations": json.dumps([{"chunk_id": "own-1", "quote": "own text"}]),
        "ragvigil.route": "/own/{x}",
        "ragvigil.environment": "lab",
        "ragvigil.prompt_version": "p7",
        "ragvigil.index_epoch": "e9",
        "ragvigil.tenant": "acme",
        "ragvigil.locale": "de",
        "ragvigil.slice": "edge",
        "ragvigil.session_id": "s1",
        "ragvigil.user_id": "u1",
        "http.route": "/other",
        "output.value": ANSWER,
    }
    model = llm(prompt="Use this: own text")
    (record,) = records(trace(span("root", declared), retriever(), model))
    assert (record.query, record.answer) == ("What was asked", "What was told [x]")
    assert [document.chunk_id for document in record.context] == ["own-1"]
    assert record.context_source is ContextSource.DECLARED
    assert [(citation.chunk_id, citation.quote) for citation in record.citations] == [
        ("own-1", "own text")
    ]
    assert (record.route, record.environment) == ("/own/{x}", "lab")
    assert (record.session_id, record.user_id) == ("s1", "u1")
    dimensions = record.dimensions
    assert (dimensions.prompt_version, dimensions.index_epoch, dimensions.tenant) == (
        "p7",
        "e9",
        "acme",
    )
    assert (dimensions.locale, dimensions.slice) == ("de", "edge")
    assert len(record.retrieved) == 3, "what is not declared is still inferred"
