"""The means that everything shows: corrected for who was judged, with intervals that hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from alerts.deltas.job import run_deltas
from alerts.settings import AlertsSettings
from ragvigil.model.delta import Delta, Estimate
from ragvigil.model.outcome import Outcome
from ragvigil.model.score import Kind, Layer, Score, Stream
from ragvigil.store.engine.batch import Batch
from ragvigil.store.engine.store import Store
from ragvigil.store.records.traces import RubricFacts, TraceRows
from ragvigil.store.scores import rollups
from tests.outcomes import NOW, SECOND, outcome_of

RUBRICS = {"groundedness": RubricFacts(version="1", fails_below=0.5)}
JUDGED = Score(
    rubric="groundedness",
    layer=Layer.GENERATION,
    scorer="openai:m",
    version="1",
    kind=Kind.JUDGE,
    inclusion_probability=0.1,
)
CHEAP = replace(
    JUDGED, scorer="Local", kind=Kind.MODEL, stream=Stream.PROXY, inclusion_probability=1.0
)
START = NOW // (3600 * SECOND) * 3600 * SECOND
"""A full hour, in nanoseconds."""
ANSWERS = 360


def answer(
    number: int, minute: int, *scores: Score, question: str = "", route: str = "/ask"
) -> Outcome:
    outcome = outcome_of(number, time_unix_nano=START + minute * 60 * SECOND, route=route)
    (scored,) = outcome.records
    record = replace(scored.record, query=question or f"What about item {number}?")
    return replace(outcome, records=(replace(scored, record=record, scores=scores),))


def deltas(store: Store, outcomes: list[Outcome]) -> dict[str, Delta]:
    """The last 90 minutes at the end of the hour, by rubric, and by route if not `/ask`."""
    rows = TraceRows(RUBRICS)
    for outcome in outcomes:
        rows.add(outcome)
    batch: Batch = rows.take()
    store.write(batch)
    rollups.recompute(store, batch.minutes)
    end = START // SECOND + 3600
    run = run_deltas(store, end, AlertsSettings(), failing={"groundedness"})
    return {
        f"{row.series.rubric} {row.series.route}".removesuffix(" /ask"): row
        for row in run.newest
        if row.window == "90m"
    }


def boosted(rng: np.random.Generator) -> tuple[list[Outcome], float]:
    """An hour whose last third is bad and judged more often; and the mean of all its answers."""
    outcomes, values = [], []
    for number in range(ANSWERS):
        minute, is_bad = number // 6, number >= 240
        value = float(np.clip((0.35 if is_bad else 0.85) + rng.normal(0, 0.1), 0, 1))
        values.append(value)
        cheap = replace(CHEAP, value=float(np.clip(value + rng.normal(0, 0.1), 0, 1)))
        rate = 0.6 if is_bad else 0.1
        scores = [cheap]
        if rng.random() < rate:
            scores.append(replace(JUDGED, value=value, inclusion_probability=rate))
        outcomes.append(answer(number, minute, *scores))
    return outcomes, float(np.mean(values))


def test_the_mean_of_a_boosted_sample_is_that_of_all_answers(store: Store) -> None:
    outcomes, truth = boosted(np.random.default_rng(3))
    row = deltas(store, outcomes)["groundedness"]
    assert row.estimate is Estimate.CORRECTED
    assert row.mean is not None
    assert row.plain_mean is not None
    # The judged answers alone are mostly those of the bad twenty minutes.
    assert row.plain_mean < truth - 0.1
    assert row.mean == pytest.approx(truth, abs=0.02)
    assert row.judged_share == pytest.approx(row.n / ANSWERS, abs=1e-5)


def test_a_boosted_stream_counts_by_its_chance_and_suspicious_answers_never(store: Store) -> None:
    outcomes = []
    for number in range(120):
        minute, is_boosted = number // 2, number % 2
        stream = Stream.BOOST if is_boosted else Stream.BASE
        chance = 2 / 3 if is_boosted else 1 / 6
        score = replace(
            JUDGED, value=float(not is_boosted), stream=stream, inclusion_probability=chance
        )
        outcomes.append(answer(number, minute, score))
    bad = replace(JUDGED, value=0.0, stream=Stream.SUSPICIOUS)
    outcomes += [answer(number, 50, bad) for number in range(200, 240)]
    row = deltas(store, outcomes)["groundedness"]
    assert row.estimate is Estimate.WEIGHTED
    assert row.mean == pytest.approx(0.8)
    assert row.plain_mean == 1.0
    # Each answer's share of the sum by its distance from the mean: 0.2 and 0.8.
    variance = (60 * (6 * 0.2) ** 2 + 60 * (1.5 * 0.8) ** 2) / 450**2
    assert row.n_effective == pytest.approx(0.16 / variance, rel=0.02)


def test_too_few_judged_answers_keep_the_plain_mean_and_say_so(store: Store) -> None:
    outcomes = []
    for number in range(60):
        scores = [replace(CHEAP, value=0.9)]
        if number < 9:
            scores.append(
                replace(JUDGED, value=number / 8, inclusion_probability=0.1 + number / 90)
            )
        outcomes.append(answer(number, number, *scores))
    row = deltas(store, outcomes)["groundedness"]
    assert (row.estimate, row.n) == (Estimate.TOO_FEW, 9)
    assert row.mean == row.plain_mean == 0.5


def test_the_share_that_fails_is_corrected_like_the_mean(store: Store) -> None:
    outcomes, _ = boosted(np.random.default_rng(4))
    row = deltas(store, outcomes)["groundedness:failed"]
    assert row.estimate is Estimate.CORRECTED
    assert row.mean == pytest.approx(1 / 3, abs=0.06)
    assert row.plain_mean is not None
    assert row.plain_mean > 0.6


def test_a_mean_of_all_answers_is_plain_and_a_popular_question_widens_it(store: Store) -> None:
    code = replace(JUDGED, scorer="Code", kind=Kind.CODE, inclusion_probability=1.0)
    values = np.random.default_rng(5).random(100)
    calm, crowded = [], []
    for number, value in enumerate(values.tolist()):
        score = replace(code, value=value)
        calm.append(answer(number, number // 2, score))
        question = "Is there an outage?" if number % 4 == 0 else ""
        crowded.append(answer(1000 + number, number // 2, score, question=question, route="/b"))
    rows = deltas(store, calm + crowded)
    own, shared = rows["groundedness"], rows["groundedness /b"]
    assert own.estimate is shared.estimate is Estimate.PLAIN
    assert own.judged_share is shared.judged_share is None
    assert own.mean == shared.mean == pytest.approx(values.mean(), abs=1e-5)
    assert own.n_effective == 100
    # Each of the 25 answers that share a question counts 25 times.
    assert shared.n_effective == pytest.approx(100 / ((25 * 25 + 75) / 100), abs=0.1)
