"""Failing records of a service by day, with known causes and reasons as a judge words them.

Questions are labelled intents (BANKING77, CLINC150). The reasons name words of the question, or its
intent.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.rig.labelled import rows
from ragvigil.model.issue import Failure, FailureKind
from ragvigil.model.score import Layer

CAUSES = Path(__file__).with_name("failing_causes.toml")
WRONG = 0.2
"""Share of reasons that name another cause of the same family."""
BACKGROUND = 0.15
"""Share of failures that share their cause with no other failure."""
BY_INTENT = 0.3
"""Share of reasons that name the topic in other words than the question does: unmasked."""
ROUTES = ("/ask", "/chat", "/search")
DAY_NANOS = 86_400 * 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class Failing:
    """A failing record and its cause, empty for background."""

    failure: Failure
    cause: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """Questions with the intent of each, as words."""

    name: str
    asked: Sequence[tuple[str, str]]


def questions(name: str) -> Questions:
    """The questions of a labelled set that have an intent."""
    asked = [
        (row["question"], row["intent"].replace("_", " "))
        for row in rows(name)
        if row["intent"] != "oos"
    ]
    return Questions(name=name, asked=asked)


def days(
    asked: Questions,
    *,
    seed: int,
    first_day: int,
    count: int,
    per_day: int,
    wording: Sequence[str] = ("said",),
) -> list[Failing]:
    """About `per_day` failures a day; `wording` names the lists of reasons the judge draws from."""
    chance = random.Random(f"{seed} {first_day}")
    table = tomllib.loads(CAUSES.read_text(encoding="utf-8"))
    made = []
    for day in range(first_day, first_day + count):
        for number in range(per_day):
            cause = chance.choice(table["cause"])
            nanos = day * DAY_NANOS + chance.randrange(DAY_NANOS)
            is_background = chance.random() < BACKGROUND
            said, reason = _said(cause, table, is_background, wording, chance)
            failure = _failure(f"{seed}-{day}-{number}", nanos, said, reason, asked, chance)
            made.append(Failing(failure=failure, cause="" if is_background else cause["name"]))
    return sorted(made, key=lambda failing: failing.failure.time_unix_nano)


def _said(
    cause: dict[str, Any],
    table: dict[str, Any],
    is_background: bool,
    wording: Sequence[str],
    chance: random.Random,
) -> tuple[dict[str, Any], str]:
    """The cause whose rubric and label the judge gives, and its reason."""
    if is_background:
        halves = table["background"]
        return cause, f"{chance.choice(halves['first'])} {chance.choice(halves['second'])}"
    same = [
        other for other in table["cause"] if other["family"] == cause["family"] and other != cause
    ]
    said = chance.choice(same) if chance.random() < WRONG else cause
    opening = chance.choice(table["openings"][said["family"]])
    return said, f"{opening} {chance.choice([reason for name in wording for reason in said[name]])}"


def _failure(
    name: str,
    nanos: int,
    said: dict[str, Any],
    reason: str,
    asked: Questions,
    chance: random.Random,
) -> Failure:
    question, intent = chance.choice(asked.asked)
    topic = intent if chance.random() < BY_INTENT else _words(question)
    return Failure(
        trace_id=f"trace-{name}",
        record_id=f"record-{name}",
        time_unix_nano=nanos,
        service="desk",
        environment="prod",
        route=chance.choice(ROUTES),
        kind=FailureKind.RUBRIC,
        family=Layer(said["family"]),
        reason=reason.replace("{topic}", topic),
        rubric=said["rubric"],
        label=said["label"],
        rubrics=(said["rubric"],),
        question=question,
    )


def _words(question: str) -> str:
    """The two longest words of a question, in the question's order."""
    words = question.strip("?.! ").split()
    longest = sorted(words, key=len)[-2:]
    return " ".join(word for word in words if word in longest)
