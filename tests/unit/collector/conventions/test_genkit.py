"""Genkit: inputs and outputs of actions as JSON text; the golden requests show whole answers."""

from __future__ import annotations

import json

from hypothesis import given

from collector.conventions import genkit
from collector.record.build import records
from ragvigil.model.record import Absent, RagRecord
from ragvigil.model.span import AttributeValue, Span
from tests.garbage import said_of, spans_of
from tests.traces import ANSWER, DOCUMENTS, PROMPT, QUESTION, span, trace

DOCS = {"documents": [{"content": [{"text": text}], "metadata": {"id": name, "score": 0.5}}
                      for name, text in DOCUMENTS]}  # fmt: skip
ASKED = {"query": {"content": [{"text": QUESTION}]}, "options": {"k": 3}}


def action(kind: str, inputs: object, outputs: object, at: tuple[float, float]) -> Span:
    attributes: dict[str, AttributeValue] = {
        "genkit:type": "action",
        "genkit:metadata:subtype": kind,
        "genkit:name": "stub/gpt-x" if kind == "model" else kind,
        "genkit:input": inputs if isinstance(inputs, str) else json.dumps(inputs),
        "genkit:output": outputs if isinstance(outputs, str) else json.dumps(outputs),
    }
    return span(kind, attributes, parent="flow" if kind != "flow" else "", at=at)


def record_of(*spans: Span) -> RagRecord:
    flow = action("flow", json.dumps(QUESTION), "", (0, 1))
    (record,) = records(trace(flow, *spans))
    return record


def model(*parts: object, outputs: object = None) -> Span:
    request = {"messages": [{"role": "user", "content": [{"text": PROMPT}]}],
               "config": {"temperature": 0.5}}  # fmt: skip
    reply = {"message": {"role": "model", "content": list(parts)}, "finishReason": "stop",
             "usage": {"inputTokens": 5, "outputTokens": 3}}  # fmt: skip
    return action("model", request, reply if outputs is None else outputs, (0.3, 0.9))


def test_a_flow_makes_a_whole_record() -> None:
    record = record_of(action("retriever", ASKED, DOCS, (0.1, 0.2)), model({"text": ANSWER}))
    assert (record.query, record.answer, record.route) == (QUESTION, ANSWER, "flow")
    assert [(d.chunk_id, d.content, d.score) for d in record.retrieved] == [
        (name, text, 0.5) for name, text in DOCUMENTS
    ]
    assert (record.dimensions.llm_model, record.dimensions.temperature) == ("gpt-x", 0.5)
    assert record.usage is not None
    assert record.usage.input_tokens == 5


def test_a_thought_is_no_answer() -> None:
    search = action("retriever", ASKED, DOCS, (0.1, 0.2))
    record = record_of(search, model({"reasoning": "Let me think."}, {"text": ANSWER}))
    assert record.answer == ANSWER


def test_what_the_exporter_redacts_is_hidden() -> None:
    search = action("retriever", "<redacted>", "<redacted>", (0.1, 0.2))
    record = record_of(search, action("model", "<redacted>", "<redacted>", (0.3, 0.9)))
    assert {record.absent[name] for name in ("retrieved", "answer")} == {Absent.HIDDEN}


def test_a_list_that_was_cut_is_no_list() -> None:
    cut = action("retriever", ASKED, json.dumps(DOCS)[:150], (0.1, 0.2))
    record = record_of(cut, model({"text": ANSWER}))
    assert "retrieved" in record.truncated


ODD = ('{"messages": [null, {"content": [3, {"toolResponse": 1}]}], "config": []}',
       '{"documents": [1, {"content": {"text": 2}}]}', '{"message": []}')  # fmt: skip


@given(spans_of(genkit, "genkit:type", "genkit:metadata:subtype", "genkit:input", "genkit:output",
                said=(*ODD, ODD[0][:30], *genkit.ROLES)))  # fmt: skip
def test_any_span_can_be_read(any_span: Span) -> None:
    said_of(genkit, any_span)
