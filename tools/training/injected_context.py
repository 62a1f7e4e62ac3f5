"""Trains the model of planted requests: `python -m tools.training.injected_context FOLDER`.

FOLDER holds the labelled sets as `<name>.jsonl.gz`. Fits a logistic regression over the signs of a
request and pairs of signs, with a Gaussian prior, by Newton's method: the same input gives the same
file.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
from math import inf
from pathlib import Path

import numpy as np
import numpy.typing as npt

from scorers.injection_model import Model, weigh
from tools.training.planted_examples import Example, examples

FEWEST = 25
"""Least requests with a sign, or a pair of signs, for it to get a weight."""
PRIOR = 4.0
"""Precision of the Gaussian prior: how strongly weights are drawn to 0."""
MOST_ALARMS = 0.001
"""Share of ordinary chunks above the threshold, in sets that the model did not see.

An answer has several chunks: of eight, one alarms eight times as often as a chunk does.
"""
MOST_STEPS, SMALL_STEP = 12, 1e-2
LIGHT = 0.01
"""A pair that weighs less is left out of the file."""
_Floats = npt.NDArray[np.float64]


class Lesson:
    """The requests of many examples as a table, on which a model trains in a second.

    `places` holds the place of each request's example: a fold leaves out whole examples.
    """

    def __init__(self, labelled: Sequence[Example]) -> None:
        rows = [
            (place, _names(signs), is_planted)
            for place, example in enumerate(labelled)
            for signs, is_planted in zip(example.signs, example.planted, strict=True)
        ]
        counts = Counter(name for _, names, _ in rows for name in names)
        self.names = sorted(name for name, count in counts.items() if count >= FEWEST)
        column = {name: place for place, name in enumerate(self.names, 1)}
        self.table = np.zeros((len(rows), len(column) + 1), dtype=np.float32)
        self.table[:, 0] = 1
        for row, (_, names, _) in enumerate(rows):
            self.table[row, [column[name] for name in names if name in column]] = 1
        self.labels = np.array([is_planted for _, _, is_planted in rows], dtype=np.float64)
        self.places = np.array([place for place, _, _ in rows])
        self.start: _Floats = np.zeros(len(column) + 1)

    def learn(self, left_out: Iterable[int] = (), threshold: float = 0.0) -> Model:
        """Trains on all examples but those at the places left out."""
        in_fold = ~np.isin(self.places, list(left_out))
        weights = _fit(self.table[in_fold], self.labels[in_fold], self.start)
        by_name = dict(
            zip(self.names, (round(float(weight), 3) for weight in weights[1:]), strict=True)
        )
        single = {name[0]: value for name, value in by_name.items() if len(name) == 1}
        pairs = {(name[0], name[1]): value for name, value in by_name.items() if len(name) == 2}
        bias = round(float(weights[0]), 3)
        return Model(bias=bias, weights=single, pairs=pairs, threshold=threshold)

    def start_from(self, model: Model) -> None:
        """Starts all later folds at these weights, so that they take few steps."""
        by_names: dict[tuple[str, ...], float] = {
            (sign,): value for sign, value in model.weights.items()
        }
        by_names.update(model.pairs.items())
        weights = [by_names.get(names, 0.0) for names in self.names]
        self.start = np.array([model.bias, *weights])


def _names(signs: Sequence[str]) -> list[tuple[str, ...]]:
    return [*((sign,) for sign in signs), *combinations(signs, 2)]


def _fit(table: npt.NDArray[np.float32], labels: _Floats, start: _Floats) -> _Floats:
    """Fits a logistic regression by Newton's method; the intercept has practically no prior."""
    weights = start.copy()
    prior = np.full(table.shape[1], PRIOR)
    prior[0] = 1e-6
    for _ in range(MOST_STEPS):
        chance = 1 / (1 + np.exp(-np.clip(table @ weights, -40, 40)))
        slope = table.T @ (chance - labels) + prior * weights
        spread = (chance * (1 - chance)).astype(np.float32)
        curve = (table.T @ (table * spread[:, None])).astype(np.float64) + np.diag(prior)
        step = np.linalg.solve(curve, slope)
        weights -= step
        if float(np.abs(step).max()) < SMALL_STEP:
            break
    return weights


def weight_of(example: Example, model: Model) -> float:
    """The highest log odds among the requests of a chunk."""
    return max((weigh(signs, model) for signs in example.signs), default=-inf)


def threshold_of(chunks: Sequence[Example], lesson: Lesson) -> float:
    """The log odds exceeded by MOST_ALARMS of the ordinary chunks, each set left out once."""
    weighed = []
    for source in sorted({example.source for example in chunks if example.kind is None}):
        places = [
            at
            for at, example in enumerate(chunks)
            if example.source == source and example.kind is None
        ]
        model = lesson.learn(places)
        weighed += [weight_of(chunks[at], model) for at in places]
    return round(sorted(weighed, reverse=True)[int(MOST_ALARMS * len(weighed))], 2)


def to_json(model: Model) -> str:
    """The model as JSON, one weight per line; leaves out pairs lighter than LIGHT."""
    pairs = {
        f"{first} {two}": value
        for (first, two), value in sorted(model.pairs.items())
        if abs(value) >= LIGHT
    }
    fields = {
        "bias": model.bias,
        "threshold": model.threshold,
        "weights": dict(sorted(model.weights.items())),
        "pairs": pairs,
    }
    return json.dumps(fields, indent=1) + "\n"


def main() -> None:
    """Trains on the sets in the given folder, and writes the model that scoring reads."""
    chunks = examples(Path(sys.argv[1]))
    lesson = Lesson(chunks)
    lesson.start_from(lesson.learn())
    model = lesson.learn(threshold=threshold_of(chunks, lesson))
    target = Path(__file__).resolve().parents[2] / "scorers" / "models" / "injected_context.json"
    target.write_text(to_json(model), encoding="utf-8")
    planted_count = sum(any(example.planted) for example in chunks)
    print(
        f"{len(chunks)} chunks, {planted_count} planted; threshold {model.threshold}; {target.name}"
    )


if __name__ == "__main__":
    main()
