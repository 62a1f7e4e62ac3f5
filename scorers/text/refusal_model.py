"""Weighs whether a sentence refuses, states something, or does neither.

    >>> refusing, stating = weigh("The leaflet does not say who pays.", "en")
    >>> refusing > 0 > stating
    True
    >>> refusing, stating = weigh("The bill goes to the buyer within 30 days.", "en")
    >>> stating > 0 > refusing
    True

A logistic regression over the signs of a refusal (`refusal_signs.py`) and pairs of signs, which are
the same in all languages: what it learns in one holds in the next. Trained by
`tools/training/refusal.py`; `models/refusal.md` has its training data and accuracy.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from scorers.text.refusal_signs import signs

CLASSES = ("refuses", "states", "neither")
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """Weights for each class: a bias, and one for each sign and each pair of signs.

    `pairs` has the shape (signs, signs, classes); it holds each pair once, and a sign with itself.
    """

    bias: Floats
    place: Mapping[str, int]
    pairs: Floats

    def odds(self, signs: Iterable[str]) -> Floats:
        """The log odds of each of `CLASSES`, for the signs of a sentence."""
        # In order: sums of floats differ by their order, and a set has another in every process.
        places = np.array(
            sorted([self.place[sign] for sign in signs if sign in self.place]), dtype=np.intp
        )
        # As `np.ix_` would, which takes as long as the sum.
        chosen: Floats = self.bias + self.pairs[places[:, None], places].sum(axis=(0, 1))
        return chosen


@lru_cache(maxsize=1024)
def weigh(text: str, language: str) -> tuple[float, float]:
    """By how much the log odds that a sentence refuses, and that it states something, are ahead."""
    refuses, states, neither = map(float, shipped_model().odds(signs(text, language)))
    return refuses - max(states, neither), states - max(refuses, neither)


@cache
def shipped_model() -> Model:
    """The model in this package."""
    return from_json(files("scorers").joinpath("models/refusal.json").read_text("utf-8"))


def from_json(text: str) -> Model:
    """Parses a model; the name of a pair is its two signs with a space between."""
    fields = json.loads(text)
    names = sorted({sign for name in fields["weights"] for sign in name.split(" ")})
    place = {name: at for at, name in enumerate(names)}
    pairs = np.zeros((len(names), len(names), len(CLASSES)))
    for name, weights in fields["weights"].items():
        ends = [place[sign] for sign in name.split(" ")]
        pairs[ends[0], ends[-1]] = weights
    return Model(bias=np.array(fields["bias"]), place=place, pairs=pairs)
