"""A handler that answers one question after the other has an answer for each."""

from __future__ import annotations

import pytest

from collector.record.build import records
from ragvigil.model.span import Span, SpanKind, Trace
from tests.traces import DOCUMENTS, llm, retriever, span, trace

QUESTIONS = ("How long can I ask for a refund?", "What does the shipping cost?")
ANSWERS = ("Within 30 days of delivery.", "It is 3.90 EUR up to an order of 50 EUR.")
HANDLER = span("root", kind=SpanKind.SERVER)


def prompt(at: int, question: str = "") -> str:
    return f"Context:\n{DOCUMENTS[at][1]}\n\nQuestion: {question or QUESTIONS[at]}\nAnswer:"


def turn(at: int, *, asked: str = "", said: str = "", query: str = "") -> tuple[Span, Span]:
    start = 0.1 + 0.4 * at
    tokens = {"llm.token_count.prompt": 100 + at}
    return (
        retriever(
            f"search-{at}",
            documents=(DOCUMENTS[at],),
            query=query or QUESTIONS[at],
            at=(start, start + 0.1),
        ),
        llm(
            f"llm-{at}",
            said or ANSWERS[at],
            prompt=asked or prompt(at),
            at=(start + 0.1, start + 0.3),
            extra=tokens,
        ),
    )


def answers(found: Trace) -> list[tuple[str | None, str | None]]:
    return [(record.query, record.answer) for record in records(found)]


def test_each_question_of_a_handler_has_its_answer() -> None:
    first, second = records(trace(HANDLER, *turn(0), *turn(1)))
    assert [(r.query, r.answer) for r in (first, second)] == list(
        zip(QUESTIONS, ANSWERS, strict=True)
    )
    for at, record in enumerate((first, second)):
        assert [document.chunk_id for document in record.retrieved] == [DOCUMENTS[at][0]]
        assert record.context == record.retrieved
        assert record.usage is not None
        assert record.usage.input_tokens == 100 + at
        assert record.route == "root"
        assert record.latencies.total == pytest.approx(0.3)


def test_the_first_answer_has_the_same_name_whether_others_follow() -> None:
    alone, (first, second) = records(trace(HANDLER, *turn(0))), records(
        trace(HANDLER, *turn(0), *turn(1))
    )  # fmt: skip
    assert alone[0].record_id == first.record_id == "root"
    assert second.record_id == "search-1"


def test_what_runs_between_two_questions_belongs_to_the_second() -> None:
    between = llm("rewrite", "shipping price", prompt="Rewrite the question.", at=(0.42, 0.48))
    first, second = records(trace(HANDLER, *turn(0), between, *turn(1)))
    assert (first.answer, second.answer) == ANSWERS


MULTI_HOP = {
    "the second prompt repeats the first question": turn(1, asked=prompt(1) + QUESTIONS[0]),
    "the second prompt holds the first answer": turn(1, asked=prompt(1) + ANSWERS[0]),
    "the second prompt is about another query": turn(1, query="shipping price"),
}


@pytest.mark.parametrize("name", MULTI_HOP)
def test_steps_of_one_answer_are_not_split(name: str) -> None:
    assert len(records(trace(HANDLER, *turn(0), *MULTI_HOP[name]))) == 1


def test_a_model_that_wrote_the_next_query_is_a_step_of_the_answer() -> None:
    said = f"Next I must know: {QUESTIONS[1]}"
    assert len(records(trace(HANDLER, *turn(0, said=said), *turn(1)))) == 1


def test_a_span_that_says_what_it_was_asked_has_one_answer() -> None:
    asked = {"openinference.span.kind": "CHAIN", "input.value": "Compare refund and shipping."}
    found = trace(span("root", asked), *turn(0), *turn(1))
    assert answers(found) == [("Compare refund and shipping.", ANSWERS[1])]


REWRITTEN = "What is the refund period for orders from the shop?"
REWRITER = {
    "llm.output_messages.0.message.role": "assistant",
    "llm.output_messages.0.message.tool_calls.0.tool_call.function.name": "search",
    "llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": f'["{REWRITTEN}"]',
}


@pytest.mark.parametrize(
    ("said", "more"), [(REWRITTEN, {}), (f'{{"query": "{REWRITTEN}"}}', {}), (None, REWRITER)]
)
def test_a_search_with_a_better_query_is_a_step_of_the_answer(
    said: str | None, more: dict[str, str]
) -> None:
    graded = f"Is this relevant to: {QUESTIONS[0]}\n{DOCUMENTS[1][1]}"
    (record,) = records(
        trace(
            HANDLER,
            retriever("first", DOCUMENTS[1:2], query=QUESTIONS[0], at=(0.1, 0.15)),
            llm("grade", "no", prompt=graded, at=(0.2, 0.3)),
            llm("better", said, prompt=f"Rewrite: {QUESTIONS[0]}", at=(0.3, 0.4), extra=more),
            retriever("second", DOCUMENTS[:1], query=REWRITTEN, at=(0.4, 0.5)),
            llm(answer=ANSWERS[0], prompt=prompt(0, REWRITTEN), at=(0.5, 0.9)),
        )
    )
    assert record.answer == ANSWERS[0]
    assert [document.chunk_id for document in record.context] == [DOCUMENTS[0][0]]


def test_a_question_that_was_condensed_or_suggested_from_a_chat_has_its_own_answer() -> None:
    chat = f"Chat:\n{QUESTIONS[0]}\n{ANSWERS[0]}\nWhat is asked next?"
    between = llm("between", QUESTIONS[1], prompt=chat, at=(0.42, 0.48))
    first, second = records(trace(HANDLER, *turn(0), between, *turn(1)))
    assert (first.answer, second.answer) == ANSWERS


def test_parts_of_a_question_that_are_answered_and_combined_are_one_answer() -> None:
    combined = "Thirty days for a refund, and 3.90 EUR for shipping."
    asked = "Write one answer of these:\n" + "\n".join(ANSWERS)
    last = llm("combine", combined, prompt=asked, at=(0.9, 1))
    assert [record.answer for record in records(trace(HANDLER, *turn(0), *turn(1), last))] == [
        combined
    ]


def test_follow_up_questions_behind_the_last_answer_combine_nothing() -> None:
    asked = "What may be asked next?\n" + "\n".join(ANSWERS[1:])
    last = llm("next", "Is it free?\nWho pays?", prompt=asked, at=(0.9, 1))
    assert answers(trace(HANDLER, *turn(0), *turn(1), last)) == list(
        zip(QUESTIONS, ANSWERS, strict=True)
    )
