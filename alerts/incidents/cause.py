"""What an incident can be pinned to: retrieval, generation or the corpus; None where undetermined.

Two witnesses: the findings, by the rubrics that dropped, and the changes that precede them. Where
they contradict each other, nobody knows, and that is what is said.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import reduce

from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.notice import CAUSES, Cause, Notice
from ragvigil.model.score import Layer

CHANGED = FindingKind.CHANGED
ANY = frozenset(Cause)
FOUND = frozenset({Cause.RETRIEVAL, Cause.CORPUS})
BY_RUBRIC = {
    "injected_context": frozenset({Cause.CORPUS}),
    "factual_accuracy": frozenset({Cause.CORPUS}),
    "chunk_attribution": frozenset({Cause.GENERATION}),
    "chunk_utilization": ANY,
    "citation_coverage": frozenset({Cause.GENERATION}),
    "citation_validity": frozenset({Cause.GENERATION}),
    "answer_complete_text": frozenset({Cause.GENERATION}),
}
"""Rubrics that say another thing than their layer does."""


def possible(finding: Finding) -> frozenset[Cause]:
    """What can be behind one finding; every cause where it tells nothing.

    A drop of a generation rubric alone tells nothing: whether retrieval stood must be tested.

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


def cause(findings: Collection[Finding], changes: Sequence[Notice]) -> Cause | None:
    """What is behind these findings, after these changes (one rollout: the likeliest one's).

    A finding that is itself a change is no witness beside others.
    """
    found = _by_findings([one for one in findings if one.kind is not CHANGED] or findings)
    changed = _union(frozenset(CAUSES[one.kind]) for one in changes)
    left = found & changed if changed else found
    if left == FOUND and Cause.CORPUS not in _certain(changes):
        return Cause.RETRIEVAL
    return next(iter(left)) if len(left) == 1 else None


def _by_findings(findings: Collection[Finding]) -> frozenset[Cause]:
    """Empty where findings contradict each other."""
    confirmed = [one for one in findings if one.kind is FindingKind.AUDIT and one.causes]
    sets = [possible(one) for one in confirmed or findings]
    told = _common(sets)
    # What was found worse makes answers worse too: generation follows later.
    return told or _common(one for one in sets if one <= FOUND)


def _certain(changes: Iterable[Notice]) -> frozenset[Cause]:
    """Causes of changes that can be one thing only."""
    return _union(frozenset(CAUSES[one.kind]) for one in changes if len(CAUSES[one.kind]) == 1)


def _common(sets: Iterable[frozenset[Cause]]) -> frozenset[Cause]:
    found = list(sets)
    return reduce(frozenset.__and__, found, ANY) if found else frozenset()


def _union(sets: Iterable[frozenset[Cause]]) -> frozenset[Cause]:
    return reduce(frozenset.__or__, sets, frozenset())
