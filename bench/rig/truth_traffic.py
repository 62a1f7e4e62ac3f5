"""When requests come, what they ask, and which faults meet them: 400 an hour by the time of day."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import pi, sin

import numpy as np

from bench.rig.scored_pool import HEALTHY, Request
from bench.rig.truth_faults import Fault
from bench.rig.truth_texts import Question, Texts

AN_HOUR = 400.0
HOUR, DAY, MINUTE = 3600.0, 86_400.0, 60.0
ACCIDENTS = {"error": 0.004, "cut": 0.006, "empty": 0.003, "refusal": 0.04, "unsupported": 0.02}
SECONDS, SPREAD = 1.6, 0.35


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """A fault at work from one time to another (seconds), on some routes or on all."""

    fault: Fault
    start: float
    end: float
    routes: tuple[str, ...] = ()

    def holds(self, at: float, route: str) -> bool:
        """Whether it is at work then and there."""
        return self.start <= at < self.end and (not self.routes or route in self.routes)


def requests(
    texts: Texts,
    rng: np.random.Generator,
    start: float,
    end: float,
    episodes: Sequence[Episode] = (),
) -> list[Request]:
    """The requests of a time, oldest first."""
    routes = list(texts.corpora)
    weights = np.array([1.0 / (place + 2) for place in range(len(routes))])
    questions = {route: texts.of(route) for route in routes}
    arrivals: list[Request] = []
    for minute in np.arange(start, end, MINUTE):
        for route, weight in zip(routes, weights / weights.sum(), strict=True):
            active = [episode for episode in episodes if episode.holds(minute, route)]
            rate = AN_HOUR / 60 * weight * of_day(minute)
            for episode in active:
                rate *= episode.fault.traffic * episode.fault.mix
            times = minute + MINUTE * np.sort(rng.random(rng.poisson(rate)))
            arrivals += [_request(questions[route], rng, float(at), active) for at in times]
    return sorted(arrivals, key=lambda one: one.at)


def of_day(at: float) -> float:
    """The traffic by the time of day, 1 on average: least at 3 in the night."""
    return 1 + 0.6 * sin(2 * pi * (at % DAY / DAY - 9 / 24))


def _request(
    questions: Sequence[Question],
    rng: np.random.Generator,
    at: float,
    active: Sequence[Episode],
) -> Request:
    # A few questions are asked often, most of them seldom.
    place = int(len(questions) * rng.random() ** 1.5)
    met = [episode.fault for episode in active if rng.random() < episode.fault.share]
    accident = rng.choice([*ACCIDENTS, ""], p=[*ACCIDENTS.values(), 1 - sum(ACCIDENTS.values())])
    seconds = SECONDS * float(np.exp(SPREAD * rng.standard_normal()))
    for fault in met:
        seconds *= fault.seconds
    return Request(
        at=at,
        question=questions[place].number,
        # The rarest, else a fault of every request would hide one of some: as good as its fix.
        state=min(reversed(met), key=lambda fault: fault.share).name if met else HEALTHY,
        accident=str(accident),
        seconds=round(seconds, 3),
    )
