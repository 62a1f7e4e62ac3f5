"""A help desk's store in the states of `triage_watch`, for the pages of triage."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from starlette.types import ASGIApp

from alerts.incidents.job import IncidentJob
from alerts.incidents.settings import IncidentSettings
from ragvigil.app.sources.incidents import Incidents
from ragvigil.model.delta import BaselineKind, Delta, Moved, Series
from ragvigil.model.deploy import Deploy
from ragvigil.model.incident import Incident
from ragvigil.model.outcome import Outcome, ScoredRecord
from ragvigil.model.record import Citation, Document
from ragvigil.model.score import Layer, Score
from ragvigil.store.engine.store import Store
from ragvigil.store.records import record_rows
from ragvigil.store.records.record_rows import RubricFacts
from ragvigil.store.scores import rubric_deltas
from ragvigil.store.watch import audits, deploys, drift, notices
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api
from scorers.citation_validity import CitationValidity
from tests import issues
from tests.flow.test_api import NANOS, NOW, RUBRICS, Quiet, keep, outcome
from tests.triage_watch import (
    FAULTY,
    HOUR,
    MINUTE,
    MISLED,
    ONSET,
    PLACE,
    ROUTES,
    WATCHED,
    State,
    number_of,
    pairs_of,
)

AN_HOUR = 12
HOURS = 6
QUESTIONS = (
    "How long does a PayPal refund take?",
    "How do I start a return?",
    "Can an engraved mug be returned?",
    "Are express surcharges refunded?",
)
QUOTE = "PayPal refunds appear on the same day."
INVENTED = "Our founders guarantee this in writing for the next 9 orders."
OFF_TOPIC = "Parcels of more than 20 kg are picked up at your door."


def _chunks(subject: str, best: float, *texts: str) -> tuple[Document, ...]:
    return tuple(
        Document(
            chunk_id=f"{subject}-{number:02}#1",
            document_id=f"{subject}-{number:02}",
            content=text,
            text_hash=f"{subject}{number}",
            score=best - number / 10,
            rank=number,
        )
        for number, text in enumerate(texts)
    )


CHUNKS = _chunks(
    "refund",
    0.9,
    f"{QUOTE} Card refunds take two to four banking days.",
    "Open Orders in your account, choose the order and press Return items.",
    "Engraved goods are made for you and cannot be returned.",
    "Surcharges for express delivery are refunded with the first order only.",
    "A gift card is refunded to a gift card.",
)
OTHERS = _chunks(
    "parcel",
    0.58,
    f"{OFF_TOPIC} Somebody must be there to sign.",
    "Parcels leave our store on the day of your order if you order before noon.",
    "Islands and mountain huts are served twice a week.",
    "A parcel that nobody takes comes back to us after seven days.",
)
"""What the smaller embedding model finds for the same questions."""
FAULT_ON = {State.ALARM: FAULTY, State.MISLED: MISLED}
USUAL: Mapping[str, tuple[Layer, float, float]] = {
    "citation_validity": (Layer.CROSS_CUTTING, 1.0, 0.02),
    "groundedness": (Layer.GENERATION, 0.95, 0.09),
    "context_relevance": (Layer.RETRIEVAL, 0.71, 0.07),
    "chunk_utilization": (Layer.RETRIEVAL, 0.34, 0.06),
}
"""Layer, level and detection limit."""
LEVELS: Mapping[State, Mapping[str, float]] = {
    State.ALARM: {"citation_validity": 0.44, "groundedness": 0.64},
    State.MISLED: {"context_relevance": 0.46},
}
"""The levels that fell, with the fault."""
WHY = {
    State.ALARM: "the quote stands in no chunk",
    State.MISLED: "the chunks are about another subject",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """The pages in front of a store, and the incidents behind them."""

    app: ASGIApp
    incidents: tuple[Incident, ...]


def desk(store: Store, state: State, **settings: object) -> Desk:
    """Fills an empty store, and serves it at NOW."""
    keep(store, list(_outcomes(state)))
    store.write(rubric_deltas.batch(list(_deltas(state)), NOW * NANOS))
    store.write(deploys.batch(_marks(state), NOW * NANOS))
    drift.write(store, _followed(), NOW * NANOS)
    watched = WATCHED[state]
    if watched.changes:
        store.write(notices.batch(watched.changes, NOW * NANOS))
    job = IncidentJob(store, IncidentSettings(), clock=lambda: NOW + 1.0)
    job.run(NOW - 40 * MINUTE, watched.findings, watched.changes)
    if watched.audit is not None:
        store.write(audits.batch(watched.audit, list(pairs_of(watched)), NOW * NANOS))
        job.run(NOW, (*watched.findings, *watched.confirmed), watched.changes)
        issues.keep(store, [], _issue(state))
    web = WebSettings.model_validate({"allowed_hosts": ("testserver",), **settings})
    clock: Callable[[], datetime] = lambda: datetime.fromtimestamp(NOW, UTC)  # noqa: E731
    source = Incidents(store, job, Quiet(), lambda: float(NOW))
    app = api(store, Quiet(), web, watching=source, clock=clock)
    return Desk(app=app, incidents=job.open_incidents())


def _is_after(state: State, route: str, at: int) -> bool:
    """Whether an answer shows the fault of the state."""
    return at >= ONSET and route == FAULT_ON.get(state)


def _outcomes(state: State) -> Iterator[Outcome]:
    gap = HOUR // AN_HOUR
    for route in ROUTES:
        for step in range(HOURS * AN_HOUR):
            at = NOW - HOURS * HOUR + step * gap + 60
            fault = state if _is_after(state, route, at) else State.QUIET
            yield _outcome(number_of(route, step), at, route, fault)


def _outcome(number: int, at: int, route: str, fault: State) -> Outcome:
    """An answer; `fault` is QUIET where it is as usual."""
    made = outcome(number, at)
    found = OTHERS if fault is State.MISLED else CHUNKS
    has_other = fault is State.ALARM and number % 2
    quotes = {State.ALARM: INVENTED, State.MISLED: OFF_TOPIC}
    answer, citations = _answer(quotes.get(fault, QUOTE), found[0])
    record = replace(
        made.records[0].record,
        **PLACE,
        route=route,
        query=QUESTIONS[number % len(QUESTIONS)],
        answer=answer,
        retrieved=found,
        context=(*found[:3], found[4 if has_other else 3]),
        citations=citations,
    )
    scores = list(_scores(number, fault))
    checked = CitationValidity().score(record)
    scores[0] = replace(scores[0], label=checked.label, details=checked.details)
    return replace(made, records=(ScoredRecord(record=record, scores=tuple(scores), shape={}),))


def _answer(quote: str, chunk: Document) -> tuple[str, tuple[Citation, ...]]:
    """An answer that quotes a chunk and tells the rest of it, and its two citations."""
    answer = f'"{quote}" [1] {chunk.content.removeprefix(quote).strip(" .")} [1].'
    places = ((quote, 0, len(quote) + 3), (None, len(quote) + 7, len(answer) - 4))
    return answer, tuple(
        Citation(
            target="1", chunk_id=chunk.chunk_id, document_id=chunk.document_id, quote=text,
            marker="[1]", start=place, end=place + 3, claim_start=begin, claim_end=place,
        )
        for text, begin, place in places
    )  # fmt: skip


def _scores(number: int, fault: State) -> Iterator[Score]:
    fell = LEVELS.get(fault, {})
    for rubric, (layer, level, _) in USUAL.items():
        varies = rubric == "chunk_utilization"
        yield Score(
            rubric=rubric,
            value=0.3 + (number % 5) / 50 if varies else fell.get(rubric, level),
            layer=layer,
            scorer=rubric,
            version="1",
            explanation=WHY[fault] if rubric in fell else "",
        )


def segment(rubric: str) -> str:
    """The segment under which `keep` stores the scores of a rubric."""
    return record_rows.segment(
        RUBRICS.get(rubric, RubricFacts()), Score(rubric=rubric, scorer=rubric, version="1")
    )


def _deltas(state: State) -> Iterator[Delta]:
    for route in ROUTES:
        fell = LEVELS.get(state, {}) if route == FAULT_ON.get(state) else {}
        for rubric, (_, level, limit) in USUAL.items():
            is_unknown = route == "/billing/ask" and rubric == "groundedness"
            change = fell.get(rubric, level) - level
            yield Delta(
                series=_series(route, rubric),
                tick=NOW - NOW % 300,
                window="6h",
                n=36 if is_unknown else HOURS * AN_HOUR,
                mean=level + change,
                baseline=None if is_unknown else level,
                baseline_kind=BaselineKind.NONE if is_unknown else BaselineKind.SAME_HOURS,
                delta=None if is_unknown else change,
                low=None if is_unknown else change - 0.04,
                high=None if is_unknown else change + 0.04,
                detection_limit=0.18 if is_unknown else limit,
                moved=Moved.FELL if change else Moved.NO,
                since=ONSET - ONSET % HOUR if change else None,
            )


def _series(route: str, rubric: str) -> Series:
    layer = USUAL[rubric][0]
    return Series(**PLACE, route=route, rubric=rubric, layer=layer, segment=segment(rubric))


def _followed() -> list[drift.StoredState]:
    """What the detector of lasting drops would see of groundedness."""
    series = [_series(route, "groundedness") for route in ROUTES if route != "/billing/ask"]
    return [drift.StoredState(series=each, numbers=(0.04,)) for each in series]


def _marks(state: State) -> list[Deploy]:
    marks = [
        Deploy(**PLACE, deploy_id="d1", time_unix_nano=(NOW - 16 * HOUR) * NANOS, version="1.4.0")
    ]
    if state is State.EXPECTED:
        marks.append(Deploy(**PLACE, deploy_id="d2", time_unix_nano=ONSET * NANOS, version="1.5.0"))
    return marks


ISSUES = {
    State.ALARM: {
        "family": Layer.CROSS_CUTTING,
        "rubric": "citation_validity",
        "label": "quote_not_found",
        "name": "Quotes a rule that no article holds",
    },
    State.MISLED: {
        "family": Layer.RETRIEVAL,
        "rubric": "context_relevance",
        "label": "off_topic",
        "name": "Finds articles about parcels for questions about refunds",
    },
}


def _issue(state: State) -> issues.Issue:
    return issues.issue(
        "c8b457d59567b08c",
        **PLACE,
        **ISSUES[state],
        first_unix_nano=ONSET * NANOS,
        last_unix_nano=NOW * NANOS,
        opened_unix_nano=ONSET * NANOS,
        state_unix_nano=ONSET * NANOS,
        members=24,
        routes=(FAULT_ON[state],),
    )
