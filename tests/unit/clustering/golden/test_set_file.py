"""The set's file line by line: other lines stay as they are, unsigned cases are reported."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from clustering.golden.case import line
from clustering.golden.set_file import adopted, cases_of, differing, invalid_cases, put, read
from clustering.golden.verbs import edit, propose, sign
from ragvigil.model.golden import CaseState, GoldenCase
from scorers.golden import question_key


def case(name: str, question: str = "") -> GoldenCase:
    made = GoldenCase(case_id=name, question=question or f"What of {name}?", gold_answer="This.")
    after = propose(made, "ada", 1)
    return sign(after, "bob", after.content_hash, 2, two_people=True)


HAND = '{ "question":  "Who?",   "gold_answer": "Me." }'


@given(st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=8), st.booleans())
def test_putting_a_case_leaves_every_other_line_alone(names: list[str], ends: bool) -> None:
    text = f"{HAND}\n\n  not json\r\n" + (HAND.replace("Who", "Why") if ends else "")
    for number, name in enumerate(names):
        text = put(text, replace(case(name), revision=number + 1))
    assert text.startswith(f"{HAND}\n\n  not json\r\n")
    last = {name: number + 1 for number, name in enumerate(names)}
    own = {case.case_id: case.revision for case in cases_of(read(text)) if case.case_id}
    assert own == last


def test_an_edited_line_is_told_from_a_signed_one() -> None:
    good, bad = case("a"), case("b")
    forged = line(bad).replace("This.", "That.")
    problems = invalid_cases(read(f"{line(good)}\n{forged}\n{HAND}\nnonsense\n"), question_key)
    assert [(invalid.number, invalid.case_id) for invalid in problems] == [
        (2, "b"),
        (3, ""),
        (4, ""),
    ]
    assert "edited after it was signed" in problems[0].why
    assert "is not signed" in problems[1].why


def test_two_lines_that_ask_the_same_are_told() -> None:
    text = f"{line(case('a', 'How LONG?'))}\n{line(case('b', 'how long'))}\n"
    assert [invalid.why for invalid in invalid_cases(read(text), question_key)] == [
        "line 1 asks the same"
    ]


def test_a_signed_case_that_the_file_lacks_is_told() -> None:
    a, b = case("a"), case("b")
    other = replace(b, gold_answer="That.", content_hash="00")
    problems = differing(read(line(b)), {"a": a, "b": other})
    assert [(invalid.case_id, invalid.number) for invalid in problems] == [("a", 0), ("b", 1)]


def test_what_the_store_does_not_know_is_adopted() -> None:
    signed_case = case("a")
    waiting = replace(signed_case, state=CaseState.PROPOSED, approved_by="")
    assert adopted(None, signed_case) == signed_case
    assert adopted(waiting, signed_case) == signed_case
    assert adopted(signed_case, signed_case) is None
    assert adopted(replace(signed_case, state=CaseState.PASSING), signed_case) is None
    change = edit(signed_case, {"gold_answer": "That."}, "eve", 3)
    assert adopted(change, signed_case) is None
    back = adopted(replace(change, state=CaseState.REJECTED), signed_case)
    assert back == replace(signed_case, revision=change.revision + 1)
    newer = sign(change, "bob", change.content_hash, 4, two_people=True)
    assert adopted(signed_case, newer) == newer


def test_what_was_edited_after_signing_is_not_adopted() -> None:
    assert adopted(None, replace(case("a"), gold_answer="That.")) is None
    assert adopted(None, replace(case("a"), approved_by="")) is None
