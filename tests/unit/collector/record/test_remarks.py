"""What a model says about an answer is not the answer: grades, follow-up questions, titles."""

from __future__ import annotations

import json

import pytest

from collector.record.build import records
from ragvigil.model.span import SpanKind
from tests.traces import ANSWER, DOCUMENTS, PROMPT, QUESTION, llm, retriever, span, trace

GRADE = f"Is the answer grounded in the facts?\nFacts:\n{DOCUMENTS[0][1]}\nAnswer: {ANSWER}"
REMARKS = {
    "a word": (GRADE, "yes"),
    "two words": (GRADE, "Not grounded"),
    "a score": (GRADE, "Score: 4"),
    "flags": (GRADE, '{"grounded": true, "reason": "Each sentence is in the facts."}'),
    "a fenced score": (GRADE, '```json\n{"score": "yes"}\n```'),
    "a verdict per statement": (
        GRADE,
        json.dumps({"statements": [{"statement": ANSWER, "verdict": 1, "reason": "It says so."}]}),
    ),
    "an answer that is a grade": (GRADE, '{"answer": "yes", "explanation": "It is in there."}'),
    "questions": (
        f"Suggest three questions.\nUser: {QUESTION}\nAssistant: {ANSWER}",
        "Here are three:\n1. Is it free?\n2. Who pays?\n3. And vouchers?",
    ),
    "questions as JSON": (
        f"Suggest three questions.\nAssistant: {ANSWER}",
        '{"follow_ups": ["Is it free for everybody?", "Who pays the return label?"]}',
    ),
    "a title": (f"Write a title for this chat.\n{QUESTION}\n{ANSWER}", "Refund duration"),
    "a title as JSON": (f"Chat:\n{ANSWER}", '{"title": "How long a refund takes by card"}'),
    "an escaped answer": (f"Grade: {json.dumps({'answer': ANSWER})}", "PASS"),
}
NEW_ANSWERS = {
    "a translation": (f"Translate:\n{ANSWER}", "Innerhalb von dreißig Tagen ab Eingang [doc-7]."),
    "a shorter form": (f"Make this shorter, with a title:\n{ANSWER}", "30 days [refund-01]"),
    "a JSON answer": (f"Revise:\n{ANSWER}", '{"answer": "Thirty days at most.", "sure": true}'),
    "a question back": (f"Revise:\n{ANSWER}", "Do you mean a refund to a card?"),
    "an answer of its own": (f"Question: {QUESTION}", "Thirty days."),
}


def handler(prompt: str, reply: str):  # type: ignore[no-untyped-def]
    """A request without an output: search, answer, and a third call."""
    return trace(
        span("root", kind=SpanKind.SERVER),
        retriever(),
        llm(at=(0.3, 0.5)),
        llm("later", reply, prompt=prompt, at=(0.6, 0.9)),
    )


@pytest.mark.parametrize("name", REMARKS)
def test_a_remark_about_the_answer_is_not_the_answer(name: str) -> None:
    (record,) = records(handler(*REMARKS[name]))
    assert record.answer == ANSWER
    assert [document.chunk_id for document in record.context] == [id_ for id_, _ in DOCUMENTS]


@pytest.mark.parametrize("name", NEW_ANSWERS)
def test_a_reply_that_takes_the_answers_place_is_the_answer(name: str) -> None:
    prompt, reply = NEW_ANSWERS[name]
    (record,) = records(handler(prompt, reply))
    assert record.answer != ANSWER
    assert record.answer is not None
    assert record.answer in reply


def test_a_grade_and_then_a_title_are_both_left_out() -> None:
    title = f"Write a title for this chat.\n{QUESTION}\n{ANSWER}"
    (record,) = records(
        trace(
            span("root", kind=SpanKind.SERVER),
            retriever(),
            llm(at=(0.3, 0.5)),
            llm("grade", "yes", prompt=GRADE, at=(0.5, 0.6)),
            llm("title", "Refund duration", prompt=title, at=(0.6, 0.7)),
        )
    )
    assert record.answer == ANSWER


