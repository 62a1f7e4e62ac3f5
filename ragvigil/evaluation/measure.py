"""The values of one answer: every rubric of the daemon, and what only a golden case can say.

| value | what it says |
|---|---|
| a rubric's name | as in production, by the same code |
| `recall@k hit@k precision@k ndcg@k mrr` | where the retriever put the gold chunks |
| `gold_precision` | mean precision at the ranks of gold chunks in the prompt |
| `gold_covered` | share of the gold texts that the prompt holds |
| `gold_unchanged` | 1 where the chunks of the gold ids say what they did, 0 for edited ones |
| `rerank_gain` | nDCG@10 after the reranker minus before |
| `facts_stated` | share of the vital facts that the answer states |
| `equivalence` | cosine of the answer's and the expected answer's vectors |
| `equivalence_judged` | with a judge: entailment both ways (`judging/case_judge.py`) |
| `refusal_answerable` | 1 where it answers what has an answer |
| `refusal_unanswerable` | 1 where it refuses what has none |
| `perturbation` | 1 where what a perturbed case expects holds |
| `latency_seconds input_tokens output_tokens cost_usd` | less is better |

`gold_precision` is the average precision of Ragas' context precision, by gold chunks not by a
judge. Ranking is measured where the target retrieved by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING

import orjson

from ragvigil.evaluation.case import Case, Expects
from ragvigil.evaluation.expectation import unmet
from ragvigil.evaluation.facts import stated
from ragvigil.evaluation.gold_way import GoldWay
from ragvigil.evaluation.reading import Evidence, read
from ragvigil.evaluation.result import Condition, Result
from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score
from scorers.context_recall import ContextRecall
from scorers.golden import Case as GoldenFacts
from scorers.runner import Runner

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

HASH_LETTERS = 16
RANKED = ("recall@", "hit@", "precision@", "ndcg@", "mrr")

Embed = Callable[[Sequence[str]], "NDArray[np.float32] | None"]
"""Unit vectors of texts; None where local models do not run."""
Judge = Callable[[Case, RagRecord], Sequence[Score]]
"""A judge's scores of the answer to a case; none without a judge."""


def no_judge(_case: Case, _record: RagRecord) -> Sequence[Score]:
    """Scores nothing."""
    return ()


@dataclass(frozen=True)
class Measures:
    """What scores an answer: the daemon's scorers, local vectors and a judge where there are."""

    runner: Runner
    embed: Embed = lambda _: None
    judge: Judge = no_judge

    @cached_property
    def fails_below(self) -> Mapping[str, float]:
        """By rubric, the value under which an answer fails."""
        return self.runner.fails_below


def measured(result: Result, case: Case, record: RagRecord | None, by: Measures) -> Result:
    """The result with its values, labels and reading; `record` is None where nothing answered."""
    if record is None:
        reading, why = read(Evidence(case=case, error=result.error))
        return replace(result, reading=reading, why=why)
    retrieves = result.condition is Condition.RETRIEVED
    way = GoldWay(case.gold if retrieves else (), record)
    scores = [*_own(record, by), *by.judge(case, record)]
    if retrieves and case.gold:
        scores += _recall(case, record)
    values = _values(case, record, scores, way, by)
    labels = {score.rubric: score.label for score in scores if score.label}
    failing = [score for score in scores if score.fails(by.fails_below.get(score.rubric))]
    reading, why = read(
        Evidence(
            case=case,
            way=way,
            values=values,
            labels=labels,
            failing=tuple(failing),
            answer=record.answer or "",
        )
    )
    return replace(
        result,
        values=values,
        labels=labels,
        failing=tuple(sorted({score.rubric for score in failing})),
        reading=reading,
        why=why,
        answer=record.answer,
        record_hash=record_hash(record),
    )


def record_hash(record: RagRecord) -> str:
    """The hash of what was asked, retrieved, shown, answered and cited: ids and times are not."""
    chunks = [
        [(chunk.chunk_id, chunk.content) for chunk in listed]
        for listed in (record.retrieved, record.reranked, record.context)
    ]
    cited = [asdict(citation) for citation in record.citations]
    content = orjson.dumps([record.query, record.answer, chunks, cited])
    return sha256(content).hexdigest()[:HASH_LETTERS]


def _own(record: RagRecord, by: Measures) -> list[Score]:
    """The scores of the daemon's scorers; recall is that of the case, not of a golden file."""
    scores = by.runner.score_all(record)
    return [score for score in scores if score.rubric != ContextRecall.rubric]


def _recall(case: Case, record: RagRecord) -> Sequence[Score]:
    golden = GoldenFacts(question=case.question, gold=case.gold)
    # A service may ask its retriever in other words, and these stand in its trace.
    asked = replace(record, query=case.question)
    return Runner([ContextRecall([golden])]).score_all(asked)


def _values(
    case: Case, record: RagRecord, scores: Sequence[Score], way: GoldWay, by: Measures
) -> dict[str, float | None]:
    values: dict[str, float | None] = {score.rubric: score.value for score in scores}
    for score in scores:
        if score.rubric == ContextRecall.rubric and score.value is not None:
            values |= {
                name: float(str(number))
                for name, number in score.details.items()
                if name.startswith(RANKED)
            }
    refusal = next((score.label for score in scores if score.rubric == "refusal"), "")
    return values | {
        "gold_precision": way.precision,
        "gold_covered": way.covered,
        "gold_unchanged": None if way.is_unchanged is None else float(way.is_unchanged),
        "rerank_gain": way.rerank_gain,
        "facts_stated": stated(case.facts, record.answer or ""),
        "equivalence": _equivalence(case, record, by.embed),
        "refusal_answerable": _is(refusal, refusal != "refused", case.has_answer),
        "refusal_unanswerable": _is(refusal, refusal == "refused", not case.has_answer),
        "perturbation": _holds(case, record.answer or "", refusal),
        "latency_seconds": record.latencies.total,
        "input_tokens": record.usage.input_tokens,
        "output_tokens": record.usage.output_tokens,
        "cost_usd": record.cost_usd,
    }


def _is(refusal: str, is_right: bool, applies: bool) -> float | None:
    return float(is_right) if applies and refusal else None


def _equivalence(case: Case, record: RagRecord, embed: Embed) -> float | None:
    if not case.answer or not record.answer:
        return None
    vectors = embed([case.answer, record.answer])
    return None if vectors is None else max(0.0, min(1.0, float(vectors[0] @ vectors[1])))


def _holds(case: Case, answer: str, refusal: str) -> float | None:
    """Whether what a perturbed case expects holds; None where code cannot say.

    That an answer says the same as that to the unperturbed case is seen by the facts of both.
    """
    made = case.perturbation
    if made is None:
        return None
    if made.expects is not Expects.SAME_ANSWER:
        return float(not unmet(made, answer, refusal))
    share = stated(case.facts, answer)
    return None if share is None else float(share == 1)
