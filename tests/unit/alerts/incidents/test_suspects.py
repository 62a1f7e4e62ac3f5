"""The direction in which a number moved, and whether that is worse."""

from __future__ import annotations

import pytest

from alerts.incidents.suspects import is_good
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.score import Layer


def moved(signal: str, reference: float, value: float, kind: FindingKind) -> Finding:
    return Finding(
        finding_id="1",
        kind=kind,
        service="desk",
        environment="",
        routes=("/ask",),
        signal=signal,
        layer=Layer.GENERATION,
        value=value,
        reference=reference,
    )


@pytest.mark.parametrize(
    ("signal", "reference", "value", "expected"),
    [
        ("seconds_total", 2.0, 0.5, True),
        ("seconds_total", 0.5, 2.0, False),
        ("cost_usd", 0.02, 0.01, True),
        ("chunk_utilization", 0.4, 0.6, True),
        ("chunk_utilization", 0.6, 0.4, False),
        ("citations", 2.0, 3.0, True),
        ("answer_words", 40.0, 20.0, False),
        ("answer_words", 20.0, 40.0, False),
    ],
)
def test_a_move_is_good_only_towards_the_better_side(
    signal: str, reference: float, value: float, *, expected: bool
) -> None:
    assert is_good(moved(signal, reference, value, FindingKind.MOVED)) is expected


def test_what_is_broken_is_never_good() -> None:
    assert not is_good(moved("refusal:refused", 0.4, 0.1, FindingKind.BROKEN))
