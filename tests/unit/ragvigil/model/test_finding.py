"""How much a finding harms, which decides what an incident is about."""

from types import SimpleNamespace

import pytest

from ragvigil.model.finding import FindingKind, harm
from ragvigil.model.score import Layer


@pytest.mark.parametrize(
    ("kind", "signal", "reference", "value", "share"),
    [
        (FindingKind.BROKEN, "citation_validity:failed", 0.3, 0.9, 0.9),
        (FindingKind.DRIFT, "citation_validity:failed", 0.05, 0.25, 0.2),
        (FindingKind.DRIFT, "thumbs_down", 0.02, 0.12, 0.1),
        (FindingKind.DRIFT, "groundedness", 0.9, 0.7, 0.2),
        (FindingKind.AUDIT, "groundedness", 0.9, 0.7, 0.2),
        (FindingKind.MOVED, "groundedness:unsupported", 0.05, 0.35, 0.3),
        (FindingKind.MOVED, "groundedness", 0.9, 0.7, 0.2),
        (FindingKind.MOVED, "answer_tokens", 0.9, 0.7, 0.0),
        (FindingKind.DRIFT, "groundedness", 0.7, 0.9, 0.0),
        (FindingKind.DRIFT, "seconds_total:slow", 0.1, 0.5, 0.0),
        (FindingKind.DRIFT, "groundedness", None, 0.5, 0.0),
    ],
)
def test_harm_is_the_share_of_answers_that_are_worse(
    kind: FindingKind, signal: str, reference: float | None, value: float, share: float
) -> None:
    finding = SimpleNamespace(
        kind=kind, signal=signal, layer=Layer.GENERATION, reference=reference, value=value
    )
    assert harm(finding) == pytest.approx(share)
