"""The possible causes of one finding: by these, findings of one cause find each other.

Which of them made an incident is weighed by all its evidence, in `alerts/verdict`.
"""

from __future__ import annotations

from ragvigil.model.finding import Finding
from ragvigil.model.notice import Cause
from ragvigil.model.score import Layer

ANY = frozenset(Cause)
FOUND = frozenset({Cause.RETRIEVAL, Cause.CORPUS})
BY_RUBRIC = {
    "injected_context": frozenset({Cause.CORPUS}),
    "answer_language": frozenset({Cause.GENERATION}),
    "prompt_relevance": FOUND,
    "rerank_gain": frozenset({Cause.RETRIEVAL}),
    "factual_accuracy": ANY,
    "chunk_attribution": frozenset({Cause.GENERATION}),
    "chunk_utilization": ANY,
    "citation_coverage": frozenset({Cause.GENERATION}),
    "citation_validity": frozenset({Cause.GENERATION}),
    "answer_complete_text": frozenset({Cause.GENERATION}),
}
"""Rubrics whose possible causes differ from those of their layer."""


def possible(finding: Finding) -> frozenset[Cause]:
    """The possible causes of one finding; every cause where it does not narrow them.

    A drop of a generation rubric alone narrows nothing: whether retrieval is steady must be tested.

    >>> from ragvigil.model.finding import FindingKind
    >>> low = Finding(finding_id="1", kind=FindingKind.DRIFT, service="desk", environment="",
    ...               routes=(), signal="context_relevance", layer=Layer.RETRIEVAL)
    >>> sorted(possible(low))
    [<Cause.CORPUS: 'corpus'>, <Cause.RETRIEVAL: 'retrieval'>]
    """
    if finding.causes:
        return frozenset(finding.causes)
    by_rubric = BY_RUBRIC.get(finding.signal.partition(":")[0])
    if by_rubric is not None:
        return by_rubric
    return FOUND if finding.layer is Layer.RETRIEVAL else ANY
