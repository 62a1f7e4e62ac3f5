"""A short answer looks like a grade of what it was made of: a rewritten question, an extract."""

from __future__ import annotations

import pytest

from collector.record.build import records
from ragvigil.model.span import Span, SpanKind
from tests.traces import DOCUMENTS, llm, retriever, span, trace

HANDLER = span("root", kind=SpanKind.SERVER)
REWRITTEN = "What is the refund period for orders from the shop?"
EXTRACTS = (
    "Customers may ask for a refund within thirty days only.",
    "Shipping is charged where an order is small.",
)
FACTS = "\n".join(text for _, text in DOCUMENTS)
SHORT = ["30 days", "Yes.", "No", "42", "Paris", '{"days": 30, "fee": 0, "vouchers": false}']


def prompt(question: str, context: str = FACTS) -> str:
    return f"Context:\n{context}\n\nQuestion: {question}\nAnswer:"


def answer(*steps: Span) -> str | None:
    (record,) = records(trace(HANDLER, *steps))
    return record.answer


@pytest.mark.parametrize("reply", SHORT)
def test_a_short_answer_to_a_rewritten_question_is_the_answer(reply: str) -> None:
    rewriter = llm("rewrite", REWRITTEN, prompt="Rewrite: how long?", at=(0, 0.05))
    asked = prompt(REWRITTEN)
    assert answer(rewriter, retriever(query=REWRITTEN), llm(answer=reply, prompt=asked)) == reply
    assert answer(rewriter, llm(answer=reply, prompt=f"Context:\n{FACTS}\n\n{REWRITTEN}")) == reply


@pytest.mark.parametrize("reply", SHORT)
def test_a_short_answer_after_a_written_passage_is_the_answer(reply: str) -> None:
    wanted = llm("hyde", EXTRACTS[0], prompt="Write a passage: how long?", at=(0, 0.05))
    asked = f"{FACTS}\n{EXTRACTS[0]}\n\nHow long?"
    assert answer(wanted, retriever(query=EXTRACTS[0]), llm(answer=reply, prompt=asked)) == reply


@pytest.mark.parametrize("reply", SHORT)
def test_a_short_answer_from_an_extract_is_the_answer(reply: str) -> None:
    extractor = llm("extract", EXTRACTS[0], prompt=f"Extract:\n{FACTS}", at=(0.3, 0.5))
    asked = prompt("After 60 days?", EXTRACTS[0])
    assert answer(retriever(), extractor, llm(answer=reply, prompt=asked, at=(0.6, 0.9))) == reply


@pytest.mark.parametrize("reply", SHORT)
def test_a_short_answer_that_combines_parts_is_the_answer(reply: str) -> None:
    parts = [
        llm(f"m{at}", text, prompt=DOCUMENTS[at][1], at=(0.3, 0.4))
        for at, text in enumerate(EXTRACTS)
    ]
    asked = f"Summaries:\n{EXTRACTS[0]}\n{EXTRACTS[1]}\n\nAfter 60 days?"
    assert answer(retriever(), *parts, llm(answer=reply, prompt=asked, at=(0.6, 0.9))) == reply


def test_a_json_answer_is_no_grade_of_a_chunks_grade() -> None:
    chunk = llm("grade", "yes", prompt=f"Relevant?\n{FACTS}", at=(0.2, 0.25))
    asked = prompt("What did I buy yesterday?")
    assert answer(retriever(), chunk, llm(answer=SHORT[-1], prompt=asked)) == SHORT[-1]


def test_an_answer_is_told_from_its_parts_and_its_grade() -> None:
    said = "Within thirty days, and shipping costs extra."
    steps = [
        llm("m1", EXTRACTS[0], prompt=DOCUMENTS[0][1], at=(0.3, 0.4)),
        llm("m2", EXTRACTS[1], prompt=DOCUMENTS[1][1], at=(0.3, 0.4)),
        llm("reduce", said, prompt="\n".join(EXTRACTS), at=(0.5, 0.6)),
    ]
    graded = f"Facts:\n{EXTRACTS[0]}\n{EXTRACTS[1]}\n\nIs this right? {said}"
    assert answer(retriever(), *steps, llm("grade", "yes", prompt=graded, at=(0.7, 0.9))) == said


@pytest.mark.parametrize("said", ["30 days", "No"])
def test_flags_about_a_short_answer_are_no_answer(said: str) -> None:
    graded = f"Facts:\n{FACTS}\n\nAnswer: {said}\nIs it grounded?"
    grade = llm("grade", '{"grounded": true, "score": 5}', prompt=graded, at=(0.7, 0.9))
    assert answer(retriever(), llm(answer=said, at=(0.3, 0.6)), grade) == said


def test_a_thousand_grades_are_left_out() -> None:
    said = "word " * 400
    grades = [
        llm(f"grade-{at}", "yes", prompt=f"Right?\n{said}", at=(0.5, 0.6 + at / 1e4))
        for at in range(1000)
    ]
    assert answer(retriever(), llm(answer=said, at=(0.3, 0.4)), *grades) == said


def test_a_question_that_has_the_word_of_an_earlier_answer_is_no_check_of_it() -> None:
    turns = [
        ("What is the capital of France?", "Paris"),
        ("How many live in Paris?", '{"people": 2100000, "year": 2020}'),
    ]
    steps = [
        step
        for at, (question, reply) in enumerate(turns)
        for step in (
            span(
                f"turn-{at}",
                {"openinference.span.kind": "CHAIN", "input.value": question},
                parent="root",
                at=(at, at + 0.9),
            ),
            retriever(f"r{at}", query=question, parent=f"turn-{at}", at=(at + 0.1, at + 0.2)),
            llm(f"m{at}", reply, prompt=prompt(question), parent=f"turn-{at}", at=(at, at + 0.8)),
        )
    ]
    assert [(r.query, r.answer) for r in records(trace(HANDLER, *steps))] == turns


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ('{"price": 3.9, "currency": "EUR"}', '{"price": 3.9, "currency": "EUR"}'),
        ('{"days": 30, "source": "refund-01"}', '{"days": 30, "source": "refund-01"}'),
        ('{"stadt": "Bonn", "score": 0.9}', "Bonn"),
        ('{"price": 3.9, "remark": "It is free over 50 EUR."}', "It is free over 50 EUR."),
    ],
)
def test_a_word_beside_a_number_is_not_the_whole_answer(reply: str, said: str) -> None:
    assert answer(retriever(), llm(answer=reply)) == said


@pytest.mark.parametrize("label", ["Reasoning: {}", "<thinking>{}</thinking>", "## Analysis:\n{}"])
def test_a_short_answer_that_a_reasoning_led_to_is_the_answer(label: str) -> None:
    thought = "The text says that refunds end after thirty days, so sixty are too many."
    asked = f"{FACTS}\nAfter sixty days?\n{label.format(thought)}\nTherefore the answer is"
    steps = (llm("think", thought, at=(0.3, 0.5)), llm(answer="No", prompt=asked, at=(0.6, 0.9)))
    assert answer(retriever(), *steps) == "No"
