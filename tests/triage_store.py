"""A help desk's store in three states for the pages of triage: alarm, expected change, quiet."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum

from starlette.types import ASGIApp

from alerts.incidents.job import IncidentJob
from alerts.incidents.settings import IncidentSettings
from ragvigil.app.sources.incidents import Incidents
from ragvigil.model.audit import Audit, AuditResult, AuditState, Pair, Side, Verdict
from ragvigil.model.delta import BaselineKind, Delta, Moved, Series
from ragvigil.model.deploy import Deploy
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.incident import Incident
from ragvigil.model.notice import Cause, ChangeKind, Notice
from ragvigil.model.outcome import Outcome, ScoredRecord
from ragvigil.model.record import Citation, Document
from ragvigil.model.score import Layer, Score
from ragvigil.store.engine.store import Store
from ragvigil.store.records import record_rows
from ragvigil.store.records.record_rows import RubricFacts
from ragvigil.store.scores import rubric_deltas
from ragvigil.store.watch import audits, deploys, notices
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api
from scorers.citation_validity import CitationValidity
from tests import issues
from tests.flow.test_api import NANOS, NOW, RUBRICS, Quiet, keep, outcome

MINUTE, HOUR = 60, 3600
ONSET = NOW - 2 * HOUR
SERVICE, ENVIRONMENT = "helpdesk", "demo"
PLACE = {"service": SERVICE, "environment": ENVIRONMENT}
FAULTY = "/refunds/ask"
ROUTES = (FAULTY, "/chat", "/shipping/ask", "/billing/ask", "/account/ask")
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
CHUNKS = tuple(
    Document(
        chunk_id=f"refund-{number:02}#1",
        document_id=f"refund-{number:02}",
        content=text,
        text_hash=f"h{number}",
        score=0.9 - number / 10,
        rank=number,
    )
    for number, text in enumerate(
        (
            f"{QUOTE} Card refunds take two to four banking days.",
            "Open Orders in your account, choose the order and press Return items.",
            "Engraved goods are made for you and cannot be returned.",
            "Surcharges for express delivery are refunded with the first order only.",
            "A gift card is refunded to a gift card.",
        )
    )
)


class State(StrEnum):
    """What the store tells of."""

    ALARM = "alarm"
    """Prompt v5 invents quotations on FAULTY since ONSET; an audit has confirmed it."""
    EXPECTED = "expected"
    """Release 1.5.0 makes answers longer on /chat; no check got worse."""
    QUIET = "quiet"


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
    changes = [PROMPT] if state is State.ALARM else []
    if changes:
        store.write(notices.batch(changes, NOW * NANOS))
    job = IncidentJob(store, IncidentSettings(), clock=lambda: NOW + 1.0)
    job.run(NOW - 40 * MINUTE, _findings(state), changes)
    if state is State.ALARM:
        store.write(audits.batch(AUDIT, list(_pairs()), NOW * NANOS))
        job.run(NOW, [*_findings(state), _audited()], changes)
        issues.keep(store, [], _issue())
    web = WebSettings.model_validate({"allowed_hosts": ("testserver",), **settings})
    clock: Callable[[], datetime] = lambda: datetime.fromtimestamp(NOW, UTC)  # noqa: E731
    source = Incidents(store, job, Quiet(), lambda: float(NOW))
    app = api(store, Quiet(), web, watching=source, clock=clock)
    return Desk(app=app, incidents=job.open_incidents())


PROMPT = Notice(
    **PLACE,
    notice_id="prompt-v5",
    kind=ChangeKind.PROMPT,
    route=FAULTY,
    since_unix_nano=ONSET * NANOS,
    noticed_unix_nano=(ONSET + 50 * MINUTE) * NANOS,
    requests=12,
    before="v3",
    after="v5",
)
AUDIT = Audit(
    **PLACE,
    audit_id="a1",
    anchor_unix_nano=ONSET * NANOS,
    started_unix_nano=(ONSET + 50 * MINUTE) * NANOS,
    ended_unix_nano=(NOW - 10 * MINUTE) * NANOS,
    routes=(FAULTY,),
    since_unix_nano=(ONSET * NANOS,),
    sources=("prompt-v5",),
    reason="prompt v3 → v5",
    causes=(Cause.GENERATION,),
    state=AuditState.DROPPED,
    pairs=8,
    results=(
        AuditResult(
            rubric="groundedness", layer=Layer.GENERATION, state=AuditState.DROPPED, n=8,
            before=0.95, after=0.64, change=-0.31, low=-0.4, high=-0.22,
            decided_unix_nano=(NOW - 10 * MINUTE) * NANOS,
        ),
        AuditResult(
            rubric="context_relevance", layer=Layer.RETRIEVAL, state=AuditState.STEADY, n=8,
            before=0.71, after=0.72, change=0.01, low=-0.03, high=0.05,
            decided_unix_nano=(NOW - 10 * MINUTE) * NANOS,
        ),
    ),
    progress="groundedness dropped by 31 [22, 40]; context_relevance: no drop over 4 points",
)  # fmt: skip


def _is_faulty(state: State, route: str, at: int) -> bool:
    return state is State.ALARM and route == FAULTY and at >= ONSET


def _number(route: str, step: int) -> int:
    return 1000 * (ROUTES.index(route) + 1) + step


def _outcomes(state: State) -> Iterator[Outcome]:
    gap = HOUR // AN_HOUR
    for route in ROUTES:
        for step in range(HOURS * AN_HOUR):
            at = NOW - HOURS * HOUR + step * gap + 60
            number = _number(route, step)
            yield _outcome(number, at, route, is_faulty=_is_faulty(state, route, at))


def _outcome(number: int, at: int, route: str, *, is_faulty: bool) -> Outcome:
    made = outcome(number, at)
    question = QUESTIONS[number % len(QUESTIONS)]
    quote = INVENTED if is_faulty else QUOTE
    answer = f'"{quote}" [1] Card refunds take two to four banking days [1].'
    chunks = (*CHUNKS[:3], CHUNKS[4 if is_faulty and number % 2 else 3])
    citations = [
        Citation(
            target="1", chunk_id="refund-00#1", document_id="refund-00", quote=text,
            marker="[1]", start=place, end=place + 3, claim_start=begin, claim_end=place,
        )
        for text, begin, place in (
            (quote, 0, len(quote) + 3),
            (None, len(quote) + 7, len(answer) - 4),
        )
    ]  # fmt: skip
    record = replace(
        made.records[0].record,
        **PLACE,
        route=route,
        query=question,
        answer=answer,
        retrieved=CHUNKS,
        context=chunks,
        citations=tuple(citations),
    )
    values = {
        "citation_validity": (Layer.CROSS_CUTTING, 0.44 if is_faulty else 1.0),
        "groundedness": (Layer.GENERATION, 0.64 if is_faulty else 0.95),
        "chunk_utilization": (Layer.RETRIEVAL, 0.3 + (number % 5) / 50),
    }
    scores = [
        Score(
            rubric=rubric, value=value, layer=layer, scorer=rubric, version="1",
            explanation="the quote stands in no chunk" if is_faulty else "",
        )
        for rubric, (layer, value) in values.items()
    ]  # fmt: skip
    checked = CitationValidity().score(record)
    scores[0] = replace(scores[0], label=checked.label, details=checked.details)
    return replace(made, records=(ScoredRecord(record=record, scores=tuple(scores), shape={}),))


def segment(rubric: str) -> str:
    """The segment under which `keep` stores the scores of a rubric."""
    return record_rows.segment(
        RUBRICS.get(rubric, RubricFacts()), Score(rubric=rubric, scorer=rubric, version="1")
    )


def _deltas(state: State) -> Iterator[Delta]:
    usual = {
        "citation_validity": (Layer.CROSS_CUTTING, 1.0, 0.02),
        "groundedness": (Layer.GENERATION, 0.95, 0.09),
        "chunk_utilization": (Layer.RETRIEVAL, 0.34, 0.06),
    }
    fell = {"citation_validity": -0.56, "groundedness": -0.31, "chunk_utilization": 0.0}
    for route in ROUTES:
        for rubric, (layer, level, limit) in usual.items():
            is_unknown = route == "/billing/ask" and rubric == "groundedness"
            change = fell[rubric] if state is State.ALARM and route == FAULTY else 0.0
            yield Delta(
                series=Series(
                    **PLACE, route=route, rubric=rubric, layer=layer, segment=segment(rubric)
                ),
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


def _marks(state: State) -> list[Deploy]:
    marks = [
        Deploy(**PLACE, deploy_id="d1", time_unix_nano=(NOW - 16 * HOUR) * NANOS, version="1.4.0")
    ]
    if state is State.EXPECTED:
        marks.append(Deploy(**PLACE, deploy_id="d2", time_unix_nano=ONSET * NANOS, version="1.5.0"))
    return marks


def _findings(state: State) -> Sequence[Finding]:
    if state is State.QUIET:
        return ()
    fields = {**PLACE, "since_unix_nano": ONSET * NANOS, "seen_unix_nano": NOW * NANOS}
    if state is State.EXPECTED:
        return (
            Finding(
                **fields, finding_id="f2", kind=FindingKind.MOVED, routes=("/chat",),
                signal="answer_words", layer=Layer.GENERATION, causes=(Cause.GENERATION,),
                value=112.0, reference=80.0, low=24.0, high=40.0, n=24,
                words="words of a typical answer rose from 80 to 112 (+40 %), 24 answers",
            ),
        )  # fmt: skip
    return (
        Finding(
            **fields, finding_id="f1", kind=FindingKind.BROKEN, routes=(FAULTY,),
            signal="citation_validity:failed", layer=Layer.CROSS_CUTTING,
            causes=(Cause.GENERATION,), value=1.0, reference=0.3, low=0.56, high=0.7, n=24,
            traces=tuple(f"{_number(FAULTY, step):032x}" for step in range(50, 55)),
            words="24 of 24 answers cite what is not there (100 %, ceiling 30 %)",
        ),
    )  # fmt: skip


def _audited() -> Finding:
    return Finding(
        **PLACE, finding_id="audit-a1-groundedness", kind=FindingKind.AUDIT, routes=(FAULTY,),
        signal="groundedness", layer=Layer.GENERATION, causes=(Cause.GENERATION,), value=0.64,
        reference=0.95, low=-0.4, high=-0.22, n=8, since_unix_nano=ONSET * NANOS,
        seen_unix_nano=(NOW - 10 * MINUTE) * NANOS,
        words="groundedness dropped by 31 [22, 40], 8 pairs judged before and after prompt v5",
    )  # fmt: skip


def _pairs() -> Iterator[Pair]:
    for number in range(8):
        after = 50 + number
        before = after % 4 + 4 * number  # the same question
        yield Pair(
            number=number,
            before=_side(before, 1.0, 0.7),
            after=_side(after, 0.5 if number % 2 else 0.0, 0.7),
            likeness=0.97,
        )


def _side(step: int, groundedness: float, relevance: float) -> Side:
    number = _number(FAULTY, step)
    return Side(
        trace_id=f"{number:032x}",
        record_id=f"{number:016x}",
        route=FAULTY,
        verdicts=(
            Verdict(
                rubric="groundedness",
                layer=Layer.GENERATION,
                value=groundedness,
                label="" if groundedness == 1 else "unsupported",
                scorer="judge",
                version="1",
            ),
            Verdict(
                rubric="context_relevance",
                layer=Layer.RETRIEVAL,
                value=relevance,
                scorer="judge",
                version="1",
            ),
        ),
    )


def _issue() -> issues.Issue:
    return issues.issue(
        "c8b457d59567b08c",
        **PLACE,
        family=Layer.CROSS_CUTTING,
        rubric="citation_validity",
        label="quote_not_found",
        name="Quotes a rule that no article holds",
        first_unix_nano=ONSET * NANOS,
        last_unix_nano=NOW * NANOS,
        opened_unix_nano=ONSET * NANOS,
        state_unix_nano=ONSET * NANOS,
        members=24,
        routes=(FAULTY,),
    )
