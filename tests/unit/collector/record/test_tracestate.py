"""Upstream sampling, as tracestate tells it."""

from __future__ import annotations

import pytest

from collector.record.build import records
from collector.record.tracestate import probability
from tests.traces import llm, retriever, span, trace


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("", None),
        ("vendor=x", None),
        ("ot=th:0", 1.0),
        ("ot=th:8", 0.5),
        ("ot=th:c", 0.25),
        ("ot=rv:123;th:e", 0.125),
        ("a=b,ot=p:3;r:5", 0.125),
        ("ot=p:62", 2.0**-62),
        ("ot=p:63", None),
        ("ot=th:", None),
        ("ot=th:xyz", None),
        ("not=th:8", None),
    ],
)
def test_thresholds_and_powers_are_probabilities(state: str, expected: float | None) -> None:
    assert probability(state) == expected


def test_the_record_keeps_the_lowest_probability_of_its_spans() -> None:
    spans = (
        span("root", {"openinference.span.kind": "CHAIN"}, trace_state="ot=th:8"),
        retriever(trace_state="ot=th:c"),
        llm(),
    )
    assert records(trace(*spans))[0].sampling_probability == 0.25
