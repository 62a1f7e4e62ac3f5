"""Two runs of a golden set, made up: values as scorers give them, with the noise of a second run.

A case has a difficulty of its own, so that its two values belong together. What a second run of an
unchanged service changes: some answers are made anew (`STEADY`, `LIVELY`), a judge errs in single
claims (`JUDGE_ERRS`), an order of equal chunks is another, a request fails.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random

from ragvigil.evaluation.result import Result
from ragvigil.evaluation.result_file import Header, Results

TOPICS = ("refunds", "shipping", "orders", "accounts", "warranty", "stores")
STEADY, LIVELY = 0.15, 0.4
"""Share of the answers that a second run makes anew, claim by claim; the rest stay as they are."""
JUDGE_ERRS = 0.03
"""Share of the claims of which a judge says the opposite."""
REORDERED, FAILED = 0.02, 0.003
UNANSWERABLE = 0.25
"""Share of the set that must be refused, beside the cases that have an answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeCase:
    """What stays of a case from run to run: how many claims and chunks, and how hard each is."""

    case_id: str
    group: str
    slices: Mapping[str, tuple[str, ...]]
    is_answerable: bool
    supported: tuple[float, ...]
    rank: int
    refuses: float


def make_cases(n: int, chance: Random) -> list[MadeCase]:
    """`n` cases with an answer, and the unanswerable ones; a tenth are paraphrases of others."""
    return [_case(place, place < n, chance) for place in range(n + round(UNANSWERABLE * n))]


def run_set(cases: list[MadeCase], answers: int, seed: int, anew: float = STEADY) -> Results:
    """A run of an unchanged service. `answers` seeds what all runs share, `seed` this run."""
    rows = [
        _result(case, Random(f"{answers} {case.case_id}"), Random(f"{seed} {case.case_id}"), anew)
        for case in cases
    ]
    return Results(
        header=Header(set_name="made", set_hash="1", target="made", seed=seed), results=tuple(rows)
    )


def fallen(
    results: Results, rubric: str, size: float, chance: Random, *, topic: str = ""
) -> Results:
    """The run with a rubric lower by `size` in the mean, as it falls: some cases lose it all.

    With a topic only its cases lose it; their own mean then falls by `size`.
    """
    hit = [
        each for each in results.results
        if each.values.get(rubric) is not None and (not topic or topic in each.slices["topic"])
    ]  # fmt: skip
    mean = sum(each.values[rubric] or 0.0 for each in hit) / len(hit)
    keys = {each.key for each in hit if chance.random() < size / mean}
    return replace(
        results,
        results=tuple(
            replace(each, values={**each.values, rubric: 0.0}) if each.key in keys else each
            for each in results.results
        ),
    )


def _case(place: int, is_answerable: bool, chance: Random) -> MadeCase:
    name = f"case-{place:04}"
    share = chance.betavariate(9, 1.2)
    population = chance.choices(("production", "adversarial", "edge"), (40, 30, 30))[0]
    is_paraphrase = place > 0 and chance.random() < 0.1
    return MadeCase(
        case_id=name,
        group=f"case-{place - 1:04}" if is_paraphrase else name,
        slices={
            "population": (population,),
            "topic": (chance.choice(TOPICS),),
            "language": (chance.choices(("en", "de"), (80, 20))[0],),
        },
        is_answerable=is_answerable,
        supported=(share,) * chance.randint(1, 6),
        rank=min(50, int(chance.expovariate(0.35))),
        refuses=0.95 if chance.random() < 0.8 else 0.3,
    )


def _result(case: MadeCase, shared: Random, own: Random, anew: float) -> Result:
    answer = own if own.random() < anew else shared
    failed = own.random() < FAILED
    values = {} if failed else _values(case, answer, own)
    return Result(
        case_id=case.case_id,
        group=case.group,
        slices=case.slices,
        values=values,
        error="answered 503" if failed else "",
    )


def _values(case: MadeCase, answer: Random, own: Random) -> dict[str, float | None]:
    refuses = answer.random() < case.refuses
    if not case.is_answerable:
        return {"refusal_unanswerable": float(refuses)}
    claims = [answer.random() < share for share in case.supported]
    judged = [is_supported != (own.random() < JUDGE_ERRS) for is_supported in claims]
    rank = case.rank + (own.choice((-1, 1)) if own.random() < REORDERED else 0)
    relevance = 1 if answer.random() < 0.8 else 0.75
    return {
        "groundedness": sum(judged) / len(judged),
        "citation_validity": 1 - (answer.random() < 0.08) / len(claims),
        "citation_coverage": sum(answer.random() < 0.9 for _ in claims) / len(claims),
        "answer_relevance": relevance - 0.25 * (own.random() < 3 * JUDGE_ERRS),
        "answer_complete_text": float(answer.random() < 0.99),
        "mrr": 1 / (max(0, rank) + 1),
        **{f"recall@{k}": float(rank < k) for k in (1, 3, 5, 10, 50)},
    }
