"""Roll-ups of a layer, with their parts: to look at, never to alarm by. Layers are never averaged.

>>> from ragvigil.model.delta import Delta, Series
>>> names = {"service": "desk", "environment": "prod", "route": "/ask"}
>>> def mean(rubric, value, kind=Kind.JUDGE):
...     series = Series(**names, rubric=rubric, layer=Layer.RETRIEVAL, kind=kind)
...     return Delta(series=series, tick=0, window=WINDOW, mean=value, n=40)
>>> parts = [mean("context_relevance", 0.9), mean("chunk_utilization", 0.5, Kind.CODE)]
>>> [health] = layer_health(parts)
>>> health.name, health.value, health.missing
('retrieval_health', None, ['chunk_attribution'])
>>> layer_health([*parts, mean("chunk_attribution", 0.7)])[0].value
0.7
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from ragvigil.model.delta import Delta
from ragvigil.model.score import Kind, Layer
from ragvigil.store.scores import rubric_deltas
from ragvigil.web.views.deltas import DELTAS_SECONDS

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

WINDOW = "24h"
PARTS: Mapping[Layer, Sequence[str]] = {
    Layer.RETRIEVAL: ("context_relevance", "chunk_attribution", "chunk_utilization"),
    Layer.GENERATION: ("groundedness", "answer_relevance", "completeness"),
}
"""The rubrics of a roll-up. `chunk_attribution` is of retrieval though its fall means generation:
the parts stand beside the mean, and they are what is looked at."""
PRECEDENCE = (Kind.HUMAN, Kind.JUDGE, Kind.MODEL, Kind.CODE)
"""Who is believed where several score a rubric."""
Place = tuple[str, str, str]


class PartForm(BaseModel):
    """The mean of a rubric over the last day."""

    rubric: str
    kind: Kind | None = Field(description="who scored it")
    mean: float
    n: int


class LayerHealthForm(BaseModel):
    """A roll-up of a route: the mean of its parts, null while one of them is missing."""

    name: str = Field(description="retrieval_health or generation_health; it never pages")
    service: str
    environment: str
    route: str
    value: float | None
    parts: list[PartForm]
    missing: list[str] = Field(description="rubrics without a mean: a mean of the rest would jump")

    def line(self) -> str:
        """The roll-up and its parts in a line."""
        parts = [f"{part.rubric} {part.mean:.2f}" for part in self.parts]
        parts += [f"{name} –" for name in self.missing]
        value = "–" if self.value is None else f"{self.value:.2f}"
        return f"{value} of {', '.join(parts)}"


class LayersHealthForm(BaseModel):
    """By service, environment and route; retrieval before generation."""

    layer_health: list[LayerHealthForm]


def read_layer_health(
    store: Store, now: int, *, service: str = "", route: str = ""
) -> list[LayerHealthForm]:
    """The roll-ups at a time (seconds since the epoch); empty names match all.

    They are kept: the status, and so every view of the page Health, says them.
    """
    filter_ = rubric_deltas.DeltaFilter(service=service, route=route, window=WINDOW)
    return store.kept.of(
        ("layer health", service, route),
        lambda: layer_health(rubric_deltas.latest(store, filter_, now)),
        lasts=True,
        new_seconds=DELTAS_SECONDS,
    )


def layer_health(deltas: Iterable[Delta]) -> list[LayerHealthForm]:
    """The roll-ups of every route that has a part of one."""
    places: dict[Place, dict[str, Delta]] = {}
    wanted = {rubric for rubrics in PARTS.values() for rubric in rubrics}
    for delta in deltas:
        series = delta.series
        if series.rubric in wanted and delta.mean is not None and delta.window == WINDOW:
            known = places.setdefault((series.service, series.environment, series.route), {})
            known[series.rubric] = min(delta, known.get(series.rubric, delta), key=_precedence)
    return [
        _form(layer, place, places[place])
        for place in sorted(places)
        for layer in PARTS
        if any(rubric in places[place] for rubric in PARTS[layer])
    ]


def _precedence(delta: Delta) -> tuple[int, int]:
    kind = delta.series.kind
    return PRECEDENCE.index(kind) if kind else len(PRECEDENCE), -delta.n


def _form(layer: Layer, place: Place, known: Mapping[str, Delta]) -> LayerHealthForm:
    parts = [
        PartForm(rubric=rubric, kind=known[rubric].series.kind, mean=known[rubric].mean or 0.0,
                 n=known[rubric].n)
        for rubric in PARTS[layer] if rubric in known
    ]  # fmt: skip
    missing = [rubric for rubric in PARTS[layer] if rubric not in known]
    mean = sum(part.mean for part in parts) / len(PARTS[layer])
    service, environment, route = place
    return LayerHealthForm(
        name=f"{layer.value}_health",
        service=service,
        environment=environment,
        route=route,
        value=None if missing else round(mean, 4),
        parts=parts,
        missing=missing,
    )
