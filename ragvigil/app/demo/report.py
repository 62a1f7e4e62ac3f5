"""What the demo prints: the API's deltas and records in words. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from ragvigil.model.delta import Delta, Moved, Series
from ragvigil.model.score import Layer

WINDOW = "6h"
Row = Mapping[str, Any]

LABELS = {
    "quote_not_found": "the quoted words stand in no chunk of the context",
    "quote_in_other_chunk": "the quoted words stand in another chunk than the cited one",
    "altered_by_omission": "the quotation leaves out a word that changes what is said",
    "stitched": "the quotation is put together from several places",
    "unknown_chunk": "the cited chunk does not exist in the trace",
    "not_in_context": "the cited chunk never reached the prompt",
    "marker_out_of_range": "the citation's number is higher than the number of chunks",
    "marker_mismatch": "another chunk supports the sentence than the cited one",
    "refused": "the answer declines",
    "truncated": "the answer was cut",
}


def what_moved(rows: Iterable[Row]) -> list[Delta]:
    """The rubrics that moved within six hours, the largest fall first.

    Rates of labels (`refusal:refused`) are left out: they repeat what their rubric shows.
    """
    chosen = [row for row in rows if row["window"] == WINDOW and row["moved"]]
    moved = [to_delta(row) for row in chosen if ":" not in row["rubric"]]
    return sorted(moved, key=lambda delta: delta.delta or 0.0)


def watched(rows: Iterable[Row]) -> tuple[int, int]:
    """How many routes, and how many means (route and rubric), the deltas are about."""
    chosen = [row for row in rows if row["window"] == WINDOW]
    means = {(row["route"], row["rubric"]) for row in chosen if ":" not in row["rubric"]}
    return len({route for route, _ in means}), len(means)


def to_delta(row: Row) -> Delta:
    """A row of the API as a delta; fields that the words do not need are left out."""
    return Delta(
        series=Series(
            service=row["service"],
            environment=row["environment"],
            route=row["route"],
            rubric=row["rubric"],
            layer=Layer(row["layer"]),
        ),
        tick=_unix(row["tick"]) or 0,
        window=row["window"],
        n=row["n"],
        failed=row["failed"],
        mean=row["mean"],
        baseline=row["baseline"],
        delta=row["delta"],
        low=row["low"],
        high=row["high"],
        moved=Moved(row["moved"]),
        since=_unix(row["since"]),
    )


def failing(records: Sequence[Row], rubric: str) -> list[tuple[Row, Row]]:
    """Records with their failing score of a rubric, the worst first; unknown values left out."""
    pairs = [(record, score) for record in records for score in _scores(record, rubric)]
    return sorted(pairs, key=lambda pair: pair[1]["value"])


def labels_of(pairs: Sequence[tuple[Row, Row]]) -> Counter[str]:
    """How many failing records have each failure label."""
    labels = (label.strip() for _, score in pairs for label in score["label"].split(","))
    return Counter(label for label in labels if label)


def meanings(labels: Counter[str]) -> Iterator[str]:
    """What the two commonest labels mean."""
    for label, _ in labels.most_common(2):
        if label in LABELS:
            yield f"{label}: {LABELS[label]}"


def trace_lines(record: Row, score: Row) -> Iterator[str]:
    """A bad answer in four lines."""
    yield f"{record['trace_id']}  {score['rubric']} {score['value']:.2f}"
    yield f"  asked   {_short(record.get('query'))}"
    yield f"  said    {_short(record.get('answer'))}"
    yield f"  because {_short(score.get('explanation'), 160)}"


def _unix(time: str | None) -> int | None:
    return int(datetime.fromisoformat(time).timestamp()) if time else None


def _scores(record: Row, rubric: str) -> Iterator[Row]:
    for score in record["scores"]:
        if score["rubric"] == rubric and score["value"] is not None and score["value"] < 1:
            yield score


def _short(text: Any, width: int = 110) -> str:
    flat = " ".join(str(text or "–").split())
    return flat if len(flat) <= width else flat[: width - 1] + "…"
