"""The search for a pattern that tells an issue's members from passing answers."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from scorers.guards.search import FoundPattern, Text, best_pattern, in_search
from scorers.pattern_table import MOST_CHARACTERS, PatternField

WORDS = ("refund", "card", "bank", "order", "parcel", "invoice", "office", "letter", "account")


def texts(make: Callable[[random.Random], str], count: int, seed: int) -> list[Text]:
    dice = random.Random(seed)
    return [Text(trace_id=f"{seed}-{n}", text=make(dice)) for n in range(count)]


def sentence(dice: random.Random) -> str:
    return (
        f"The {dice.choice(WORDS)} takes {dice.randint(2, 30)} days for the {dice.choice(WORDS)}."
    )


def found(bad: Callable[[random.Random], str], good: Callable[[random.Random], str] = sentence,
          members: int = 60) -> FoundPattern | None:  # fmt: skip
    return best_pattern(texts(bad, members, 1), texts(good, 200, 2), PatternField.ANSWER)


@pytest.mark.parametrize(
    ("bad", "good", "words"),
    [
        (lambda d: f"{sentence(d)} Please ask the front desk.", sentence, "please ask the front"),
        (lambda d: f"{sentence(d)} {d.choice(['Call us.', 'Phone them.'])}", sentence, "” or “"),
        (sentence, lambda d: f"{sentence(d)} [{d.randint(1, 5)}]", "no citation marker"),
        (lambda d: sentence(d)[: d.randint(15, 25)], sentence, "an end within a sentence"),
        (lambda d: f"Срок: {d.randint(1, 9)} дней.", sentence, "“срок # дней”"),
        (
            lambda d: f"{d.choice(WORDS)}は{d.randint(1, 99)}日です。",
            sentence,
            "Chinese or Japanese",
        ),
    ],
)
def test_what_separates_is_found_and_named(
    bad: Callable[[random.Random], str], good: Callable[[random.Random], str], words: str
) -> None:
    best = found(bad, good)
    assert best is not None
    assert best.separates, best
    assert words in best.words


def test_figures_are_of_the_half_that_was_not_searched() -> None:
    bad = texts(lambda d: f"{sentence(d)} Call us.", 60, 1)
    best = best_pattern(bad, texts(sentence, 200, 2), PatternField.ANSWER)
    assert best is not None
    assert best.members.answers == sum(not in_search(text.trace_id) for text in bad)
    assert 0 < best.members.answers < 60


def test_answers_that_differ_by_chance_are_not_told_apart() -> None:
    for seed in range(5):
        bad = [
            Text(trace_id=f"{seed} {t.trace_id}", text=t.text) for t in texts(sentence, 24, seed)
        ]
        best = best_pattern(bad, texts(sentence, 200, 99 + seed), PatternField.ANSWER)
        assert best is None or not best.separates, best


def test_phrases_of_long_words_make_a_pattern_that_a_file_may_hold() -> None:
    def wordy(dice: random.Random) -> str:
        kind = dice.choice("abcd")
        return " ".join(kind * 100 + place for place in "vwxyz")

    best = found(wordy, members=200)
    assert best is not None
    assert best.separates, best
    assert 500 < len(best.table.matches) <= MOST_CHARACTERS


def test_few_members_have_no_pattern() -> None:
    assert found(lambda d: f"{sentence(d)} Call us.", members=9) is None
