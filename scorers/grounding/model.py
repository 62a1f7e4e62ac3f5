"""Estimates the probability that a sentence is supported, by boosted trees kept as plain numbers.

>>> trees = Trees(feature=(0, 0, 0), threshold=(0.5, 0, 0), left=(1, 1, 2), right=(2, 1, 2),
...               value=(0.0, -2.0, 2.0), roots=(0,))
>>> model = Model(version="1", columns=("coverage",), trees=trees, base=0.0, slope=1.0,
...               shift=0.0, weights=Weights(by_word={}, most=7.0), threshold=0.5)
>>> model.probabilities([[0.9] * len(NAMES), [0.1] * len(NAMES)])
[0.8808, 0.1192]
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files
from typing import Any

import numpy as np

from scorers.grounding.claims import Weights
from scorers.grounding.features import NAMES

DIGITS = 4
WEAKEST = 2
"""Sentences whose mean is the answer's value: a mean of all would hide one hallucination."""


@dataclass(frozen=True, kw_only=True)
class Trees:
    """All trees as parallel lists with one entry per node.

    A feature at or below the node's threshold goes left. A leaf is its own left and right child and
    has a value, so that walking `depth` steps from any root ends at a leaf.
    """

    feature: Sequence[int]
    threshold: Sequence[float]
    left: Sequence[int]
    right: Sequence[int]
    value: Sequence[float]
    roots: Sequence[int]

    @cached_property
    def arrays(self) -> tuple[Any, ...]:
        """Feature, threshold and value of each node, and its children in one row: of node n the
        right one at 2n, the left one at 2n + 1."""
        return (
            np.array(self.feature, dtype=np.intp),
            np.array(self.threshold, dtype=np.float64),
            np.array([self.right, self.left], dtype=np.intp).T.ravel(),
            np.array(self.value, dtype=np.float64),
        )

    @cached_property
    def depth(self) -> int:
        """The number of steps from a root to the deepest leaf."""
        level, steps = set(self.roots), 0
        while inner := {node for node in level if self.left[node] != node}:
            level = {child for node in inner for child in (self.left[node], self.right[node])}
            steps += 1
        return steps

    def sums(self, table: Any) -> Any:
        """For each row of a table, the sum of the values of the leaves that it reaches."""
        feature, threshold, children, value = self.arrays
        rows, columns = table.shape
        cells, first = table.ravel(), np.arange(0, rows * columns, columns)
        nodes = np.tile(np.array(self.roots, dtype=np.intp), rows)
        row = first.repeat(len(self.roots))
        # Walks all trees of all rows at once; a path that ended early stays at its leaf. `take` of
        # one dimension: for the few rows of an answer, indexing takes two to three times as long.
        for _ in range(self.depth):
            is_left = cells.take(feature.take(nodes) + row) <= threshold.take(nodes)
            nodes = children.take(2 * nodes + is_left)
        return value.take(nodes).reshape(rows, -1).sum(axis=1)


@dataclass(frozen=True, kw_only=True)
class Model:
    """Trees over some columns of `NAMES`; slope and shift calibrate their sum as log odds.

    A sentence whose probability is below `threshold` counts as unsupported.
    """

    version: str
    columns: tuple[str, ...]
    trees: Trees
    base: float
    slope: float
    shift: float
    weights: Weights
    threshold: float

    @cached_property
    def _chosen(self) -> list[int]:
        return [NAMES.index(name) for name in self.columns]

    def odds(self, rows: Sequence[Sequence[float]]) -> Any:
        """The uncalibrated log odds of each row of `NAMES`."""
        table = np.array(rows, dtype=np.float64).reshape(len(rows), len(NAMES))
        return self.base + self.trees.sums(table[:, self._chosen])

    def probabilities(self, rows: Sequence[Sequence[float]]) -> list[float]:
        """For each row of `NAMES`, the probability that the sentence is supported."""
        chance = 1 / (1 + np.exp(-(self.slope * self.odds(rows) + self.shift)))
        return [round(chance, DIGITS) for chance in chance.tolist()]


def answer_value(probabilities: Sequence[float]) -> float:
    """The mean probability of the weakest sentences, 0..1.

    >>> answer_value([0.9, 0.2, 0.8])
    0.5
    """
    weakest = sorted(probabilities)[:WEAKEST]
    return sum(weakest) / len(weakest)


def from_json(text: str) -> Model:
    """Parses the JSON text of a model."""
    fields = json.loads(text)
    return Model(
        version=fields["version"],
        columns=tuple(fields["columns"]),
        trees=Trees(**fields["trees"]),
        base=fields["base"],
        slope=fields["slope"],
        shift=fields["shift"],
        weights=Weights(by_word=fields["words"], most=fields["most"]),
        threshold=fields["threshold"],
    )


def to_json(model: Model) -> str:
    """The JSON text of a model."""
    trees = model.trees
    fields = {
        "version": model.version,
        "threshold": model.threshold,
        "base": model.base,
        "slope": model.slope,
        "shift": model.shift,
        "most": model.weights.most,
        "columns": model.columns,
        "trees": {
            name: list(getattr(trees, name))
            for name in ("feature", "threshold", "left", "right", "value", "roots")
        },
        "words": dict(model.weights.by_word),
    }
    lines = (f"{json.dumps(key)}: {json.dumps(value)}" for key, value in fields.items())
    return "{\n" + ",\n".join(lines) + "\n}\n"


@cache
def shipped_model() -> Model:
    """The model in this package."""
    return from_json(files("scorers").joinpath("models/groundedness.json").read_text("utf-8"))
