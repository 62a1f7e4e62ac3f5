"""The cause of an incident, by its findings and changes."""

from __future__ import annotations

import pytest

from alerts.incidents.cause import cause
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.notice import Cause, ChangeKind
from ragvigil.model.score import Layer
from tests.unit.alerts.incident_values import finding, notice

R, G, C = Cause.RETRIEVAL, Cause.GENERATION, Cause.CORPUS


def low(signal: str, layer: Layer, *causes: Cause, audit: bool = False) -> Finding:
    kind = FindingKind.AUDIT if audit else FindingKind.DRIFT
    return finding(signal, signal=signal, layer=layer, causes=causes, kind=kind)


RELEVANCE = low("context_relevance", Layer.RETRIEVAL)
GROUNDED = low("groundedness", Layer.GENERATION)
TESTED = low("groundedness", Layer.GENERATION, G, audit=True)
INJECTED = low("injected_context:failed", Layer.CROSS_CUTTING)
UTILIZATION = low("chunk_utilization", Layer.RETRIEVAL)
COVERAGE = low("citation_coverage", Layer.GENERATION)
ATTRIBUTION = low("chunk_attribution", Layer.RETRIEVAL)


@pytest.mark.parametrize(
    ("findings", "kinds", "expected"),
    [
        ([RELEVANCE], [], R),
        ([RELEVANCE, GROUNDED], [], R),
        ([RELEVANCE, COVERAGE], [], R),
        ([RELEVANCE], [ChangeKind.DOCUMENTS], C),
        ([RELEVANCE], [ChangeKind.REINDEXED], R),
        ([RELEVANCE], [ChangeKind.PROMPT], None),
        ([RELEVANCE], [ChangeKind.RELEASE], R),
        ([RELEVANCE], [ChangeKind.PROMPT, ChangeKind.RECHUNKED], R),
        ([GROUNDED], [], None),
        ([TESTED], [], G),
        ([TESTED], [ChangeKind.DOCUMENTS], None),
        ([GROUNDED], [ChangeKind.LLM_MODEL], G),
        ([GROUNDED], [ChangeKind.LLM_MODEL, ChangeKind.RECHUNKED], None),
        ([TESTED, RELEVANCE], [], G),
        ([INJECTED], [], C),
        ([INJECTED, RELEVANCE], [], C),
        ([UTILIZATION], [ChangeKind.PROMPT], G),
        ([UTILIZATION], [ChangeKind.TOP_K], R),
        ([UTILIZATION, COVERAGE], [], G),
        ([ATTRIBUTION], [], G),
        ([INJECTED, COVERAGE], [], C),
        ([INJECTED, COVERAGE], [ChangeKind.PROMPT], None),
        ([], [ChangeKind.PROMPT], None),
    ],
)
def test_findings_and_changes_name_a_cause_where_they_agree(
    findings: list[Finding], kinds: list[ChangeKind], expected: Cause | None
) -> None:
    changes = [notice(str(place), 0, kind) for place, kind in enumerate(kinds)]
    assert cause(findings, changes) is expected
