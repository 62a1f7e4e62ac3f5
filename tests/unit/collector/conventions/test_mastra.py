"""Mastra: the user's question is the input of the run, not what the model searched for."""

from __future__ import annotations

import json

from hypothesis import given

from collector.conventions import mastra
from collector.record.build import records
from ragvigil.model.span import AttributeValue, Span
from tests.garbage import said_of, spans_of
from tests.traces import ANSWER, DOCUMENTS, QUESTION, span, trace

FOUND = json.dumps([{"id": name, "content": text} for name, text in DOCUMENTS])


def test_a_run_has_the_question_and_the_answer() -> None:
    run: dict[str, AttributeValue] = {
        "mastra.span.type": "agent_run", "gen_ai.operation.name": "invoke_agent",
        "mastra.agent_run.input": QUESTION,
        "mastra.agent_run.output": json.dumps({"text": ANSWER, "files": []}),
    }  # fmt: skip
    tool: dict[str, AttributeValue] = {
        "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "searchDocuments",
        "gen_ai.tool.call.arguments": '{"query": "refund window"}',
        "gen_ai.tool.call.result": FOUND,
    }  # fmt: skip
    chat: dict[str, AttributeValue] = {"gen_ai.operation.name": "chat"}
    (record,) = records(
        trace(span("run", run), span("first", chat, parent="run", at=(0.1, 0.2)),
              span("tool", tool, parent="run", at=(0.3, 0.4)),
              span("last", chat, parent="run", at=(0.5, 0.9)))
    )  # fmt: skip
    assert (record.query, record.answer) == (QUESTION, ANSWER)
    assert len(record.retrieved) == len(DOCUMENTS)


@given(spans_of(mastra, "mastra.span.type", "mastra.agent_run.input", said=tuple(mastra.ROLES)))
def test_any_span_can_be_read(any_span: Span) -> None:
    said_of(mastra, any_span)
