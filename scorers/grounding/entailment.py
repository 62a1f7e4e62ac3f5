"""The shipped entailment model: does a premise support a sentence, say nothing of it, or deny it?

    >>> round(mean_odds(0.9, 0.5), 2), mean_odds(0.5, 0.5)
    (0.75, 0.5)

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
    sha256="",
)
METHOD = "1"
"""Raise it when the same probabilities give other scores."""
UNSUPPORTED, WEAK, CONTRADICTED = 0.4, 0.4, 0.9
LEAST = 1e-6
"""Probabilities nearer to 0 or 1 count as this near: one model alone must not decide."""


class Support(IntEnum):
    """What a premise says of a sentence: the columns of the model's probabilities."""

    SUPPORTED = 0
    NOT = 1
    CONTRADICTED = 2


def mean_odds(one: float, other: float) -> float:
    """The probability whose log odds are the mean of those of two probabilities."""
    odds = [log(max(LEAST, chance) / max(LEAST, 1 - chance)) for chance in (one, other)]
    return 1 / (1 + exp(-sum(odds) / 2))
