"""Traffic of four routes with faults in it, watched by the real detectors and folded.

No store and no judge: sums by the minute, drawn at random, go through both detectors of signals;
changes are noticed where a fault has one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from alerts.incidents.fold import fold
from alerts.incidents.settings import IncidentSettings
from alerts.incidents.suspects import is_good
from alerts.incidents.undeclared import undeclared
from alerts.signals.broken import BrokenDetector
from alerts.signals.minutes import HOUR, MINUTE, SignalMinutes
from alerts.signals.moved import MovedDetector
from alerts.signals.settings import BrokenSettings, MovedSettings
from ragvigil.model.delta import Series
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.incident import Incident
from ragvigil.model.notice import Cause, ChangeKind, Notice
from tests.unit.alerts.minute_tables import START, Cell, named, sums

ROUTES = ("/a", "/b", "/c", "/d")
AN_HOUR = 100.0
"""Requests of one route."""
PAST_HOURS = 120
FOLD_MINUTES = 5
RATES: Mapping[str, float] = {
    "retrieval_shape:empty": 0.003,
    "error": 0.004,
    "citation_validity:failed": 0.015,
    "refusal:refused": 0.04,
    "answer_complete_text:truncated": 0.006,
    "injected_context:failed": 0.0,
}
NUMBERS: Mapping[str, tuple[float, float]] = {
    "chunk_utilization": (0.5, 0.2),
    "citation_coverage": (0.7, 0.25),
    "citations": (2.0, 0.8),
    "answer_words": (4.5, 0.5),
    "context_tokens": (6.5, 0.3),
    "context_chunks": (5.0, 0.5),
    "chunk_characters": (6.0, 0.4),
    "groundedness": (0.8, 0.2),
    "context_relevance": (0.6, 0.15),
}
"""Mean and standard deviation; logarithms where the signal is logged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What a fault does: rates it raises, numbers it moves (in standard deviations), its change."""

    cause: Cause
    rates: Mapping[str, float] = field(default_factory=dict)
    moves: Mapping[str, float] = field(default_factory=dict)
    change: ChangeKind | None = None


FAULTS: Mapping[str, Fault] = {
    "nothing retrieved": Fault(
        cause=Cause.RETRIEVAL,
        rates={"retrieval_shape:empty": 0.4, "refusal:refused": 0.35},
        moves={"context_chunks": -4.0, "answer_words": -0.5},
    ),
    "wrong chunks": Fault(
        cause=Cause.RETRIEVAL,
        rates={"refusal:refused": 0.2},
        moves={"context_relevance": -0.8, "chunk_utilization": -0.4},
    ),
    "chunker": Fault(
        cause=Cause.RETRIEVAL,
        moves={"chunk_characters": -2.0, "context_tokens": -1.5, "context_relevance": -0.5},
        change=ChangeKind.RECHUNKED,
    ),
    "reranker off": Fault(
        cause=Cause.RETRIEVAL, moves={"context_relevance": -0.8}, change=ChangeKind.RERANKER
    ),
    "top-k": Fault(
        cause=Cause.RETRIEVAL,
        moves={"context_chunks": 4.0, "context_tokens": 2.0, "chunk_utilization": -1.0},
        change=ChangeKind.TOP_K,
    ),
    "citations off": Fault(cause=Cause.GENERATION, rates={"citation_validity:failed": 0.4}),
    "truncation": Fault(
        cause=Cause.GENERATION,
        rates={"answer_complete_text:truncated": 0.3},
        moves={"answer_words": -0.5},
        change=ChangeKind.MAX_TOKENS,
    ),
    "over-refusal": Fault(
        cause=Cause.GENERATION,
        rates={"refusal:refused": 0.35},
        moves={"answer_words": -0.5, "citations": -0.7},
        change=ChangeKind.PROMPT,
    ),
    "half as long": Fault(cause=Cause.GENERATION, moves={"answer_words": -1.4, "citations": -0.8}),
    "hostile documents": Fault(
        cause=Cause.CORPUS,
        rates={"injected_context:failed": 0.35},
        change=ChangeKind.DOCUMENTS,
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Onset:
    """A fault on some routes from one minute until another, counted from the first one watched."""

    fault: str
    routes: tuple[str, ...]
    minute: int
    until: int = 10**6


class Service:
    """A service whose healthy past is known, and its incidents minute by minute."""

    def __init__(self, onsets: Sequence[Onset], seed: int, *, past_hours: int = PAST_HOURS) -> None:
        self.onsets, self.incidents = tuple(onsets), tuple[Incident, ...]()
        self.pages: list[int] = []
        self._chance = np.random.default_rng(seed)
        self._table, self._now = SignalMinutes(), 0
        self._broken = BrokenDetector(BrokenSettings())
        self._moved = MovedDetector(MovedSettings())
        self._settings = IncidentSettings()
        self.start = START + (past_hours + 3) * HOUR
        self._table.advance(START + HOUR)
        for hour in range(START, self.start, HOUR):
            self._table.advance(hour + HOUR)
            if hour < self.start - 2 * HOUR:
                self._table.put_hours([self._draw(hour, HOUR // MINUTE, ())], [hour])
            else:
                for minute in range(hour, hour + HOUR, MINUTE):
                    self._table.put_minutes([self._draw(minute, 1, ())], [minute])

    def run(self, minutes: int) -> tuple[Incident, ...]:
        """Watches that many minutes more and returns all incidents, resolved ones included."""
        for place in range(self._now, self._now + minutes):
            at = self.start + place * MINUTE
            lasting = [each for each in self.onsets if each.minute <= place < each.until]
            self._table.advance(at + MINUTE)
            self._table.put_minutes([self._draw(at, 1, lasting)], [at])
            broken = self._broken.step(self._table, [at + MINUTE], {})
            moved = self._moved.step(self._table, at + MINUTE, {})
            if (place + 1) % FOLD_MINUTES == 0 or any(
                not finding.is_open for finding in (*broken, *moved)
            ):
                self._fold(at + MINUTE, (*broken, *moved))
        self._now += minutes
        return self.incidents

    def minute(self, unix_nano: int) -> float:
        """A time in minutes from the first one watched."""
        return (unix_nano / 1e9 - self.start) / MINUTE

    def _fold(self, now: int, findings: Sequence[Finding]) -> None:
        notices = [notice for notice in self._notices() if notice.noticed_unix_nano <= now * 10**9]
        changed = undeclared(notices, (), now * 10**9, self._settings)
        worse = [finding for finding in findings if not is_good(finding)]
        before = {incident.incident_id for incident in self.incidents if incident.paged_unix_nano}
        self.incidents, _ = fold(
            self.incidents, (*worse, *changed), notices, float(now), self._settings
        )
        paged = {incident.incident_id for incident in self.incidents if incident.paged_unix_nano}
        self.pages += [now] * len(paged - before)

    def _notices(self) -> list[Notice]:
        return [
            _notice(onset, route, self.start, at)
            for onset in self.onsets
            for route in onset.routes
            for at in (onset.minute, onset.until)
            if FAULTS[onset.fault].change is not None and at < 10**6
        ]

    def _draw(self, start: int, minutes: int, lasting: Sequence[Onset]) -> object:
        cells: dict[tuple[Series, int], Cell] = {}
        for route in ROUTES:
            faults = [FAULTS[onset.fault] for onset in lasting if route in onset.routes]
            requests = int(self._chance.poisson(AN_HOUR / 60 * minutes))
            if not requests:
                continue
            for signal, usual in RATES.items():
                rate = max([usual, *(fault.rates.get(signal, 0.0) for fault in faults)])
                failed = float(self._chance.binomial(requests, rate))
                cells[named(signal, route), start] = (float(requests), failed, failed)
            for signal, (mean, sd) in NUMBERS.items():
                shift = sum(fault.moves.get(signal, 0.0) for fault in faults)
                values = self._chance.normal(mean + shift * sd, sd, requests)
                cells[named(signal, route), start] = (
                    float(requests),
                    float(values.sum()),
                    float((values**2).sum()),
                )
        return sums(cells)


def _notice(onset: Onset, route: str, start: int, minute: int) -> Notice:
    kind = FAULTS[onset.fault].change
    assert kind is not None
    since = (start + minute * MINUTE) * 10**9
    values = ("as before", onset.fault)
    before, after = values if minute == onset.minute else values[::-1]
    documents = {"new_documents": ["hostile"], "gone_documents": []}
    if minute != onset.minute:
        documents = {"new_documents": [], "gone_documents": ["hostile"]}
    return Notice(
        notice_id=f"{kind}{route}{minute}",
        kind=kind,
        service="shop",
        environment="live",
        route=route,
        since_unix_nano=since,
        noticed_unix_nano=since + 9 * MINUTE * 10**9,
        requests=15,
        before=before,
        after=after,
        evidence=documents if kind is ChangeKind.DOCUMENTS else {},
    )


def routes_of(incident: Incident) -> set[str]:
    """The routes of what is measured to be worse; of its changes where nothing is."""
    measured = [each for each in incident.findings if each.kind is not FindingKind.CHANGED]
    return {route for each in measured or incident.findings for route in each.routes}
