"""The shipped entailment model: does a premise support a sentence, say nothing of it, or deny it?

    >>> round(joint(0.9, 0.5), 2), joint(0.5, 0.5)
    (0.82, 0.5)

`models/entailment.md` says what it learned from and what it is worth. It runs in the model process
(`ragvigil.inference`), on a sample of the answers. Beside the trees, which compare words, it is
better than alone: the two are wrong on different sentences, so their log odds are averaged.
"""

from __future__ import annotations

from enum import IntEnum
from importlib.resources import files
from math import exp, log
from pathlib import Path

from ragvigil.inference.weights import ModelFile

FILE = ModelFile(
    path=Path(str(files("scorers").joinpath("models/entailment.onnx"))),
    sha256="d50f192e0ee312177db506a5129a11c3c1487cb8620c0e1393bb3d197f5c9a1d",
)
METHOD = "1"
"""Raise it when the same probabilities give other scores."""
UNSUPPORTED, WEAK, CONTRADICTED = 0.2, 0.28, 0.99
"""Bars of the labels, from supported answers of the halves *fit* (`bench/entailment.py`).

Under WEAK lie 5 % of the supported claims. Under UNSUPPORTED lie 0 to 2 % of these, and the weakest
sentence of 15 % of the answers of ten sentences. CONTRADICTED is passed by 0 to 4 % of the answers.
"""
SHARE_OF_TREES, LARGEST = 0.7, 6.0
"""Weight of the trees, and the largest log odds of the model that count: it is too sure of itself.

Of 60 weights and bounds among the best on the halves *fit* of the sets of `bench/entailment.py`.
"""
LEAST = 1e-6
"""Probabilities nearer to 0 or 1 count as this near."""


class Support(IntEnum):
    """What a premise says of a sentence: the columns of the model's probabilities."""

    SUPPORTED = 0
    NOT = 1
    CONTRADICTED = 2


def joint(by_trees: float, by_model: float) -> float:
    """The probability of a sentence to be supported, by the weighted mean of both log odds."""
    own = max(-LARGEST, min(LARGEST, _odds(by_model)))
    return 1 / (1 + exp(-(SHARE_OF_TREES * _odds(by_trees) + (1 - SHARE_OF_TREES) * own)))


def _odds(chance: float) -> float:
    return log(max(LEAST, chance) / max(LEAST, 1 - chance))
