"""Records from before a change are matched by their questions, in any language."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.audits.matching import comparable, least_alike, likeness, match, parts

REFUNDS = ["How long does a refund take?", "When is my refund paid?", "Refund to another card?"]
PARCELS = ["Where is my parcel?", "Can the parcel be left at the door?", "Parcel is late"]


@pytest.mark.parametrize(
    ("asked", "like", "unlike"),
    [
        ("how long do refunds take", "How long does a refund take?", "Where is my parcel?"),
        ("退货需要多长时间", "退货要多长时间到账", "如何修改收货地址"),
        ("返品の送料は誰が払いますか", "返品するときの送料", "パスワードを忘れました"),
        ("كم يستغرق استرداد المبلغ", "متى يتم استرداد المبلغ", "أين طلبي الآن"),
        ("Rückerstattungen dauern wie lange", "Dauer der Rückerstattung", "Passwort vergessen"),
    ],
)
def test_a_question_is_more_like_one_of_its_topic(asked: str, like: str, unlike: str) -> None:
    ((near, far),) = likeness([asked], [like, unlike])
    assert near > far


def test_case_and_punctuation_do_not_count_and_no_words_are_like_nothing() -> None:
    assert parts("REFUND!") == parts("refund")
    assert likeness(["?!"], ["?!"]).tolist() == [[0.0]]


@given(st.lists(st.text(max_size=30), max_size=6), st.lists(st.text(max_size=30), max_size=6))
def test_likeness_lies_within_its_range(after: list[str], before: list[str]) -> None:
    alike = likeness(after, before)
    assert alike.shape == (len(after), len(before))
    assert ((alike >= 0) & (alike <= 1 + 1e-5)).all()


@given(
    st.integers(0, 8).flatmap(
        lambda rows: st.lists(
            st.lists(st.floats(0, 1, width=32), min_size=5, max_size=5),
            min_size=rows,
            max_size=rows,
        )
    )
)
def test_each_record_is_used_once_and_as_many_as_can_be_have_one(table: list[list[float]]) -> None:
    alike = np.array(table, dtype=np.float32).reshape(len(table), 5)
    found = match(alike, ["/a"] * len(table), ["/a"] * 5)
    assert len(found) == min(len(table), 5)
    assert (
        len({matched.after for matched in found})
        == len({matched.before for matched in found})
        == len(found)
    )
    assert all(matched.likeness == alike[matched.after, matched.before] for matched in found)


def test_the_most_alike_go_first() -> None:
    alike = np.array([[0.9, 0.8], [0.95, 0.1]], dtype=np.float32)
    found = match(alike, ["/a", "/a"], ["/a", "/a"])
    assert [(matched.after, matched.before) for matched in found] == [(0, 1), (1, 0)]


def test_a_record_of_the_same_route_goes_before_one_that_is_a_little_more_alike() -> None:
    alike = np.array([[0.5, 0.8]], dtype=np.float32)
    assert match(alike, ["/a"], ["/a", "/b"])[0].before == 0
    assert match(alike, ["/c"], ["/a", "/b"])[0].before == 1


def test_a_topic_that_nobody_asked_about_before_is_not_compared() -> None:
    before = (REFUNDS + PARCELS) * 4
    alike = likeness([*REFUNDS, "Wie kündige ich mein Abonnement"], before)
    assert comparable(alike, least_alike(before)).tolist() == [True, True, True, False]


def test_where_most_questions_are_new_all_are_compared_as_they_are() -> None:
    before = (REFUNDS + PARCELS) * 4
    alike = likeness(["Wie kündige ich", "Zahlung per Rechnung", REFUNDS[0]], before)
    assert comparable(alike, least_alike(before)).all()


def test_where_questions_are_never_alike_none_is_new() -> None:
    rng = np.random.default_rng(3)

    def questions(count: int) -> list[str]:
        letters = [chr(code) for code in range(0x4E00, 0x5E00)]
        return ["".join(rng.choice(letters, 6)) for _ in range(count)]

    before = questions(40)
    assert comparable(likeness(questions(40), before), least_alike(before)).mean() > 0.5


def test_nothing_from_before_is_like_nothing() -> None:
    assert least_alike([]) == 0
    assert match(likeness(["a question"], []), ["/a"], []) == []
