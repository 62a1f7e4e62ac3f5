"""Lists records whose verdicts contradict each other, for a person to look at. Pure.

A judge against a person, a judge against a cheap scorer of the same rubric, and two rubrics that
contradict each other: grounded in irrelevant chunks, or relevant and not grounded.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from scorers.calibration.measure import passes

OPPOSED = (("groundedness", "answer_relevance"), ("groundedness", "context_relevance"))
"""Pairs of rubrics that contradict each other if one is high and the other low."""
LEAST_GAP = 0.3
"""Least difference: two verdicts close to the bar, on either side of it, are no dispute."""
MOST = 100


class Voice(StrEnum):
    """Who gave the value."""

    PERSON = "person"
    JUDGE = "judge"
    SCORER = "scorer"


class Dispute(StrEnum):
    """Kinds of contradictions, the most valuable for a person first."""

    PERSON = "judge_against_person"
    SCORER = "judge_against_scorer"
    RUBRICS = "rubric_against_rubric"


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    """A value of one rubric for one record; `name` is that of the labeller, judge or scorer."""

    trace_id: str
    record_id: str
    rubric: str
    voice: Voice
    value: float
    name: str = ""
    time_unix_nano: int = 0
    service: str = ""
    route: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """Two contradicting values; the first is the judge's (of the first of two rubrics)."""

    kind: Dispute
    first: Opinion
    second: Opinion
    why: str

    @property
    def gap(self) -> float:
        """The difference of the values, 0..1."""
        return abs(self.first.value - self.second.value)


Values: TypeAlias = Mapping[tuple[str, Voice], Opinion]


def disagreements(
    opinions: Iterable[Opinion], bars: Mapping[str, float], *, most: int = MOST
) -> list[Disagreement]:
    """Up to `most` disagreements: those with people first, then the widest.

    `bars` holds the value of each rubric under which a record fails. A judge is not compared with
    scorers on what a person has labelled. Of two values of one rubric and voice the newest counts.
    """
    records: dict[tuple[str, str], dict[tuple[str, Voice], Opinion]] = {}
    for opinion in sorted(opinions, key=lambda opinion: opinion.time_unix_nano):
        record = records.setdefault((opinion.trace_id, opinion.record_id), {})
        record[opinion.rubric, opinion.voice] = opinion
    result = [
        disagreement for record in records.values() for disagreement in _in_record(record, bars)
    ]
    # Ids break ties, so that the same values always make the same list.
    order = list(Dispute)
    result.sort(
        key=lambda disagreement: (
            order.index(disagreement.kind),
            -disagreement.gap,
            disagreement.first.trace_id,
            disagreement.first.record_id,
            disagreement.first.rubric,
            disagreement.second.rubric,
        )
    )
    return result[:most]


def _in_record(record: Values, bars: Mapping[str, float]) -> Iterator[Disagreement]:
    labelled = {rubric for rubric, voice in record if voice is Voice.PERSON}
    for (rubric, voice), judged in record.items():
        if voice is not Voice.JUDGE:
            continue
        person, scorer = record.get((rubric, Voice.PERSON)), record.get((rubric, Voice.SCORER))
        bar = bars.get(rubric)
        if person is not None and passes(judged.value, bar) != passes(person.value, bar):
            yield _disagreement(Dispute.PERSON, judged, person)
        if scorer is None or rubric in labelled:
            continue
        apart = passes(judged.value, bar) != passes(scorer.value, bar)
        if apart and abs(judged.value - scorer.value) >= LEAST_GAP:
            yield _disagreement(Dispute.SCORER, judged, scorer)
    yield from _between_rubrics(record, bars, labelled)


def _between_rubrics(
    record: Values, bars: Mapping[str, float], labelled: Collection[str]
) -> Iterator[Disagreement]:
    for first_rubric, other in OPPOSED:
        first, second = record.get((first_rubric, Voice.JUDGE)), record.get((other, Voice.JUDGE))
        if first is None or second is None or {first_rubric, other} <= set(labelled):
            continue
        apart = passes(first.value, bars.get(first_rubric)) != passes(second.value, bars.get(other))
        if apart and abs(first.value - second.value) >= LEAST_GAP:
            yield _disagreement(Dispute.RUBRICS, first, second)


def _disagreement(kind: Dispute, first: Opinion, second: Opinion) -> Disagreement:
    if kind is Dispute.RUBRICS:
        high, low = sorted((first, second), key=lambda opinion: -opinion.value)
        why = f"{high.rubric} {high.value:.2f}, yet {low.rubric} {low.value:.2f}"
    else:
        voice = "a person" if kind is Dispute.PERSON else second.name or "a cheap scorer"
        why = f"{first.rubric}: the judge says {first.value:.2f}, {voice} {second.value:.2f}"
    return Disagreement(kind=kind, first=first, second=second, why=why)
