"""What the judge says about itself: its section of the status, and lines for people."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragvigil.llm.advice import WAYS_OUT
from ragvigil.llm.outcome import FailureKind
from ragvigil.llm.spending import Pot, Spending

if TYPE_CHECKING:
    from ragvigil.llm.budget import Budget
    from ragvigil.llm.health import Health
    from scorers.judge.pace import Thinning
    from scorers.judge.quotes import QuoteTally
    from scorers.judge.settings import JudgeSettings

THIN = 0.5
"""Below this share of the sampling rates, people are told which limit lowers them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeReport:
    """A judge at work; `quotes` is None, and nothing is thinned, until its thread has begun."""

    settings: JudgeSettings
    waiting: int
    health: Health
    budget: Budget
    quotes: QuoteTally | None
    thinning: Thinning

    def status(self) -> dict[str, object]:
        """Model, rate, queue, failures, budget and quotes."""
        return {
            "on": self.settings.is_sampling,
            "model": self.settings.model,
            "sample_rate": self.settings.sample_rate,
            "waiting": self.waiting,
            **self.health.status(),
            "spent_today": spent_today(self.budget, self.settings),
            "thinning": self.thinning.factor,
            "thinning_by_budget": self.thinning.budget,
            "thinning_by_pace": self.thinning.pace,
            **(self.quotes.status() if self.quotes else {}),
        }

    def lines(self) -> list[str]:
        """What somebody should know: failures and their end, rates too high, wrong quotes.

        With such a line comes the summary; empty while all is well.
        """
        lines = self.health.lines()
        if self.thinning.pace < THIN:
            lines.append(
                f"the judge cannot keep up with its sample: {self.waiting:,} answers wait, and it "
                f"gets {self.thinning.pace:.0%}; a higher [judge] concurrency may help"
            )
        if self.health.is_budget_spent() or self.thinning.budget < THIN:
            lines.append(
                f"the judge's budget is too small: {self.thinning.budget:.0%} of the sample is "
                f"judged; {spent_today(self.budget, self.settings)} spent today; "
                f"{WAYS_OUT[FailureKind.BUDGET]}"
            )
        misquotes = self.quotes.warning() if self.quotes else ""
        lines += [misquotes] if misquotes else []
        return [*lines, self._summary()] if lines else []

    def _summary(self) -> str:
        status = self.status()
        kinds = ", ".join(self.health.kinds()) or "none"
        return (
            f"the judge so far: {status['calls']} questions, without an answer {kinds}; "
            f"{status['spent_today']} spent today; thinning {self.thinning.factor:.2f}"
        )


def spent_today(budget: Budget, settings: JudgeSettings) -> str:
    """Money and tokens of today, each with its limit: `1.20 of 5.00 US$, 48,210 tokens`."""
    try:
        spent = sum((budget.spent(pot) for pot in Pot), start=Spending())
    except sqlite3.Error:
        return "unknown"
    most_money, most_tokens = settings.daily_money, settings.daily_tokens
    money = f"{spent.money:,.2f}" + ("" if most_money is None else f" of {most_money:,.2f}")
    tokens = f"{spent.tokens:,}" + ("" if most_tokens is None else f" of {most_tokens:,}")
    return f"{money} US$, {tokens} tokens"
