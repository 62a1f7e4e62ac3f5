"""Healthy days of the second service before the detectors alone: weeks in minutes, without a store.

What the store would sum by the minute is summed here from the same scored answers: as the queries
`signal_count` do, with a question that many ask at once as one voice. The detectors of rates,
numbers, traffic and changes are the product's; audits and the judge's sample are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from alerts.deltas.windows import Floats
from alerts.incidents.suspects import is_good
from alerts.notices.detect import RouteNotices
from alerts.notices.fingerprint import Fingerprint, fingerprint_of
from alerts.settings import AlertsSettings
from alerts.signals.broken import BrokenDetector
from alerts.signals.catalogue import signal_choice
from alerts.signals.minutes import MINUTE
from alerts.signals.moved import MovedDetector
from alerts.signals.traffic import TrafficDetector
from bench.rig.report import progress
from bench.rig.scored_pool import Case, Request, ScoredPool
from bench.rig.signals_modes import Bools, voices
from bench.rig.signals_traffic import START, Replay, summed
from bench.rig.truth_habits import HABITS
from bench.rig.truth_traffic import DAY, HOUR, requests
from ragvigil.model.delta import Series
from ragvigil.model.finding import PAGES, Finding
from ragvigil.model.notice import Notice
from ragvigil.model.outcome import ScoredRecord
from ragvigil.model.record import RagRecord
from ragvigil.model.score import Kind, Score, Stream
from ragvigil.model.signal import ERROR, SLOW
from ragvigil.store.records.traces import RubricFacts
from ragvigil.store.watch.signals import Sums

STEP_MINUTES = 5
SECONDS = "seconds_total"
SETTINGS = AlertsSettings()
CHOICE = signal_choice(SETTINGS.broken, SETTINGS.moved)


@dataclass(frozen=True, slots=True, kw_only=True)
class DaysResult:
    """What the detectors made of healthy days; `series` counts those that they followed."""

    habit: str
    days: float
    series: int
    pages: int
    tickets: int
    changes: int
    lines: tuple[str, ...]


def healthy_days(
    pool: ScoredPool, name: str, *, days: float, history_hours: float, seed: int
) -> DaysResult:
    """Days of a habit that has been there since the beginning, `history_hours` before them."""
    begin = int(START + (history_hours * HOUR) // HOUR * HOUR)
    end = int(begin + days * DAY)
    rng = np.random.default_rng(seed)
    arrivals = [
        one
        for hour in np.arange(START, end, HOUR)
        for one in HABITS[name](
            rng, requests(pool.texts, rng, float(hour), float(hour) + HOUR), pool
        )
    ]
    notices = [one for one in _notices(pool, arrivals) if one.since_unix_nano >= begin * 10**9]
    replay = Replay(list(_sums(pool, arrivals)))
    found = _findings(replay, begin, end)
    paged = [finding for finding in found.values() if finding.kind in PAGES]
    lines = [
        f"day {(finding.since_unix_nano / 1e9 - begin) / DAY:.2f}: {finding.kind} "
        f"{', '.join(finding.routes)}: {finding.words}"
        for finding in found.values()
    ]
    lines += [
        f"day {(one.since_unix_nano / 1e9 - begin) / DAY:.2f}: {one.kind} {one.route}: "
        f"{one.before} -> {one.after}"
        for one in notices
    ]
    return DaysResult(
        habit=name,
        days=days,
        series=len(replay.table.series),
        pages=len(paged),
        tickets=len(found) - len(paged),
        changes=len(notices),
        lines=tuple(lines),
    )


def _findings(replay: Replay, begin: int, end: int) -> dict[str, Finding]:
    """Everything that opened, by id, without what is for the better."""
    broken, moved, traffic = (
        BrokenDetector(SETTINGS.broken),
        MovedDetector(SETTINGS.moved),
        TrafficDetector(SETTINGS.broken),
    )
    found: dict[str, Finding] = {}
    replay.past(begin)
    for minute in range(begin, end, MINUTE):
        replay.minute(minute)
        now = minute + MINUTE
        if now // MINUTE % STEP_MINUTES:
            continue
        for finding in (
            *broken.step(replay.table, [now], {}),
            *moved.step(replay.table, now, {}),
            *traffic.step(replay.table, now, {}),
        ):
            if finding.finding_id not in found and not is_good(finding):
                found[finding.finding_id] = finding
                progress(f"{(now - begin) / DAY:.2f} d: {finding.routes} {finding.words}")
    return found


def _notices(pool: ScoredPool, arrivals: list[Request]) -> Iterator[Notice]:
    """The changes that the detectors of the routes notice."""
    detectors: dict[tuple[str, str, str], RouteNotices] = {}
    prints: dict[Case, Fingerprint] = {}
    for request in arrivals:
        case = _case(request)
        if case not in prints:
            prints[case] = fingerprint_of(pool.scored(case).record, 0)
        shown = replace(prints[case], time_unix_nano=int(request.at * 1e9))
        detector = detectors.get(shown.place)
        if detector is None:
            detector = detectors[shown.place] = RouteNotices(shown.place, SETTINGS.notices)
        yield from detector.step(shown)


def _case(request: Request) -> Case:
    return Case(question=request.question, state=request.state, accident=request.accident)


def _sums(pool: ScoredPool, arrivals: list[Request]) -> Iterator[Sums]:
    """Sums per minute and route, a signal at a time."""
    cases = list(dict.fromkeys(map(_case, arrivals)))
    places = {case: place for place, case in enumerate(cases)}
    case_of = np.array([places[_case(request)] for request in arrivals])
    scored = [pool.scored(case) for case in cases]
    facts = pool.facts
    shown = [_signals(one, facts) for one in scored]
    records = [one.record for one in scored]
    routes = sorted({record.route for record in records})
    route_of = np.array([routes.index(record.route) for record in records])[case_of]
    times = np.array([request.at for request in arrivals])
    questions = np.array([request.question for request in arrivals])
    is_voice = voices(times, route_of, questions)
    every = np.ones_like(is_voice)
    taken = np.array([request.seconds for request in arrivals])
    minutes = (times // MINUTE * MINUTE).astype(np.int64)

    def summed_of(signal: str, values: Floats, chosen: Bools) -> Sums:
        is_counted = chosen & np.isfinite(values)
        series = tuple(_series(records[0], route, signal) for route in routes)
        return summed(series, route_of[is_counted], minutes[is_counted], values[is_counted])

    for signal in sorted({signal for values in shown for signal in values}):
        values = np.array([one.get(signal, np.nan) for one in shown])[case_of]
        chosen = is_voice if signal != ERROR else every
        yield summed_of(signal, values, chosen)
    yield summed_of(SECONDS, np.log(taken), is_voice)
    yield summed_of(SLOW, (taken > CHOICE.slow_seconds).astype(float), every)


def _signals(scored: ScoredRecord, facts: Mapping[str, RubricFacts]) -> dict[str, float]:
    """What one answer counts as, by signal: as `parts/signal_*.sql` reads it from its rows."""
    values = {ERROR: float(bool(scored.record.error))}
    for name, value in scored.shape.items():
        if name in CHOICE.measures and name != SECONDS and value is not None:
            if name not in CHOICE.logged:
                values[name] = value
            elif value > 0:
                values[name] = float(np.log(value))
    for score in scored.scores:
        values |= _of_score(score, facts[score.rubric])
    return values


def _of_score(score: Score, facts: RubricFacts) -> Mapping[str, float]:
    labels = [part for part in map(str.strip, score.label.split(",")) if part]
    is_spoken = score.stream is Stream.BASE and (score.value is not None or bool(labels))
    is_local = score.kind is Kind.MODEL and score.value is not None
    values: dict[str, float] = {}
    is_followed = is_spoken and score.rubric in CHOICE.rubrics
    if score.value is not None and (is_followed or (is_local and score.rubric in CHOICE.local)):
        values[score.rubric] = score.value
    local_rates = (*CHOICE.local_rates, *(name for name in CHOICE.local if ":" in name))
    rates = [*(CHOICE.rates if is_spoken else ()), *(local_rates if is_local else ())]
    for rate in rates:
        rubric, _, label = rate.partition(":")
        if rubric == score.rubric:
            fails = score.fails(facts.fails_below)
            values[rate] = float(fails if label == "failed" else label in labels)
    return values


def _series(record: RagRecord, route: str, signal: str) -> Series:
    return Series(
        service=record.service, environment=record.environment, route=route, rubric=signal
    )
