"""The layer that a rubric, a metric or a failure reading points at. Pure.

>>> layer_of("recall@10", {}), layer_of("groundedness", {"groundedness": Layer.GENERATION})
('retrieval', 'generation')
"""

from __future__ import annotations

from collections.abc import Mapping

from ragvigil.evaluation.gate.pairs import ANSWERED, PASSED
from ragvigil.evaluation.result import COSTS, Reading
from ragvigil.model.score import Layer

RANKING = ("recall@", "hit@", "precision@", "ndcg@", "map@", "mrr", "rerank_gain", "gold_precision",
           "gold_covered")  # fmt: skip
"""How the names of ranking metrics begin; rubrics say their layer themselves."""
CORPUS = frozenset({"gold_unchanged", "injected_context"})
"""What tells of the documents: they say something else, or carry orders to the model."""
PARTS = {
    Reading.TARGET_ERROR: "target",
    Reading.GOLD_CHANGED: "corpus",
    Reading.NOT_RETRIEVED: "retrieval",
    Reading.LOST_BY_RERANKER: "retrieval (reranker)",
    Reading.CUT_FROM_CONTEXT: "retrieval (context)",
    Reading.REFUSED_WRONGLY: "generation",
    Reading.ANSWERED_WRONGLY: "generation",
    Reading.PERTURBATION_WON: "generation",
    Reading.CONTRADICTED: "generation",
    Reading.NOT_USED: "generation",
    Reading.CITATION_WRONG: "generation (citations)",
    Reading.RUBRIC_FAILED: "generation",
    Reading.JUDGE_DISAGREES: "judge",
}


def layer_of(rubric: str, layers: Mapping[str, Layer]) -> str:
    """The layer of a rubric by the rubrics' own files; generation where nothing says otherwise."""
    rubric = rubric.removesuffix(PASSED)
    if rubric == ANSWERED or rubric in COSTS:
        return PARTS[Reading.TARGET_ERROR]
    if rubric in CORPUS:
        return PARTS[Reading.GOLD_CHANGED]
    if rubric in layers:
        return layers[rubric].value
    return Layer.RETRIEVAL.value if rubric.startswith(RANKING) else Layer.GENERATION.value


def part_of(reading: Reading) -> str:
    """What a failed case's reading points at."""
    return PARTS[reading]