def test_an_evaluator_that_asks_a_query_engine_about_the_answer_is_no_answer() -> None:
    chain = {"openinference.span.kind": "CHAIN"}
    asked = {**chain, "input.value": ANSWER, "output.value": "YES"}
    (record,) = records(
        trace(
            span("root", kind=SpanKind.SERVER),
            span("engine", chain, parent="root", at=(0.1, 0.5)),
            retriever(parent="engine"),
            llm(parent="engine", at=(0.3, 0.5)),
            span("evaluator", asked, parent="root", at=(0.6, 0.9)),
            retriever("facts", query=ANSWER, parent="evaluator", at=(0.6, 0.7)),
            llm("grade", "YES", prompt=GRADE, parent="evaluator", at=(0.7, 0.9)),
        )
    )
    assert (record.query, record.answer) == (QUESTION, ANSWER)


def test_a_model_that_fills_a_form_after_the_search_did_not_write_its_query() -> None:
    form = {
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "GradeDocuments",
        "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": '{"score": 1}',
    }
    (record,) = records(
        trace(
            span("root", kind=SpanKind.SERVER),
            retriever(at=(0.1, 0.2)),
            llm("grade", None, prompt=GRADE, at=(0.3, 0.4), extra=form),
            llm(prompt=PROMPT.partition("Question:")[0], at=(0.5, 0.9)),
        )
    )
    assert record.query == QUESTION


def test_the_query_is_the_question_where_the_answering_model_is_asked_the_same() -> None:
    asked = {
        "llm.input_messages.0.message.role": "system",
        "llm.input_messages.0.message.content": PROMPT.partition("Question:")[0],
        "llm.input_messages.1.message.role": "user",
        "llm.input_messages.1.message.content": QUESTION,
    }
    (record,) = records(
        trace(
            span("root", kind=SpanKind.SERVER),
            llm("guard", "safe", prompt=f"Is this safe?\n\n{QUESTION}", at=(0.0, 0.05)),
            retriever(at=(0.1, 0.2)),
            llm(prompt=None, extra=asked),
        )
    )
    assert record.query == QUESTION


@pytest.mark.parametrize("start", [0.0, 0.25])
@pytest.mark.parametrize("said", [ANSWER, "30 days"])
@pytest.mark.parametrize(
    "verdict", ["safe", "in scope", '{"safe": true, "reason": "It asks about a refund."}']
)
def test_a_guard_of_the_question_that_ends_behind_the_answer_is_not_the_answer(
    said: str, verdict: str, start: float
) -> None:
    (record,) = records(
        trace(
            span("root", kind=SpanKind.SERVER),
            llm("guard", verdict, prompt=f"Is this safe?\n{QUESTION}", at=(start, 0.95)),
            retriever(),
            llm(answer=said, at=(0.3, 0.9)),
        )
    )
    assert record.answer == said


@pytest.mark.parametrize("start", [0.0, 0.4])
def test_a_title_that_is_written_beside_the_answer_is_not_the_answer(start: float) -> None:
    asked = f"Write a title for a chat that begins so:\n{QUESTION}"
    (record,) = records(
        trace(
            span("root", kind=SpanKind.SERVER),
            retriever(),
            llm(at=(0.3, 0.9)),
            llm("title", "Refund duration", prompt=asked, at=(start, 0.95)),
        )
    )
    assert record.answer == ANSWER


def test_a_shorter_form_beside_a_chunk_that_has_a_title_is_the_answer() -> None:
    said = "You can ask for a refund within 30 days of delivery, as the rules say."
    asked = f"Make this concise:\n{said}\n\nTitle: Refunds\n{DOCUMENTS[0][1]}"
    (record,) = records(
        trace(
            span("root", kind=SpanKind.SERVER),
            retriever(),
            llm(answer=said, at=(0.3, 0.6)),
            llm("short", "30 days from delivery", prompt=asked, at=(0.7, 0.9)),
        )
    )
    assert record.answer == "30 days from delivery"
