"""Labelled rows: whole sets from RAGVIGIL_BENCH_DATA, else the samples in the tests; and AUROC."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from typing import Any

from bench.rig.report import SAMPLES, bench_data


def rows(name: str, *, small: bool = False) -> list[dict[str, Any]]:
    """The rows of a set as dicts; its sample if `small` or if the set is missing."""
    folder = bench_data()
    whole = folder / "data" / f"{name}.jsonl.gz" if folder else None
    if whole is not None and whole.exists() and not small:
        with gzip.open(whole, "rt", encoding="utf-8") as lines:
            return [json.loads(line) for line in lines]
    text = (SAMPLES / "data" / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def auroc(labels: Sequence[bool], scores: Sequence[float]) -> float:
    """Probability that a positive scores above a negative, ties half (Mann-Whitney U)."""
    order = sorted(range(len(scores)), key=scores.__getitem__)
    ranks = [0.0] * len(scores)
    start = 0
    while start < len(order):
        end = start
        while end + 1 < len(order) and scores[order[end + 1]] == scores[order[start]]:
            end += 1
        for place in range(start, end + 1):
            ranks[order[place]] = (start + end) / 2 + 1
        start = end + 1
    positives = sum(labels)
    negatives = len(labels) - positives
    won = sum(rank for rank, label in zip(ranks, labels, strict=True) if label)
    return (won - positives * (positives + 1) / 2) / (positives * negatives)


def f1(true: Sequence[bool], said: Sequence[bool]) -> float:
    """Harmonic mean of precision and recall."""
    hits = sum(a and b for a, b in zip(true, said, strict=True))
    return 2 * hits / (sum(true) + sum(said)) if hits else 0.0
