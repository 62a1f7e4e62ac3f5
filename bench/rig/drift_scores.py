"""Scores of labelled sets in their order: answers to one question follow one another."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from alerts.drift.state import Floats

Row = dict[str, Any]


def _unmarked(row: Row) -> float:
    """The share of the answer that no person marked as hallucinated."""
    length = max(len(row["answer"]), 1)
    marked = np.zeros(length, dtype=np.bool_)
    for span in row.get("hallucinated_spans") or ():
        marked[int(span["start"]) : int(span["end"])] = True
    return float(1 - marked.mean())


def _not_hallucinated(row: Row) -> float:
    return float(not row["hallucinated"])


def _relevant(row: Row) -> float:
    """The mean relevance of the chunks."""
    grades = [float(chunk.get("relevance") or 0) for chunk in row["chunks"]]
    return min(float(np.mean(grades)), 1.0) if grades else 0.0


SETS: dict[str, Callable[[Row], float]] = {
    "ragtruth_qa": _unmarked,
    "dialogue_audit": _not_hallucinated,
    "begin": _not_hallucinated,
    "trecqa_relevance": _relevant,
}


def real_scores(folder: Path | None) -> dict[str, Floats]:
    """The scores of every set that is there, 0..1, by name."""
    found: dict[str, Floats] = {}
    for name, score in SETS.items():
        path = folder / "data" / f"{name}.jsonl.gz" if folder else None
        if path is None or not path.exists():
            continue
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        found[name] = np.array([score(row) for row in rows])
    return found
