"""What the demo says of deltas and records."""

from __future__ import annotations

from typing import Any

from ragvigil.app.demo.report import failing, labels_of, meanings, trace_lines, watched, what_moved


def row(route: str, rubric: str, mean: float, **more: Any) -> dict[str, Any]:
    return {
        "window": "6h",
        "service": "desk",
        "environment": "demo",
        "tick": "2026-11-21T04:00:00Z",
        "failed": 3,
        "delta": mean - 0.98,
        "route": route,
        "rubric": rubric,
        "layer": "cross_cutting",
        "mean": mean,
        "baseline": 0.98,
        "low": mean - 1.0,
        "high": mean - 0.95,
        "n": 40,
        "moved": "",
        "since": None,
    } | more


ROWS = [
    row("/chat", "citation_validity", 0.98),
    row("/refunds", "chunk_utilization", 0.60, moved="fell"),
    row("/refunds", "citation_validity", 0.40, moved="fell", since="2026-11-20T22:00:00Z"),
    row("/refunds", "citation_validity:failed", 0.55, moved="rose"),
    row("/refunds", "citation_validity", 0.10, moved="fell", window="15m"),
]


def test_the_largest_fall_comes_first_and_rates_of_labels_are_not_said_twice() -> None:
    moved = what_moved(ROWS)
    assert [delta.series.rubric for delta in moved] == ["citation_validity", "chunk_utilization"]
    assert moved[0].since == 1_795_212_000
    assert moved[1].since is None


def test_series_are_counted_once_a_route_and_rubric() -> None:
    assert watched(ROWS) == (2, 3)


def test_failing_records_come_worst_first_with_the_reason_in_words() -> None:
    def record(trace_id: str, value: float | None, label: str) -> dict[str, Any]:
        score = {
            "rubric": "citation_validity",
            "value": value,
            "label": label,
            "explanation": f"{label} in it",
        }
        return {"trace_id": trace_id, "query": "why?", "answer": "so", "scores": [score]}

    records = [
        record("half", 0.5, "quote_not_found"),
        record("good", 1.0, ""),
        record("none", None, ""),
        record("worst", 0.0, "quote_not_found, unknown_chunk"),
    ]
    pairs = failing(records, "citation_validity")
    assert [record["trace_id"] for record, _ in pairs] == ["worst", "half"]
    labels = labels_of(pairs)
    assert labels == {"quote_not_found": 2, "unknown_chunk": 1}
    assert next(meanings(labels)).endswith("the quoted words stand in no chunk of the context")
    assert "quote_not_found, unknown_chunk in it" in "\n".join(trace_lines(*pairs[0]))
