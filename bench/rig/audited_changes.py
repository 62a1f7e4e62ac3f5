"""A change that did or did not make scores worse, and its audit, by the product's functions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from alerts.audits.decide import Plan, next_rubrics, update
from alerts.audits.matching import SAMPLE, comparable, least_of, likeness, match
from alerts.deltas.windows import Floats, Ints
from ragvigil.model.audit import AuditResult, AuditState, Pair, Side, Verdict
from ragvigil.model.score import Layer

AN_HOUR, ROUTES, TOPICS, QUESTIONS = 400, 5, 20, 40
LOOK_MINUTES, MOST_MINUTES, NOTICED_MINUTES = 2, 360, 3
LOOK_PAIRS = 32
POOL = 2_400
RUBRICS = ("context_relevance", "groundedness")
LAYERS = (Layer.RETRIEVAL, Layer.GENERATION)
MEANS = (0.72, 0.88)
TOPIC_DEVIATION = 0.16


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The settings of a run; `drop` holds one value per rubric, in the order of RUBRICS."""

    drop: tuple[float, float] = (0.0, 0.0)
    has_topics: bool = True
    other_mix: bool = False
    new_topic: bool = False
    wander: float = 0.0
    is_shared: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """Numbered questions: their topics and the likeness of every pair."""

    topic: Ints
    alike: Floats


def asked(rng: np.random.Generator) -> Questions:
    """Questions of five words common to all topics and three of their own."""
    letters = np.array(list("abcdefghijklmnoprstuvw"))

    def words(count: int) -> list[str]:
        return ["".join(rng.choice(letters, rng.integers(4, 9))) for _ in range(count)]

    usual = words(30)
    own = [words(12) for _ in range(TOPICS)]
    topic = np.repeat(np.arange(TOPICS), QUESTIONS)
    texts = [" ".join([*rng.choice(usual, 5), *rng.choice(own[subject], 3)]) for subject in topic]
    return Questions(topic=topic, alike=likeness(texts, texts))


