"""The cause of an incident: retrieval, generation or the corpus; None if it is undetermined.

There are two witnesses: the findings, by the rubrics that dropped, and the changes that precede
them. Where these contradict each other, the cause is undetermined.
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
"""Rubrics whose possible causes differ from those of their layer."""


def possible(finding: Finding) -> frozenset[Cause]:
    """The possible causes of one finding; every cause where it does not narrow them.

    A drop of a generation rubric alone narrows nothing: whether retrieval is steady must be tested.

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
    """The cause of these findings, after these changes (those of the likeliest rollout).

    A finding that is itself a change is no witness beside others.
    """
    by_findings = _by_findings(
        [finding for finding in findings if finding.kind is not CHANGED] or findings
    )
    changed = _union(frozenset(CAUSES[change.kind]) for change in changes)
    causes = by_findings & changed if changed else by_findings
    # Corpus needs a change that can be nothing else; otherwise the drop is one of retrieval.
    if causes == FOUND and Cause.CORPUS not in _certain(changes):
        return Cause.RETRIEVAL
    return next(iter(causes)) if len(causes) == 1 else None


def _by_findings(findings: Collection[Finding]) -> frozenset[Cause]:
    """The causes that all findings share; empty where findings contradict each other."""
    confirmed = [
        finding for finding in findings if finding.kind is FindingKind.AUDIT and finding.causes
    ]
    sets = [possible(finding) for finding in confirmed or findings]
    shared = _common(sets)
    # Worse context makes worse answers: where all contradict, findings of generation may only
    # follow from those of retrieval, so these decide.
    return shared or _common(causes for causes in sets if causes <= FOUND)


def _certain(changes: Iterable[Notice]) -> frozenset[Cause]:
    """The causes of those changes that have only one."""
    return _union(
        frozenset(CAUSES[change.kind]) for change in changes if len(CAUSES[change.kind]) == 1
    )


def _common(sets: Iterable[frozenset[Cause]]) -> frozenset[Cause]:
    rest = list(sets)
    return reduce(frozenset.__and__, rest, ANY) if rest else frozenset()


def _union(sets: Iterable[frozenset[Cause]]) -> frozenset[Cause]:
    return reduce(frozenset.__or__, sets, frozenset())
