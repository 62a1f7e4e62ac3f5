"""Answers with their scores and with what users said of them, for the report on rubrics."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

SILENT_ANSWERS = 20_000
"""Answers of which users said nothing are drawn until about this many: more make no interval
narrower, as complaints are rare."""
MOST_ANSWERS = 100_000
LAST_SECOND = 2**32 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class UserAnswer:
    """An answer of the uniform sample.

    `signals` says, for each kind of feedback (`thumbs_down`, `escalation`, `correction`, `retry`)
    that somebody gave, whether it was bad. `question` is equal for equal questions. `weight` is how
    many answers this one stands for, 1 or more.
    """

    service: str
    environment: str
    question: int
    signals: Mapping[str, bool]
    scores: Mapping[str, float]
    weight: float


def read(store: Store, since: int, service: str = "") -> list[UserAnswer]:
    """Answers since a time (seconds), of a service or of all.

    All that users said something of are among them, up to MOST_ANSWERS, and a sample of the others.
    What was said of a session is about no single answer. Raises StoreError.
    """
    asked = {"since": since, "until": LAST_SECOND, "service": service}
    stored = int(store.read("answers_counted", asked)[0]["answers"])
    share = min(1.0, SILENT_ANSWERS / stored) if stored else 1.0
    parameters = {**asked, "per_million": round(share * 1e6), "limit": MOST_ANSWERS}
    return [
        UserAnswer(
            service=row["service"],
            environment=row["environment"],
            question=int(row["question"]),
            signals={kind: bool(bad) for kind, bad in zip(row["kinds"], row["bad"], strict=True)},
            scores=dict(zip(row["rubrics"], row["values"], strict=True)),
            weight=1.0 if row["kinds"] else 1 / share,
        )
        for row in store.read("user_answers", parameters)
    ]
