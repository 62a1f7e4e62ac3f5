"""Near-duplicates, leaks into the prompt, and what the redactor would mark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from clustering.golden.check import TextTools, check
from clustering.golden.leakage import PromptMessage, leaks
from clustering.golden.near_duplicates import near_duplicates
from clustering.golden.settings import GoldenSettings
from ragvigil.model.golden import ExpectedFact, GoldenCase
from scorers.golden import question_key


def case(name: str, question: str, **more: object) -> GoldenCase:
    return GoldenCase(case_id=name, question=question, **more)  # type: ignore[arg-type]


def found_near(question: str, *others: str) -> list[tuple[str, str]]:
    listed = [case(f"c{place}", question) for place, question in enumerate(others)]
    duplicates = near_duplicates(
        case("own", question), listed, question_key, letters=0.85, meaning=0.9
    )
    return [(duplicate.case_id, duplicate.by) for duplicate in duplicates]


def test_the_same_words_are_the_same_question() -> None:
    assert found_near("How long?", "how LONG", "Why?") == [("c0", "same")]


def test_a_word_more_or_turned_around_is_near_and_another_question_is_not() -> None:
    question = "How long does a card refund take?"
    assert found_near(
        question,
        "How long does a card refund usually take?",
        "a card refund take how long does",
        "Which shops are open on Sunday?",
    ) == [("c1", "letters"), ("c0", "letters")]


def test_a_case_is_not_its_own_duplicate() -> None:
    assert (
        near_duplicates(
            case("a", "Why?"), [case("a", "Why?")], question_key, letters=0.5, meaning=0.5
        )
        == []
    )


def test_questions_of_one_meaning_are_near_where_vectors_are_known() -> None:
    vectors = {"When do I get my money back?": (0, 1), "How long do refunds take?": (0.1, 0.995)}

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        return np.array([vectors.get(text, (1, 0)) for text in texts], dtype=np.float32)

    asked_now, others = case("own", "When do I get my money back?"), [
        case("a", "How long do refunds take?"), case("b", "Where is the shop?")
    ]  # fmt: skip
    duplicates = near_duplicates(
        asked_now, others, question_key, letters=0.85, meaning=0.9, embed=embed
    )
    assert [(duplicate.case_id, duplicate.by, duplicate.likeness) for duplicate in duplicates] == [
        ("a", "meaning", 0.995)
    ]


CHUNK = "Card refunds take five to seven business days."
ONE = case(
    "own",
    "How long does a card refund take?",
    gold_answer=CHUNK,
    expected_facts=(ExpectedFact(text="Weekends are not business days"), ExpectedFact(text="Five")),
)
QUESTION = PromptMessage(role="user", text=f"Context: {CHUNK}\n\nQuestion: {ONE.question}")


def where(*prompt: PromptMessage) -> list[tuple[str, str]]:
    return [(leak.what, leak.where) for leak in leaks(ONE, prompt, [CHUNK], question_key)]


def test_the_question_and_the_chunks_of_the_last_message_are_no_leak() -> None:
    assert where(PromptMessage(role="system", text="Answer shortly."), QUESTION) == []
    assert where(PromptMessage(role="system", text=f"Use this: {CHUNK}"), QUESTION) == []


def test_an_example_that_asks_and_answers_the_case_is_a_leak() -> None:
    shot = (
        PromptMessage(role="user", text=ONE.question.upper()),
        PromptMessage(role="assistant", text="5 days"),
    )
    assert where(*shot, QUESTION) == [("question", "example")]


def test_a_fact_in_the_system_prompt_is_a_leak() -> None:
    said = "You are kind. weekends are NOT business days! Be brief."
    assert where(PromptMessage(role="system", text=said), QUESTION) == [("fact", "system prompt")]


def test_a_question_asked_twice_in_one_prompt_is_a_leak() -> None:
    text = f"Example: {ONE.question} Soon.\n{QUESTION.text}"
    assert where(PromptMessage(role="user", text=text)) == [("question", "prompt")]


def test_words_within_words_and_short_texts_are_no_leak() -> None:
    assert where(PromptMessage(role="system", text="Five"), QUESTION) == []
    assert (
        where(PromptMessage(role="system", text="reweekends are not business daystars"), QUESTION)
        == []
    )


def marked(text: str, marks: Counter[str]) -> str:
    marks.update(["email"] * text.count("@"))
    return text.replace("@", "⟪email⟫")


def test_a_check_says_what_blocks_and_what_warns() -> None:
    known = TextTools(normalise=question_key, redact=marked)
    bad = case("own", "How long?", more={"owner": {"mail": ["ada@example.org"]}})
    checks = check(bad, [case("c1", "how long")], None, (), known, GoldenSettings())
    assert checks.blocking[0].startswith("nothing says what a good answer needs")
    assert checks.blocking[1] == "holds what is redacted: email"
    assert checks.warnings == ["asks nearly what c1 asks: how long"]
    assert "no stored span" in checks.unseen