def scored(rng: np.random.Generator, mean: Floats, rubric: int) -> Floats:
    """Scores with these expectations: the mean of four grades, or mostly 1, some 0, some between.

    Graded chunks of one question stand or fall together, which leaves atoms at 0 and 1.
    """
    mean = np.clip(mean, 0.02, 0.99)
    if rubric == 0:
        together = rng.beta(4 * mean, 4 * (1 - mean))
        return rng.binomial(12, together) / 12
    between = rng.choice([0.25, 0.5, 0.75], len(mean))
    kind = rng.random(len(mean))
    bad = 1 - mean
    return np.where(kind < 0.3 * bad, 0.0, np.where(kind < 1.7 * bad, between, 1.0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """Records of one side: question, route and both scores; shapes (n,), (n,), (n, 2)."""

    question: Ints
    route: Ints
    scores: Floats


def traffic(
    rng: np.random.Generator,
    mix: Floats,
    level: Floats,
    moved: Floats,
    size: int,
) -> Traffic:
    """`level` by topic and rubric, `moved` by route and rubric."""
    topic = rng.choice(TOPICS, size, p=mix)
    question = topic * QUESTIONS + rng.integers(0, QUESTIONS, size)
    route = rng.integers(0, ROUTES, size)
    expected = level[topic] + moved[route]
    scores = np.stack([scored(rng, expected[:, side], side) for side in range(2)], axis=1)
    return Traffic(question=question, route=route, scores=scores)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How an audit ended: minutes until a drop was confirmed, by rubric, and the pairs."""

    confirmed: dict[str, float]
    pairs: int
    minutes: float
    states: tuple[AuditState, ...]


def run(rng: np.random.Generator, questions: Questions, world: World, plan: Plan) -> Ended:
    """One change and its audit."""
    spread = TOPIC_DEVIATION if world.has_topics else 0.0
    level = np.array(MEANS) + rng.normal(0, spread, (TOPICS, 2)) * np.array([1.0, 0.6])
    mix = rng.dirichlet(np.full(TOPICS, 2.0))
    later = rng.dirichlet(np.full(TOPICS, 2.0)) * 0.5 + mix * 0.5 if world.other_mix else mix
    if world.new_topic:
        mix = np.where(np.arange(TOPICS) == 0, 0, mix)
        mix = mix / mix.sum()
        later = 0.9 * mix + 0.1 * (np.arange(TOPICS) == 0)
        level[0] = level.mean(axis=0) - 0.2
    wander = wandering(rng, world)
    hour_before = traffic(rng, mix, level, wander[0], AN_HOUR)
    days_before = traffic(rng, mix, level, wander[1:6].mean(axis=0), POOL - AN_HOUR)
    before = joined([hour_before, days_before])
    after = joined(
        [
            traffic(rng, later, level, wander[6 + hour] - np.array(world.drop), AN_HOUR)
            for hour in range(MOST_MINUTES // 60)
        ]
    )
    come = np.sort(rng.uniform(0, MOST_MINUTES, len(after.question)))
    return audited(questions, before, after, come, plan)


def wandering(rng: np.random.Generator, world: World) -> Floats:
    """Levels of the hour before, five earlier days, and the hours after; by route and rubric.

    From hour to hour four fifths of a level stay. Shape (12, ROUTES, 2).
    """
    routes = 1 if world.is_shared else ROUTES
    found = rng.normal(0, 1, (12, routes, 2))
    for place in range(6, 12):
        past = found[0] if place == 6 else found[place - 1]
        found[place] = 0.8 * past + 0.6 * found[place]
    return world.wander * np.broadcast_to(found, (12, ROUTES, 2))


def joined(parts: list[Traffic]) -> Traffic:
    """Concatenates the parts in their order."""
    return Traffic(
        question=np.concatenate([part.question for part in parts]),
        route=np.concatenate([part.route for part in parts]),
        scores=np.concatenate([part.scores for part in parts]),
    )


def audited(
    questions: Questions, before: Traffic, after: Traffic, come: Floats, plan: Plan
) -> Ended:
    """Steps the audit until it ends."""
    results = [
        AuditResult(rubric=rubric, layer=layer)
        for rubric, layer in zip(RUBRICS, LAYERS, strict=True)
    ]
    free = np.arange(len(before.question))
    among = questions.alike[np.ix_(before.question[:SAMPLE], before.question)]
    least, taken = least_of(among), 0
    pairs: list[Pair] = []
    confirmed: dict[str, float] = {}
    minute = NOTICED_MINUTES
    while minute <= MOST_MINUTES:
        running = next_rubrics(results, plan, len(pairs))
        if not running:
            break
        here = min(int(np.searchsorted(come, minute)), taken + LOOK_PAIRS)
        fresh, taken = np.arange(taken, here), max(taken, here)
        if len(fresh):
            made, used = matched(questions, before, after, (free, fresh), least, running)
            pairs += made
            free = np.delete(free, used)
        results = [
            update(result, pairs, plan, minute) if result.rubric in running else result
            for result in results
        ]
        for result in results:
            if result.state is AuditState.DROPPED:
                confirmed.setdefault(result.rubric, minute)
        minute += LOOK_MINUTES
    return Ended(
        confirmed=confirmed,
        pairs=len(pairs),
        minutes=minute,
        states=tuple(result.state for result in results),
    )


def matched(
    questions: Questions,
    before: Traffic,
    after: Traffic,
    places: tuple[Ints, Ints],
    least: float,
    rubrics: tuple[str, ...],
) -> tuple[list[Pair], list[int]]:
    """Pairs of the free and fresh places, and the positions among the free that they use."""
    free, fresh = places
    whole = questions.alike[np.ix_(after.question[fresh], before.question)]
    fresh = fresh[comparable(whole, least)]
    alike = questions.alike[np.ix_(after.question[fresh], before.question[free])]
    found = match(alike, list(after.route[fresh]), list(before.route[free]))
    made = [
        pair(before, int(free[match_.before]), after, int(fresh[match_.after]), rubrics)
        for match_ in found
    ]
    return made, [match_.before for match_ in found]


def pair(
    before: Traffic, first: int, after: Traffic, second: int, rubrics: tuple[str, ...]
) -> Pair:
    """Two records, judged by the rubrics that still run."""
    return Pair(
        number=second, before=side(before, first, rubrics), after=side(after, second, rubrics)
    )


def side(of: Traffic, number: int, rubrics: tuple[str, ...]) -> Side:
    """One record with its verdicts."""
    return Side(
        trace_id=str(number),
        record_id="",
        route=str(of.route[number]),
        verdicts=tuple(
            Verdict(rubric=rubric, layer=layer, value=float(of.scores[number, place]))
            for place, (rubric, layer) in enumerate(zip(RUBRICS, LAYERS, strict=True))
            if rubric in rubrics
        ),
    )
