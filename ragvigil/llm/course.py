"""How far one question has come."""

from __future__ import annotations

from dataclasses import dataclass, field

from ragvigil.llm.outcome import Failure, Setback, Usage
from ragvigil.llm.reply_form import ReplyForm


@dataclass(slots=True)
class Course:
    """The attempts at one question; `ends` is its deadline on the loop's clock.

    `asked_in` is the form of reply of its next attempt; None is the endpoint's choice.
    """

    ends: float
    attempts: int = 0
    retries: int = 0
    problem: str = ""
    asked_in: ReplyForm | None = None
    usage: Usage = field(default_factory=Usage)

    def failed(self, setback: Setback) -> Failure:
        """The question's failure, with what was spent on it."""
        return Failure(
            kind=setback.kind, detail=setback.detail, usage=self.usage, attempts=self.attempts
        )
