"""DSPy programs whose retriever is a plain function: signature fields say everything."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from collector.record.build import records
from ragvigil.model.record import Absent, ContextSource, RagRecord
from ragvigil.model.span import SpanKind
from tests.dspy_spans import Adapter, Program, listed
from tests.traces import DOCUMENTS, QUESTION, span, trace

TEXTS = [text for _, text in DOCUMENTS]
WITH_LINES = [TEXTS[0], "Two lines:\n    the second.", "With «quotes» and\n\na paragraph."]
SAID = "Within 30 days of delivery."
ADAPTERS = ("ChatAdapter", "JSONAdapter", "XMLAdapter")


def only(program: Program) -> RagRecord:
    (record,) = records(trace(*program.spans))
    return record


def shown(record: RagRecord) -> list[str | None]:
    assert record.context_source is ContextSource.PROMPT
    return [document.content for document in record.context]


def rag(adapter: Adapter, passages: object, **names: str) -> Program:
    context, asked, said = (names.get(key, key) for key in ("context", "question", "answer"))
    program = Program(adapter)
    outputs = {"reasoning": "The context says so.", said: SAID}
    root = program.chain("RAG.forward", {asked: QUESTION}, outputs)
    program.predict({context: passages, asked: QUESTION}, outputs, root, thought=True)
    return program


@pytest.mark.parametrize("name", ADAPTERS)
@pytest.mark.parametrize("typed", [False, True])
@pytest.mark.parametrize("texts", [TEXTS, TEXTS[:1], WITH_LINES])
def test_a_program_with_a_chain_of_thought_is_one_record(
    name: str, typed: bool, texts: list[str]
) -> None:
    record = only(rag(Adapter(name, typed=typed), texts))
    assert (record.query, record.answer) == (QUESTION, SAID)
    assert shown(record) == texts


@pytest.mark.parametrize("name", ADAPTERS)
def test_the_fields_have_the_users_names(name: str) -> None:
    program = rag(
        Adapter(name), TEXTS, context="retrieved_passages", question="anliegen", answer="auskunft"
    )
    record = only(program)
    assert (record.query, record.answer, shown(record)) == (QUESTION, SAID, TEXTS)


def test_a_context_that_the_program_joined_keeps_the_ids() -> None:
    joined = "\n".join(f"[{name}] {text}" for name, text in DOCUMENTS)
    record = only(rag(Adapter(), joined))
    assert [(d.chunk_id, d.content) for d in record.context] == list(DOCUMENTS)


@pytest.mark.parametrize("name", ADAPTERS)
def test_passages_that_begin_with_their_id_keep_it(name: str) -> None:
    record = only(rag(Adapter(name), [f"[{name}] {text}" for name, text in DOCUMENTS]))
    assert [(d.chunk_id, d.content) for d in record.context] == list(DOCUMENTS)


@pytest.mark.parametrize("name", ADAPTERS)
def test_under_a_server_span_the_fields_are_read_from_prompt_and_reply(name: str) -> None:
    program = rag(Adapter(name), TEXTS)
    calls = [s for s in program.spans if s.name == "LM.__call__"]
    server = span("POST /ask", {"http.route": "/ask"}, kind=SpanKind.SERVER, at=(0, 9))
    program.spans[:] = [server, span("work", parent="POST /ask", at=(0, 8))]
    program.spans += [replace(call, parent_span_id="work") for call in calls]
    record = only(program)
    assert (record.query, record.answer, shown(record)) == (QUESTION, SAID, TEXTS)


def test_demonstrations_are_no_context() -> None:
    demo = ({"context": ["Another shop's rule."] * 2, "question": "Why?"}, {"answer": "Because."})
    program = Program()
    root = program.chain("RAG.forward", {"question": QUESTION}, {"answer": SAID})
    program.predict({"context": TEXTS, "question": QUESTION}, {"answer": SAID}, root, demos=[demo])
    assert shown(only(program)) == TEXTS
    program = Program()
    root = program.chain("Chat.forward", {"question": QUESTION}, {"answer": SAID})
    program.predict({"question": QUESTION}, {"answer": SAID}, root, demos=[demo])
    assert records(trace(*program.spans)) == ()


def test_nothing_found_is_an_answer_without_chunks() -> None:
    (record,) = records(trace(*rag(Adapter(), []).spans))
    assert (record.retrieved, record.context) == ((), ())
    assert "retrieved" not in record.absent


@pytest.mark.parametrize("run", ["", "a"])
def test_several_hops_are_one_record_with_the_last_context(run: str) -> None:
    program = Program()
    root = program.chain(f"Hops.{run}forward", {"question": QUESTION}, {"answer": SAID})
    program.predict(
        {"context": [], "question": QUESTION}, {"search_query": "refund"}, root, at=1, run=run
    )
    program.predict(
        {"context": TEXTS[:1], "question": QUESTION},
        {"search_query": "shipping"},
        root,
        at=2,
        run=run,
    )
    outputs = {"reasoning": "So.", "answer": SAID}
    program.predict(
        {"context": TEXTS, "question": QUESTION}, outputs, root, at=3, thought=True, run=run
    )
    record = only(program)
    assert (record.query, record.answer, shown(record)) == (QUESTION, SAID, TEXTS)


def test_a_react_programs_tool_retrieves() -> None:
    program = Program()
    root = program.chain(
        "ReAct.forward",
        {"question": QUESTION},
        {"trajectory": {}, "reasoning": "So.", "answer": SAID},
    )
    step = {
        "next_thought": "Search.",
        "next_tool_name": "search",
        "next_tool_args": {"query": "refund"},
    }
    program.predict({"question": QUESTION, "trajectory": ""}, step, root, at=1)
    program.tool("search", {"query": "refund"}, TEXTS, root, at=1.6)
    trajectory = (
        "[[ ## thought_0 ## ]]\nSearch.\n\n[[ ## tool_name_0 ## ]]\nsearch\n\n"
        "[[ ## tool_args_0 ## ]]\n"
        f'{{"query": "refund"}}\n\n[[ ## observation_0 ## ]]\n{listed(TEXTS)}'
    )
    inputs, outputs = {"question": QUESTION, "trajectory": trajectory}, {"answer": SAID}
    program.predict(inputs, outputs, root, at=3, thought=True)
    record = only(program)
    assert (record.query, record.answer) == (QUESTION, SAID)
    assert [d.content for d in record.context] == [d.content for d in record.retrieved] == TEXTS
    program.spans[:] = [s for s in program.spans if "TOOL" not in s.attributes.values()]
    assert shown(only(program)) == TEXTS


def test_a_tool_that_does_not_search_retrieves_nothing() -> None:
    program = Program()
    root = program.chain("ReAct.forward", {"question": QUESTION}, {"answer": SAID})
    program.tool(
        "list_orders", {}, ["order 1 was sent yesterday", "order 2 was lost on its way"], root
    )
    program.predict({"question": QUESTION, "trajectory": ""}, {"answer": SAID}, root, at=3)
    assert records(trace(*program.spans)) == ()


def test_a_reply_that_could_not_be_parsed_is_asked_again() -> None:
    program = Program()
    root = program.chain("RAG.forward", {"question": QUESTION}, {"answer": SAID})
    program.predict({"context": TEXTS, "question": QUESTION}, None, root, reply="no fields", at=1)
    program.adapter = Adapter("JSONAdapter")
    program.predict({"context": TEXTS, "question": QUESTION}, {"answer": SAID}, root, at=2)
    record = only(program)
    assert (record.query, record.answer, shown(record), record.error) == (
        QUESTION,
        SAID,
        TEXTS,
        None,
    )


def test_a_model_that_failed_leaves_question_and_passages() -> None:
    program = Program()
    root = program.chain("RAG.forward", {"question": QUESTION}, None, failed=True)
    program.predict({"context": TEXTS, "question": QUESTION}, None, root)
    record = only(program)
    assert (record.query, shown(record), record.absent["answer"]) == (
        QUESTION,
        TEXTS,
        Absent.ERRORED,
    )


def test_a_second_model_that_only_extracts_fields_hides_no_context() -> None:
    program = Program()
    root = program.chain("RAG.forward", {"question": QUESTION}, {"answer": SAID})
    program.predict({"context": TEXTS, "question": QUESTION}, {"answer": SAID}, root, at=1)
    program.predict({"text": f"The answer is: {SAID}"}, {"answer": SAID}, root, at=2)
    record = only(program)
    assert (record.query, record.answer, shown(record)) == (QUESTION, SAID, TEXTS)


def test_each_question_under_one_span_is_a_record() -> None:
    program = Program()
    batch = span("evaluate", at=(0, 99))
    for number in range(3):
        inputs, outputs = {"question": f"{QUESTION} {number}"}, {"answer": f"{SAID} {number}"}
        root = program.chain(
            "RAG.forward", inputs, outputs, "evaluate", (number * 10, number * 10 + 9)
        )
        program.predict({"context": TEXTS, **inputs}, outputs, root, at=number * 10 + 1)
    found = records(trace(batch, *program.spans))
    assert [(r.query, r.answer) for r in found] == [
        (f"{QUESTION} {n}", f"{SAID} {n}") for n in range(3)
    ]


def test_documents_as_data_keep_text_and_id() -> None:
    passages = [{"id": name, "text": text} for name, text in DOCUMENTS]
    record = only(rag(Adapter(typed=True), passages))
    assert [(d.chunk_id, d.content) for d in record.context] == list(DOCUMENTS)
    assert json.loads(str(record.absent.get("document_ids", "null"))) is None
