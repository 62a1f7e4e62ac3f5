"""Samples records for the judge by a hash of the trace id, so that replicas and replays agree.

    >>> sampled = [is_sampled(f"trace-{n}", 0.05, "salt") for n in range(10_000)]
    >>> 400 < sum(sampled) < 600
    True

Samples are nested: that at 5 % is part of that at 10 %.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score, Stream
from scorers.judge.settings import JudgeSettings

_WHOLE = 2.0**64
FULL, ROOMY = 0.95, 0.8
"""Shares of the earned budget at which rates are halved, and under which they grow."""
LEAST_THINNING = 1 / 64
"""Never 0, so that the rates recover."""

Amounts = tuple[float, float]
Limits = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleChoice:
    """The stream that a record is judged for, and its probability of being sampled (0..1).

    Of BASE and BOOST it is that of either: both together are one sample.
    """

    stream: Stream
    probability: float


def is_sampled(trace_id: str, rate: float, salt: str) -> bool:
    """Whether a trace belongs to the share `rate` (0..1) of all traces."""
    return _place(trace_id, salt) < rate


def choose_stream(
    record: RagRecord,
    scores: Iterable[Score],
    settings: JudgeSettings,
    fails_below: Mapping[str, float],
    *,
    thinning: float = 1.0,
    boost: float = 0.0,
) -> SampleChoice | None:
    """Chooses the stream that a record is judged for; None if it is not sampled.

    `thinning` (0..1) is the factor that budget and pace leave of each route's rate, `boost` the
    rate (0..1) at which its route is judged for a while.
    """
    rate = settings.rate_of(record.route) * thinning
    if is_sampled(record.trace_id, rate, settings.salt):
        return SampleChoice(stream=Stream.BASE, probability=max(rate, boost * thinning))
    # Around the base sample: both together are a sample at the higher rate.
    if is_sampled(record.trace_id, boost * thinning, settings.salt):
        return SampleChoice(stream=Stream.BOOST, probability=boost * thinning)
    # A salt of its own: by the same hash, this sample would lie inside the base sample.
    rate = settings.suspicious_rate * thinning
    is_next = is_sampled(record.trace_id, rate, f"{settings.salt} suspicious")
    if is_next and _is_suspicious(record, scores, fails_below):
        return SampleChoice(stream=Stream.SUSPICIOUS, probability=rate)
    return None


def may_be_chosen(trace_id: str, settings: JudgeSettings, boost: float = 0.0) -> bool:
    """Whether a record of this trace could be sampled, whatever its route and scores.

    `boost` is the highest rate at which a route is judged for a while.
    """
    most = max(settings.sample_rate, *settings.routes.values(), boost)
    return is_sampled(trace_id, most, settings.salt) or is_sampled(
        trace_id, settings.suspicious_rate, f"{settings.salt} suspicious"
    )


def next_thinning(before: float, *, spent: Amounts, allowed: Limits) -> float:
    """The next factor (0..1) of all sampling rates, so that the day's budget lasts.

    `allowed` is what the traffic of the day has earned until now. Halves at FULL of it, grows by a
    quarter under ROOMY. Amounts are tokens and US dollars; a limit of None is none. Called once a
    minute.

    >>> next_thinning(1.0, spent=(96, 0.0), allowed=(100, None))
    0.5
    >>> next_thinning(0.5, spent=(20, 0.0), allowed=(100, None))
    0.625
    """
    used = max(
        (
            amount / limit if limit else 1.0
            for amount, limit in zip(spent, allowed, strict=True)
            if limit is not None
        ),
        default=0.0,
    )
    if used >= FULL:
        return max(LEAST_THINNING, before / 2)
    return min(1.0, before * 1.25) if used < ROOMY else before


def _is_suspicious(
    record: RagRecord, scores: Iterable[Score], fails_below: Mapping[str, float]
) -> bool:
    """Whether the record has an error, bad feedback of a user, or a cheap rubric that failed."""
    if record.error or any(
        feedback.value is not None and feedback.value < 0.5 for feedback in record.feedback
    ):
        return True
    return any(score.fails(fails_below.get(score.rubric)) for score in scores)


def _place(trace_id: str, salt: str) -> float:
    """The place of a trace in 0..1: uniform, and independent for each salt."""
    # Lower case: the same trace id may arrive in either case.
    digest = hashlib.blake2b(
        trace_id.lower().encode("utf-8", "surrogatepass"),
        digest_size=8,
        key=hashlib.blake2b(salt.encode("utf-8", "surrogatepass"), digest_size=32).digest(),
    ).digest()
    return int.from_bytes(digest, "big") / _WHOLE
