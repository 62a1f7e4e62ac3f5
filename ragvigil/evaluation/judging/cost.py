"""What the judge of a run will cost at most, by the texts of the set. Pure.

Answers and chunks are not known before the target is asked: a set that has expected answers and
gold texts says how long they are, and the constants stand in for what it does not have.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from ragvigil.evaluation.case import Case
from ragvigil.evaluation.judging.case_judge import ENTAILMENT
from ragvigil.llm.outcome import Usage
from ragvigil.llm.prices import Price
from ragvigil.model.figures import counted
from scorers.judge.cost import Sizes, estimate
from scorers.judge.job import families
from scorers.judge.settings import JudgeSettings
from scorers.rubric import load_rubrics

ANSWER_CHARACTERS, CHUNK_CHARACTERS = 500.0, 600.0
CHUNKS, RETRIEVED, CITATIONS = 5.0, 10.0, 3.0
MILLION = 1e6


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCost:
    """Calls and tokens of a run, and US dollars; None where the model has no known price."""

    calls: int
    usage: Usage
    dollars: float | None

    def sentence(self, model: str) -> str:
        """The estimate in a sentence."""
        tokens = ((self.usage.input_tokens or 0) + (self.usage.output_tokens or 0)) / MILLION
        money = "its price is not known" if self.dollars is None else f"${self.dollars:,.2f}"
        return (
            f"the judge {model} is asked in up to {counted(self.calls, 'call')}, about "
            f"{tokens:.2f} million tokens, {money}; what it said before of the same texts is kept"
        )


def run_cost(cases: Sequence[Case], settings: JudgeSettings, price: Price | None) -> RunCost:
    """The estimate for one answer to each of the cases."""
    rubrics = load_rubrics()
    sizes = _sizes(cases)
    costs = estimate(families(rubrics, settings.rubrics), sizes, settings.max_characters)
    expected = sum(bool(case.answer) for case in cases)
    both_ways = estimate(
        families(rubrics, (ENTAILMENT,)),
        replace(sizes, chunk=sizes.answer, chunks=1.0),
        settings.max_characters,
    )
    asked = [(cost, len(cases)) for cost in costs] + [(cost, 2 * expected) for cost in both_ways]
    usage = Usage(
        input_tokens=sum((cost.usage.input_tokens or 0) * times for cost, times in asked),
        output_tokens=sum((cost.usage.output_tokens or 0) * times for cost, times in asked),
    )
    return RunCost(
        calls=sum(cost.calls * times for cost, times in asked),
        usage=usage,
        dollars=None if price is None else price.cost(usage),
    )


def _sizes(cases: Sequence[Case]) -> Sizes:
    answers = [len(case.answer) for case in cases if case.answer]
    chunks = [len(gold.text) for case in cases for gold in case.gold if gold.text]
    return Sizes(
        question=fmean(len(case.question) for case in cases),
        answer=fmean(answers) if answers else ANSWER_CHARACTERS,
        chunk=fmean(chunks) if chunks else CHUNK_CHARACTERS,
        chunks=CHUNKS,
        retrieved=RETRIEVED,
        citations=CITATIONS,
    )
