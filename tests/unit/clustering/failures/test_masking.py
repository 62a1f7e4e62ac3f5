"""Masking removes a reason's topic and keeps why the record failed."""

from __future__ import annotations

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clustering.failures.masking
from clustering.failures.masking import MARK, masked


def test_the_examples_hold() -> None:
    assert doctest.testmod(clustering.failures.masking).failed == 0


@pytest.mark.parametrize(
    ("reason", "plain"),
    [
        ("quote not found in chunk refund-02#1", "quote not found in chunk it"),
        ("quote not found in chunk a-1; quote not found in chunk b_2; and 3 more",
         "quote not found in chunk it; and it more"),
        ("only 5 chunks, but marker [7] cites one", "only it chunks, but marker [it] cites one"),
        ("2 of 5 chunks repeat another", "it of it chunks repeat another"),
        ("says “within 30 days” and costs $4.50", "says it and costs it"),
        ("HTTP 503: https://api.example.com/v1 is down", "HTTP it: it is down"),
        ("the user's answer doesn't cite", "the user's answer doesn't cite"),
        ("a well-known near-duplicate", "a well-known near-duplicate"),
        ("retrieval returned nothing", "retrieval returned nothing"),
    ],
)  # fmt: skip
def test_ids_numbers_and_quotes_are_masked(reason: str, plain: str) -> None:
    assert masked(reason, None) == plain


@pytest.mark.parametrize(
    ("reason", "question"),
    [
        ("the reply invents a deadline for refunds", "When is my refund due?"),
        ("the reply invents a deadline for deliveries", "Is delivery late?"),
        ("the reply invents a deadline for VAT", "Who pays VAT?"),
        ("the reply invents a deadline for an Überweisung", "Wann kommt die Überweisung?"),
        ("the reply invents a deadline for доставки", "Когда доставка?"),
    ],
)
def test_reasons_of_one_cause_are_alike_whatever_the_topic(reason: str, question: str) -> None:
    assert masked(reason, question) in (
        f"the reply invents a deadline for {MARK}",
        f"the reply invents a deadline for an {MARK}",
    )


def test_the_words_of_causes_stay_though_the_question_uses_them() -> None:
    reason = "the answer cites the wrong source"
    assert masked(reason, "Why is the answer wrong, and which source is cited?") == reason


def test_another_cause_of_the_same_topic_stays_another() -> None:
    question = "How long does a refund take?"
    assert masked("refund deadline invented", question) != masked("refund refused", question)


@given(st.text(), st.none() | st.text())
def test_masking_is_total(reason: str, question: str | None) -> None:
    assert isinstance(masked(reason, question), str)


@given(st.text(alphabet="aAbc0159 -#:/'\"“”;,.", max_size=60))
def test_no_digit_is_left(reason: str) -> None:
    assert not any(letter.isdecimal() for letter in masked(reason, None))
