"""Trains the model of refusals: `python -m tools.training.refusal FOLDER`.

FOLDER holds the labelled sets as `<name>.jsonl.gz`. Fits a logistic regression of three classes
over the signs of a sentence and pairs of signs (scikit-learn, which only training needs). The same
input and scikit-learn version give the same file, whose checksum is printed.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix  # type: ignore[import-untyped]
from sklearn.linear_model import LogisticRegression  # type: ignore[import-untyped]

from scorers.text.refusal_model import CLASSES, from_json
from tools.training.refusal_examples import Answer, Example, examples, known_answers

FEWEST = 8
"""Least sentences with a sign, or a pair of signs, for it to get a weight."""
STRENGTH = 0.2
"""Inverse strength of the Gaussian prior. Each language left out of learning once, 0.1 to 0.3 tell
refusals from near answers best; 0.01 and 1 are worse."""
ROUNDS = 2
"""Further rounds of learning."""
MOST_STEPS = 3000
LIGHT = 0.005
"""A pair whose weights are all smaller is left out of the file."""
TARGET = Path(__file__).resolve().parents[2] / "scorers" / "models" / "refusal.json"


def names(example: Example) -> Iterator[str]:
    """The names of a sentence's signs, and of pairs of them."""
    for first, second in combinations_with_replacement(sorted(example.signs), 2):
        yield first if first == second else f"{first} {second}"


def train(answers: Sequence[Answer]) -> str:
    """The model of these answers as JSON.

    The first round goes by the patterns where an answer has several sentences; each further one by
    the model of the round before.
    """
    text = to_json(fit(list(examples(answers, None))))
    for _ in range(ROUNDS):
        text = to_json(fit(list(examples(answers, from_json(text).odds))))
    return text


def fit(rows: Sequence[Example]) -> dict[str, Any]:
    """The model of these sentences, as `refusal_model.from_json` reads it."""
    counts = Counter(name for row in rows for name in names(row))
    column = {
        name: at
        for at, name in enumerate(sorted(n for n, count in counts.items() if count >= FEWEST))
    }
    cells = [
        (row, column[name])
        for row, example in enumerate(rows)
        for name in names(example)
        if name in column
    ]
    places = np.array(cells).T
    table = csr_matrix((np.ones(len(cells)), places), shape=(len(rows), len(column)))
    line = LogisticRegression(C=STRENGTH, max_iter=MOST_STEPS)
    line.fit(table, [row.kind for row in rows], sample_weight=[row.weight for row in rows])
    order = [list(line.classes_).index(name) for name in CLASSES]
    weights = {name: line.coef_[order, at] for name, at in column.items()}
    return {
        "bias": _rounded(line.intercept_[order]),
        "weights": {
            name: _rounded(own) for name, own in weights.items() if np.abs(own).max() >= LIGHT
        },
    }


def _rounded(weights: Sequence[float]) -> list[float]:
    return [round(float(weight), 2) for weight in weights]


def to_json(model: dict[str, Any]) -> str:
    """The model as JSON, the weights of one name per line."""
    lines = [f"  {json.dumps(name)}: {own}" for name, own in model["weights"].items()]
    return f'{{\n "bias": {model["bias"]},\n "weights": {{\n' + ",\n".join(lines) + "\n }\n}\n"


def main() -> None:
    """Trains on the wordings and on the sets in the given folder; writes what scoring reads."""
    packed = train(list(known_answers(Path(sys.argv[1])))).encode()
    TARGET.write_bytes(packed)
    print(f"{TARGET.name}, sha256 {hashlib.sha256(packed).hexdigest()}")


if __name__ == "__main__":
    main()
