"""Marks the findings that rest on a retired judge: they are shown, and page nobody. Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from alerts.signals.catalogue import OWN_LIMIT
from ragvigil.model.finding import Finding, FindingKind

MARK = "; its judge is retired"
JUDGED_KINDS = frozenset({FindingKind.AUDIT, FindingKind.DRIFT})
"""Kinds that read a judge's scores; other detectors read code and local models."""


def marked(finding: Finding, retired: Collection[str]) -> Finding:
    """The finding, marked if it rests on a rubric in `retired`, else without a mark of earlier."""
    is_judged = finding.kind in JUDGED_KINDS or finding.finding_id.startswith(OWN_LIMIT)
    is_untrusted = is_judged and finding.signal.partition(":")[0] in retired
    words = finding.words.removesuffix(MARK)
    return replace(
        finding, is_untrusted=is_untrusted, words=words + MARK if is_untrusted else words
    )
