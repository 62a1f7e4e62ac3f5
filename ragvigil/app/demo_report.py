"""What the demo says it saw: deltas and records of the API, in words. Pure but for `Api`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import httpx

WINDOW = "6h"
Row = Mapping[str, Any]

LABELS = {
    "quote_not_found": "the quoted words stand in no chunk of the context",
    "quote_in_other_chunk": "the quoted words stand in another chunk than the cited one",
    "stitched": "the quotation is put together from several places",
    "unknown_chunk": "the cited chunk does not exist in the trace",
    "not_in_context": "the cited chunk never reached the prompt",
    "marker_out_of_range": "the citation's number is higher than the number of chunks",
    "marker_mismatch": "another chunk supports the sentence than the cited one",
    "refused": "the answer declines",
    "truncated": "the answer was cut",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """A rubric that moved on a route; `since_unix` is None where no hour can be named."""

    route: str
    rubric: str
    layer: str
    mean: float
    baseline: float
    low: float
    high: float
    n: int
    since_unix: float | None

    @property
    def delta(self) -> float:
        """In 0..1; negative is worse."""
        return self.mean - self.baseline


class Api:
    """The daemon's HTTP API on loopback."""

    def __init__(self, base: str) -> None:
        self._client = httpx.Client(base_url=f"{base}/api/v1", timeout=30)

    def get(self, path: str, **parameters: Any) -> dict[str, Any]:
        """The JSON of an endpoint. Raises httpx.HTTPError."""
        reply = self._client.get(path, params=parameters)
        reply.raise_for_status()
        found: dict[str, Any] = reply.json()
        return found


def what_moved(rows: Iterable[Row]) -> list[Moved]:
    """The rubrics that moved within six hours, the largest movement first.

    Rates of labels (`refusal:refused`) are left out: they say the same again.
    """
    chosen = [row for row in rows if row["window"] == WINDOW and row.get("moved")]
    moved = [_moved(row) for row in chosen if ":" not in row["rubric"]]
    return sorted(moved, key=lambda one: one.delta)


def watched(rows: Iterable[Row]) -> tuple[int, int]:
    """How many routes and how many series the deltas speak of."""
    chosen = [row for row in rows if row["window"] == WINDOW]
    series = {(row["route"], row["rubric"]) for row in chosen if ":" not in row["rubric"]}
    return len({route for route, _ in series}), len(series)


def sentence(one: Moved) -> str:
    """One movement in words.

    >>> one = Moved(route="/chat", rubric="refusal", layer="generation", mean=0.4, baseline=0.98,
    ...             low=-0.66, high=-0.5, n=41, since_unix=1_790_000_000)
    >>> for part in sentence(one).split(", "): print(part)
    refusal on /chat fell by 58 points [50
    66]
    from 0.98 to 0.40
    n = 41
    since Mon 21 September 14:00 UTC
    """
    direction = "fell" if one.delta < 0 else "rose"
    small, large = sorted((abs(one.low), abs(one.high)))
    since = f", since {hour_in_words(one.since_unix)}" if one.since_unix else ""
    return (
        f"{one.rubric} on {one.route} {direction} by {abs(one.delta) * 100:.0f} points "
        f"[{small * 100:.0f}, {large * 100:.0f}], from {one.baseline:.2f} to {one.mean:.2f}, "
        f"n = {one.n}{since}"
    )


def hour_in_words(unix: float) -> str:
    """The hour that a time lies in, UTC."""
    time = datetime.fromtimestamp(unix, UTC)
    return f"{time:%a} {time.day} {time:%B} {time:%H}:00 UTC"


def failing(records: Sequence[Row], rubric: str) -> list[tuple[Row, Row]]:
    """Records with their score of a rubric, worst first, those without a value left out."""
    pairs = [(record, score) for record in records for score in _scores(record, rubric)]
    return sorted(pairs, key=lambda pair: pair[1]["value"])


def reasons(pairs: Sequence[tuple[Row, Row]]) -> Iterator[str]:
    """Why records fail, the commonest label first."""
    labels = Counter(
        label.strip()
        for _, score in pairs
        for label in (score.get("label") or "").split(",")
        if label.strip()
    )
    for label, count in labels.most_common(3):
        meaning = LABELS.get(label, label.replace("_", " "))
        yield f"{count} of {len(pairs)} failing answers: {meaning} ({label})"


def trace_lines(record: Row, score: Row) -> Iterator[str]:
    """A bad trace in three lines."""
    yield f"{record['trace_id']}  {score['rubric']} {score['value']:.2f}"
    yield f"  asked   {_short(record.get('query'))}"
    yield f"  said    {_short(record.get('answer'))}"
    yield f"  because {_short(score.get('explanation'), 160)}"


def _moved(row: Row) -> Moved:
    return Moved(
        route=row["route"],
        rubric=row["rubric"],
        layer=row["layer"],
        mean=row["mean"],
        baseline=row["baseline"],
        low=row["low"],
        high=row["high"],
        n=row["n"],
        since_unix=_unix(row.get("since")),
    )


def _unix(since: Any) -> float | None:
    if not since:
        return None
    if isinstance(since, str):
        return datetime.fromisoformat(since).timestamp()
    return float(since)


def _scores(record: Row, rubric: str) -> Iterator[Row]:
    for score in record["scores"]:
        if score["rubric"] == rubric and score["value"] is not None and score["value"] < 1:
            yield score


def _short(text: Any, width: int = 110) -> str:
    flat = " ".join(str(text or "–").split())
    return flat if len(flat) <= width else flat[: width - 1] + "…"
