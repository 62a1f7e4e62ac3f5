"""Pairs of an audit for tests: scores by rubric, before and after."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragvigil.model.audit import Pair, Side, Verdict
from ragvigil.model.score import Layer

LAYERS: Mapping[str, Layer] = {"context_relevance": Layer.RETRIEVAL}


def paired(
    count: int, scores: Mapping[str, Sequence[tuple[float | None, float | None]]]
) -> list[Pair]:
    """Returns `count` pairs; the scores of each rubric, before and after, repeat."""
    return [
        Pair(
            number=number,
            before=_side(
                2 * number,
                {name: values[number % len(values)][0] for name, values in scores.items()},
            ),
            after=_side(
                2 * number + 1,
                {name: values[number % len(values)][1] for name, values in scores.items()},
            ),
        )
        for number in range(count)
    ]


def _side(number: int, values: Mapping[str, float | None]) -> Side:
    return Side(
        trace_id=f"{number:032x}",
        record_id=f"{number:016x}",
        route="/ask",
        verdicts=tuple(
            Verdict(rubric=name, layer=LAYERS.get(name, Layer.GENERATION), value=value)
            for name, value in values.items()
        ),
    )
