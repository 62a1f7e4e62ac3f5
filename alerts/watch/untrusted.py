"""Marks the findings that page nobody, because a retired judge or a local model made them. Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from alerts.signals.catalogue import OWN_LIMIT
from ragvigil.model.finding import Finding, FindingKind

RETIRED = "; its judge is retired"
BESIDE = "; the judge's sample pages for it"
JUDGED_KINDS = frozenset({FindingKind.AUDIT, FindingKind.DRIFT})
"""Kinds that read a judge's scores; other detectors read code and local models."""
Place = tuple[str, str, str, str]
"""Service, environment, route, rubric."""


def marked(
    finding: Finding, retired: Collection[str], judged: Collection[Place] = frozenset()
) -> Finding:
    """The finding, marked if somebody else has to page, else without a mark of earlier.

    That is so where it rests on a judge of a rubric in `retired`, or on a local model beside a
    judge that is not: of the two only the judge pages. `judged` says what judges score, and where.
    """
    mark = _mark(finding, retired, judged)
    words = finding.words.removesuffix(RETIRED).removesuffix(BESIDE)
    return replace(finding, is_untrusted=bool(mark), words=words + mark)


def _mark(finding: Finding, retired: Collection[str], judged: Collection[Place]) -> str:
    rubric = finding.signal.partition(":")[0]
    is_retired = rubric in retired
    if finding.is_local:
        place = (finding.service, finding.environment)
        is_beside = all((*place, route, rubric) in judged for route in finding.routes)
        return BESIDE if is_beside and not is_retired else ""
    is_judged = finding.kind in JUDGED_KINDS or finding.finding_id.startswith(OWN_LIMIT)
    return RETIRED if is_judged and is_retired else ""
