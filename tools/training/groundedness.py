"""Trains the groundedness model.

    python -m tools.training.groundedness FOLDER --out scorers/models/groundedness.json

FOLDER holds the labelled sets as `<name>.jsonl.gz`. Uses gradient boosting by scikit-learn, which
only training needs. The same input, scikit-learn version and seed give the same file.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import log
from pathlib import Path
from typing import Any

import numpy as np

from scorers.grounding.claims import Weights
from scorers.grounding.evidence import LACK, SUPPORT
from scorers.grounding.features import EVIDENCE, NAMES, measure
from scorers.grounding.model import Model, Trees, to_json
from scorers.text.normalise import words
from tools.training.grounded_examples import Example, examples

VERSION = "1"
LISTED = 3000
"""Common words that get a weight of their own; all others weigh the most."""
WINDOW = 25
"""Words of a window; the share of windows that have a word says how common it is."""
SHARE = {"dialogue": 0.2}
"""Weight of a source, 1 by default."""
PRIOR = 0.8
"""Share of supported sentences that probabilities are calibrated to, as in answers of services."""
MADE = "cut_out"
"""Source of the examples made by cutting lines; left out of the calibration."""
FOLDS = 5
DIGITS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """The columns that the trees read, and their size.

    `is_monotone`: the probability may only rise with `SUPPORT` and fall with `LACK`.
    """

    columns: tuple[str, ...]
    is_monotone: bool
    trees: int
    rate: float
    leaves: int
    smallest_leaf: int
    columns_a_split: float
    seeds: tuple[int, ...] = (0, 1)


ANY_SERVICE = Recipe(
    columns=EVIDENCE, is_monotone=True, trees=120, rate=0.05, leaves=8, smallest_leaf=25,
    columns_a_split=0.4,
)  # fmt: skip
"""For services without labels: only evidence, which means the same everywhere."""
OWN_SERVICE = Recipe(
    columns=NAMES, is_monotone=False, trees=300, rate=0.03, leaves=16, smallest_leaf=30,
    columns_a_split=0.3,
)  # fmt: skip
"""For labels of the service itself: also the form of its answers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Sentences as rows of `NAMES`, with the label, weight, group and source of each."""

    rows: Any
    labels: Any
    weights: Any
    groups: Sequence[str]
    sources: Sequence[str]


def table(labelled: Sequence[Example], weights: Weights) -> Table:
    """The sentences of some examples; a source weighs by the root of its size."""
    sizes = Counter(example.source for example in labelled)
    rows, labels, counts, groups, sources = [], [], [], [], []
    for example in labelled:
        measured = measure(example.answer, example.question, example.contents, weights)
        count = SHARE.get(example.source, 1.0) / sizes[example.source] ** 0.5
        for row in measured.rows:
            rows.append(row)
            labels.append(example.is_supported)
            counts.append(count / len(measured.rows))  # an example counts once, however long
            groups.append(example.group)
            sources.append(example.source)
    counted = np.array(counts)
    return Table(
        rows=np.array(rows),
        labels=np.array(labels),
        weights=counted / counted.mean(),
        groups=groups,
        sources=sources,
    )


def fit(rows: Any, labels: Any, counts: Any, recipe: Recipe, weights: Weights) -> Model:
    """An uncalibrated model of these sentences: the mean of one forest per seed."""
    from sklearn.ensemble import (  # type: ignore[import-untyped]
        HistGradientBoostingClassifier,
    )

    chosen = [NAMES.index(name) for name in recipe.columns]
    grown = []
    for seed in recipe.seeds:
        forest = HistGradientBoostingClassifier(
            max_iter=recipe.trees,
            learning_rate=recipe.rate,
            max_leaf_nodes=recipe.leaves,
            min_samples_leaf=recipe.smallest_leaf,
            l2_regularization=5.0,
            max_features=recipe.columns_a_split,
            monotonic_cst=[_direction(name) for name in recipe.columns]
            if recipe.is_monotone
            else None,
            early_stopping=False,
            random_state=seed,
        )
        grown.append(forest.fit(rows[:, chosen], labels, sample_weight=counts))
    base = sum(float(forest._baseline_prediction[0, 0]) for forest in grown) / len(grown)
    nodes = [tree[0].nodes for forest in grown for tree in forest._predictors]
    return Model(
        version=VERSION,
        columns=recipe.columns,
        trees=_trees(nodes, len(grown)),
        base=round(base, DIGITS),
        slope=1.0,
        shift=0.0,
        weights=weights,
        threshold=0.5,
    )


def _direction(name: str) -> int:
    return 1 if name in SUPPORT else -1 if name in LACK else 0


def _trees(grown: Sequence[Any], forests: int) -> Trees:
    """The nodes of all trees as parallel lists; leaf values are divided by `forests`."""
    feature: list[int] = []
    left_child: list[int] = []
    right: list[int] = []
    roots: list[int] = []
    threshold: list[float] = []
    value: list[float] = []
    for nodes in grown:
        first = len(feature)
        roots.append(first)
        for at, node in enumerate(nodes):
            is_leaf = bool(node["is_leaf"])
            feature.append(0 if is_leaf else int(node["feature_idx"]))
            threshold.append(0.0 if is_leaf else round(float(node["num_threshold"]), DIGITS))
            left_child.append(first + (at if is_leaf else int(node["left"])))
            right.append(first + (at if is_leaf else int(node["right"])))
            value.append(round(float(node["value"]) / forests, DIGITS) if is_leaf else 0.0)
    return Trees(
        feature=feature, threshold=threshold, left=left_child, right=right, value=value, roots=roots
    )


def cross_fitted_odds(sentences: Table, recipe: Recipe, weights: Weights) -> Any:
    """The log odds of each sentence by a model that was trained without its group."""
    from sklearn.model_selection import GroupKFold  # type: ignore[import-untyped]

    odds = np.zeros(len(sentences.labels))
    for train_rows, test_rows in GroupKFold(FOLDS).split(
        sentences.rows, sentences.labels, sentences.groups
    ):
        model = fit(
            sentences.rows[train_rows],
            sentences.labels[train_rows],
            sentences.weights[train_rows],
            recipe,
            weights,
        )
        odds[test_rows] = model.odds(sentences.rows[test_rows])
    return odds


def calibrate(model: Model, sentences: Table, recipe: Recipe) -> Model:
    """The model with slope and shift, fitted on unseen sentences reweighted to `PRIOR`."""
    from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

    real = np.array([source != MADE for source in sentences.sources])
    odds, labels = cross_fitted_odds(sentences, recipe, model.weights)[real], sentences.labels[real]
    counts = sentences.weights[real]
    supported = counts[labels].sum()
    counts = np.where(labels, PRIOR / supported, (1 - PRIOR) / (counts.sum() - supported)) * counts
    line = LogisticRegression(C=1e6).fit(odds[:, None], labels, sample_weight=counts * len(counts))
    return replace(
        model,
        slope=round(float(line.coef_[0, 0]), DIGITS),
        shift=round(float(line.intercept_[0]), DIGITS),
    )


def word_weights(texts: Iterable[str]) -> Weights:
    """Weights of the most common words: the log of their inverse frequency over windows of text."""
    having: Counter[str] = Counter()
    stretches = 0
    for text in dict.fromkeys(texts):
        text_words = words(text)
        for start in range(0, len(text_words), WINDOW):
            having.update(set(text_words[start : start + WINDOW]))
            stretches += 1
    ranked = sorted(having.items(), key=lambda pair: (-pair[1], pair[0]))[:LISTED]
    by_word = {word: round(log((stretches + 1) / (count + 1)), 2) for word, count in ranked}
    return Weights(by_word=by_word, most=max(by_word.values()))


def train(labelled: Sequence[Example]) -> Model:
    """Trains and calibrates a model on these examples."""
    weights = word_weights(
        text for example in labelled for text in (example.answer, *example.contents)
    )
    sentences = table(labelled, weights)
    model = fit(sentences.rows, sentences.labels, sentences.weights, ANY_SERVICE, weights)
    return calibrate(model, sentences, ANY_SERVICE)


def main() -> None:
    """Trains on the sets in the given folder, and writes the model that scoring reads."""
    folder, flag, target = sys.argv[1:]
    if flag != "--out":
        sys.exit(f"{flag} is not --out")
    labelled = examples(Path(folder))
    Path(target).write_text(to_json(train(labelled)), encoding="utf-8")
    print(f"{Counter((example.source, example.is_supported) for example in labelled)} -> {target}")


if __name__ == "__main__":
    main()
