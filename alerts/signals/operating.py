"""Operating points: standing findings about how a service is set up, from the first hour. Pure.

None of them pages. Each is reported only where its 95 % interval lies wholly beyond the bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

from ragvigil.model import figures
from ragvigil.model.delta import Delta
from ragvigil.model.operating import Place, ScoreSums, Spending, Thumbs
from ragvigil.model.wilson import wilson

UTILIZATION, RECALL = "chunk_utilization", "context_recall"
"""The rubrics that operating points are read off."""
LOW_UTILIZATION, OVER_FETCHING, FULL_RECALL = 0.30, 0.25, 0.90
THUMBS_DOWN_BAD, THUMBS_DOWN_GOOD = 0.05, 0.02
LEAST_SCORES = 20
"""Fewer scores give no operating point."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatingPoint:
    """One standing finding on one route; `low` and `high` bound `value` at 95 %.

    For a pair of rubrics that pull apart, the numbers are the change of the rubric that fell.
    """

    name: str
    service: str
    environment: str
    route: str
    value: float
    low: float
    high: float
    n: int
    bound: float
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """A rubric that rose while another fell, and the name of that change."""

    rose: str
    fell: str
    name: str
    words: str


PAIRS = (
    Pair(
        rose="groundedness",
        fell="completeness",
        name="narrower_answers",
        words="narrower answers: better founded, and they leave more out",
    ),
    Pair(
        rose="completeness",
        fell="groundedness",
        name="broader_answers",
        words="broader answers: they say more than the context supports",
    ),
    Pair(
        rose="context_recall",
        fell="context_precision",
        name="wider_retrieval",
        words="wider retrieval: more is found, and more beside the point",
    ),
    Pair(
        rose="context_precision",
        fell="context_recall",
        name="narrower_retrieval",
        words="narrower retrieval: more to the point, and more is missed",
    ),
    Pair(
        rose="context_adherence",
        fell="answer_relevance",
        name="past_the_question",
        words="answers keep to the context and leave the question",
    ),
    Pair(
        rose="answer_relevance",
        fell="context_adherence",
        name="past_the_context",
        words="answers keep to the question and leave the context",
    ),
)


def operating_points(
    scores: Sequence[ScoreSums],
    spending: Iterable[Spending],
    thumbs: Iterable[Thumbs],
    deltas: Iterable[Delta],
    *,
    days: float,
) -> list[OperatingPoint]:
    """Returns every point that holds. `days` is the length of the time that `spending` covers."""
    spent = {sums.place: sums for sums in spending}
    recalled = {sums.place for sums in scores if sums.rubric == RECALL}
    points = [
        *(
            point
            for sums in scores
            for point in _utilization(sums, spent.get(sums.place), sums.place in recalled, days)
        ),
        *(point for sums in scores for point in _recall(sums)),
        *(point for rating in thumbs for point in _thumbs(rating)),
        *_pairs(deltas),
    ]
    return sorted(
        points, key=lambda point: (point.service, point.environment, point.route, point.name)
    )


def _utilization(
    sums: ScoreSums, spent: Spending | None, knows_recall: bool, days: float
) -> Iterator[OperatingPoint]:
    if sums.rubric != UTILIZATION or sums.n < LEAST_SCORES:
        return
    mean, low, high = _interval(sums)
    # Called over-fetching only where recall is known, else low utilization.
    is_over_fetching = knows_recall and high < OVER_FETCHING
    if high >= LOW_UTILIZATION:
        return
    words = f"answers use {figures.share(mean)} of their context"
    if spent is not None and days > 0:
        tokens = spent.context_tokens * (1 - mean) / days
        dollars = "" if spent.usd is None else f" and up to ${spent.usd * (1 - mean) / days:,.2f}"
        words += f"; about {tokens:,.0f} tokens{dollars} a day go unused"
    yield _point(
        "over_fetching" if is_over_fetching else "low_utilization",
        sums.place,
        (mean, low, high),
        n=int(sums.n),
        bound=OVER_FETCHING if is_over_fetching else LOW_UTILIZATION,
        words=f"{words}: retrieve fewer chunks, or rerank",
    )


def _recall(sums: ScoreSums) -> Iterator[OperatingPoint]:
    if sums.rubric != RECALL or sums.n < LEAST_SCORES:
        return
    mean, low, high = _interval(sums)
    if high < FULL_RECALL:
        yield _point(
            "under_fetching",
            sums.place,
            (mean, low, high),
            n=int(sums.n),
            bound=FULL_RECALL,
            words=f"retrieval finds {figures.share(mean)} of what golden questions need: "
            "retrieve more, or mend the index",
        )


def _thumbs(rating: Thumbs) -> Iterator[OperatingPoint]:
    low, high = wilson(rating.down, rating.rated)
    is_bad, is_good = low > THUMBS_DOWN_BAD, high < THUMBS_DOWN_GOOD
    if is_bad or is_good:
        share = rating.down / rating.rated
        yield _point(
            "thumbs_down" if is_bad else "few_thumbs_down",
            rating.place,
            (share, low, high),
            n=rating.rated,
            bound=THUMBS_DOWN_BAD if is_bad else THUMBS_DOWN_GOOD,
            words=f"users dislike {rating.down} of {rating.rated} rated answers "
            f"({figures.share(share)}){'' if is_bad else ', which is good'}",
        )


def _pairs(deltas: Iterable[Delta]) -> Iterator[OperatingPoint]:
    """Yields pairs of rubrics of one route whose intervals lie on opposite sides of 0."""
    by_place: dict[Place, dict[str, Delta]] = {}
    for delta in deltas:
        series = delta.series
        place = Place(service=series.service, environment=series.environment, route=series.route)
        by_place.setdefault(place, {})[series.rubric] = delta
    for place, deltas_of in by_place.items():
        for pair in PAIRS:
            yield from _pulled(place, pair, deltas_of)


def _pulled(place: Place, pair: Pair, deltas_of: Mapping[str, Delta]) -> Iterator[OperatingPoint]:
    rose, fell = deltas_of.get(pair.rose), deltas_of.get(pair.fell)
    if rose is None or fell is None or rose.low is None or rose.delta is None:
        return
    if fell.delta is None or fell.low is None or fell.high is None:
        return
    # Both intervals exclude 0, on opposite sides.
    if rose.low > 0 > fell.high:
        yield _point(
            pair.name,
            place,
            (fell.delta, fell.low, fell.high),
            n=fell.n,
            bound=0.0,
            words=f"{pair.words} ({pair.rose} {100 * rose.delta:+.0f} points, "
            f"{pair.fell} {100 * fell.delta:+.0f} points)",
        )


def _interval(sums: ScoreSums) -> tuple[float, float, float]:
    """Mean and 95 % interval, with one more value at 0 and one at 1 (as `Counts.variance`)."""
    n, total, squares = sums.n + 2, sums.total + 1, sums.squares + 1
    half = 1.96 * sqrt(max(0.0, squares - total**2 / n) / (n - 1) / sums.n)
    mean = sums.total / sums.n
    return mean, max(0.0, mean - half), min(1.0, mean + half)


def _point(
    name: str,
    place: Place,
    bounds: tuple[float, float, float],
    *,
    n: int,
    bound: float,
    words: str,
) -> OperatingPoint:
    value, low, high = bounds
    return OperatingPoint(
        name=name,
        service=place.service,
        environment=place.environment,
        route=place.route,
        value=value,
        low=low,
        high=high,
        n=n,
        bound=bound,
        words=words,
    )
