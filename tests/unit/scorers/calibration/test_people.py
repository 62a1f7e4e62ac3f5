"""How far people agree who labelled the same answers."""

from __future__ import annotations

from ragvigil.store.scores.labels import Label
from scorers.calibration.kappa import kappa_with_interval
from scorers.calibration.people import PeopleMeasure, between_people

BARS = {"groundedness": 0.8}


def label(number: int, labeller: str, value: float | None, word: str = "", **more: str) -> Label:
    return Label(
        label_id=f"{number}{labeller}{word}",
        rubric=more.get("rubric", "groundedness"),
        trace_id=f"{number:032x}",
        time_unix_nano=1,
        value=value,
        label=word,
        labeller=labeller,
    )


def test_answers_of_one_person_measure_nobody() -> None:
    assert between_people([label(1, "ada", 1.0), label(2, "bob", 1.0)], BARS) == []
    assert between_people([label(1, "", 1.0), label(1, "", 0.0, "x")], BARS) == []


def test_values_are_compared_as_pass_and_fail_and_the_newest_counts() -> None:
    labels = [label(1, "ada", 0.9), label(1, "bob", 0.8), label(1, "bob", 0.1, "old")]
    (measured,) = between_people(labels, BARS)
    assert (measured.answers, measured.agreement) == (1, 1.0)
    (measured,) = between_people([label(1, "ada", 0.9), label(1, "bob", 0.7)], BARS)
    assert measured.agreement == 0.0


def test_kappa_is_that_of_the_pairs_in_whatever_order_labels_come() -> None:
    ada = [1.0, 1.0, 0.0, 0.0, 1.0, 0.0]
    bob = [1.0, 0.0, 0.0, 0.0, 1.0, 1.0]
    labels = [
        each
        for number, (first, second) in enumerate(zip(ada, bob, strict=True))
        for each in (label(number, "ada", first), label(number, "bob", second))
    ]
    wanted = PeopleMeasure(
        rubric="groundedness", answers=6, agreement=4 / 6, kappa=kappa_with_interval(ada, bob)
    )
    assert between_people(labels, BARS) == [wanted]
    assert between_people(reversed(labels), BARS) == [wanted]


def test_three_people_are_three_pairs_and_words_are_compared_as_words() -> None:
    labels = [
        label(1, name, None, word, rubric="refusal")
        for name, word in (("ada", "refused"), ("bob", "refused"), ("cy", "answered"))
    ]
    (measured,) = between_people(labels, {})
    assert (measured.rubric, measured.answers) == ("refusal", 1)
    assert round(measured.agreement, 3) == 0.333
