"""Roll-ups of a layer: a mean of all parts or none, and layers stay apart."""

from __future__ import annotations

import doctest

from ragvigil.model.delta import Delta, Series
from ragvigil.model.score import Kind, Layer
from ragvigil.store.engine.store import Store
from ragvigil.store.scores import rubric_deltas
from ragvigil.web.views import layer_health as module
from ragvigil.web.views.layer_health import PARTS, WINDOW, layer_health, read_layer_health
from tests.outcomes import NOW

TICK = NOW // 10**9 // 300 * 300


def mean(
    rubric: str, value: float | None, kind: Kind = Kind.JUDGE, *, window: str = WINDOW
) -> Delta:
    layer = next(layer for layer in PARTS if rubric in PARTS[layer])
    series = Series(
        service="desk", environment="", route="/ask", rubric=rubric, layer=layer,
        segment=f"r1 {kind}", kind=kind,
    )  # fmt: skip
    return Delta(series=series, tick=TICK, window=window, mean=value, n=30)


ALL = [mean(rubric, 0.6) for rubrics in PARTS.values() for rubric in rubrics]


def test_the_example_in_the_docstring_holds() -> None:
    assert doctest.testmod(module).failed == 0


def test_each_layer_has_its_own_mean() -> None:
    fallen = [
        mean("groundedness", 0.0),
        *(delta for delta in ALL if delta.series.rubric != "groundedness"),
    ]
    found = {health.name: health.value for health in layer_health(fallen)}
    assert found == {"retrieval_health": 0.6, "generation_health": 0.4}


def test_without_a_part_there_is_no_mean_and_it_is_named() -> None:
    (health,) = layer_health([mean("completeness", None), mean("groundedness", 0.9)])
    assert (health.value, health.missing) == (None, ["answer_relevance", "completeness"])
    assert health.line() == "– of groundedness 0.90, answer_relevance –, completeness –"


def test_a_judge_is_believed_before_a_model_and_that_before_code() -> None:
    deltas = [mean("chunk_utilization", 0.1, Kind.CODE), mean("chunk_utilization", 0.7, Kind.MODEL)]
    for order in (deltas, deltas[::-1]):
        assert layer_health(order)[0].parts[0].mean == 0.7


def test_other_windows_and_rubrics_are_left_out() -> None:
    assert layer_health([mean("groundedness", 0.9, window="15m")]) == []
    other = Series(
        service="desk", environment="", route="/ask", rubric="mrr", layer=Layer.RETRIEVAL
    )
    assert layer_health([Delta(series=other, tick=TICK, window=WINDOW, mean=0.5, n=9)]) == []


def test_the_newest_day_is_read_from_the_store(store: Store) -> None:
    store.write(rubric_deltas.batch(ALL, TICK * 10**9))
    found = read_layer_health(store, TICK + 60, service="desk")
    assert [(health.name, health.value) for health in found] == [
        ("retrieval_health", 0.6), ("generation_health", 0.6),
    ]  # fmt: skip
    assert read_layer_health(store, TICK + 60, service="other") == []
