"""What the watch says of the help desk in each state: changes, findings, an audit and its pairs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from ragvigil.model.audit import Audit, AuditResult, AuditState, Pair, Side, Verdict
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.notice import Cause, ChangeKind, Notice
from ragvigil.model.score import Layer
from tests.flow.test_api import NANOS, NOW

MINUTE, HOUR = 60, 3600
ONSET = NOW - 2 * HOUR
NOTICED, DECIDED = ONSET + 50 * MINUTE, NOW - 10 * MINUTE
PLACE = {"service": "helpdesk", "environment": "demo"}
FAULTY, MISLED = "/refunds/ask", "/shipping/ask"
ROUTES = (FAULTY, "/chat", MISLED, "/billing/ask", "/account/ask")
SEEN = {"since_unix_nano": ONSET * NANOS, "seen_unix_nano": NOW * NANOS}


class State(StrEnum):
    """What the store tells of."""

    ALARM = "alarm"
    """Prompt v5 invents quotations on FAULTY since ONSET; an audit has confirmed it."""
    MISLED = "misled"
    """A smaller embedding model finds other chunks on MISLED since ONSET; an audit confirmed it."""
    EXPECTED = "expected"
    """Release 1.5.0 makes answers longer on /chat; no check got worse."""
    QUIET = "quiet"


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """What was noticed, what was found before the audit, what it confirmed, and its verdicts.

    `verdicts` are groundedness and context relevance, of an answer from before, and of two after.
    """

    changes: tuple[Notice, ...] = ()
    findings: tuple[Finding, ...] = ()
    audit: Audit | None = None
    confirmed: tuple[Finding, ...] = ()
    verdicts: tuple[tuple[float, float], ...] = ()


def number_of(route: str, step: int) -> int:
    """The number of an answer, of which its ids are made."""
    return 1000 * (ROUTES.index(route) + 1) + step


def pairs_of(watched: Watched) -> Iterator[Pair]:
    """The pairs of the audit: questions of after the change, each with the same of before it."""
    assert watched.audit is not None
    (route,) = watched.audit.routes
    before, *after = watched.verdicts
    for number in range(watched.audit.pairs):
        step = 50 + number
        yield Pair(
            number=number,
            before=_side(route, step % 4 + 4 * number, *before),  # the same question
            after=_side(route, step, *after[number % len(after)]),
            likeness=0.97,
        )


def _side(route: str, step: int, groundedness: float, relevance: float) -> Side:
    number = number_of(route, step)
    judge = {"scorer": "judge", "version": "1"}
    label = "" if groundedness == 1 else "unsupported"
    return Side(
        trace_id=f"{number:032x}",
        record_id=f"{number:016x}",
        route=route,
        verdicts=(
            Verdict(
                rubric="groundedness", layer=Layer.GENERATION, value=groundedness, label=label,
                **judge,
            ),
            Verdict(rubric="context_relevance", layer=Layer.RETRIEVAL, value=relevance, **judge),
        ),
    )  # fmt: skip


def _change(kind: ChangeKind, route: str, before: str, after: str) -> Notice:
    return Notice(
        **PLACE,
        notice_id=f"{kind}-{after}",
        kind=kind,
        route=route,
        since_unix_nano=ONSET * NANOS,
        noticed_unix_nano=NOTICED * NANOS,
        requests=12,
        before=before,
        after=after,
    )


def _result(
    rubric: str, layer: Layer, before: float, after: float, low: float, high: float
) -> AuditResult:
    return AuditResult(
        rubric=rubric, layer=layer, n=8, before=before, after=after, change=after - before,
        state=AuditState.DROPPED if high < 0 else AuditState.STEADY, low=low, high=high,
        decided_unix_nano=DECIDED * NANOS,
    )  # fmt: skip


def _audit(change: Notice, cause: Cause, reason: str, *results: AuditResult) -> Audit:
    return Audit(
        **PLACE,
        audit_id="a1",
        anchor_unix_nano=ONSET * NANOS,
        started_unix_nano=NOTICED * NANOS,
        ended_unix_nano=DECIDED * NANOS,
        routes=(change.route,),
        since_unix_nano=(ONSET * NANOS,),
        sources=(change.notice_id,),
        reason=reason,
        causes=(cause,),
        state=AuditState.DROPPED,
        pairs=8,
        results=results,
        progress="see the results",
    )


def _confirmed(audit: Audit, words: str) -> Finding:
    """The finding of the rubric that dropped."""
    result = next(each for each in audit.results if each.state is AuditState.DROPPED)
    return Finding(
        **PLACE, finding_id=f"audit-{audit.audit_id}-{result.rubric}", kind=FindingKind.AUDIT,
        routes=audit.routes, signal=result.rubric, layer=result.layer, causes=audit.causes,
        value=result.after, reference=result.before, low=result.low, high=result.high, n=8,
        since_unix_nano=ONSET * NANOS, seen_unix_nano=DECIDED * NANOS, words=words,
    )  # fmt: skip


def _traces(route: str) -> tuple[str, ...]:
    return tuple(f"{number_of(route, step):032x}" for step in range(50, 55))


_PROMPT = _change(ChangeKind.PROMPT, FAULTY, "v3", "v5")
_PROMPT_AUDIT = _audit(
    _PROMPT,
    Cause.GENERATION,
    "prompt v3 → v5",
    _result("groundedness", Layer.GENERATION, 0.95, 0.64, -0.4, -0.22),
    _result("context_relevance", Layer.RETRIEVAL, 0.71, 0.72, -0.03, 0.05),
)
_MODEL = _change(
    ChangeKind.EMBEDDING_MODEL, MISLED, "text-embedding-3-large", "text-embedding-3-small"
)
_MODEL_AUDIT = _audit(
    _MODEL,
    Cause.RETRIEVAL,
    "embedding model text-embedding-3-large → text-embedding-3-small",
    _result("groundedness", Layer.GENERATION, 0.95, 0.94, -0.05, 0.03),
    _result("context_relevance", Layer.RETRIEVAL, 0.71, 0.46, -0.34, -0.16),
)
WATCHED: Mapping[State, Watched] = {
    State.ALARM: Watched(
        changes=(_PROMPT,),
        findings=(
            Finding(
                **PLACE, **SEEN, finding_id="f1", kind=FindingKind.BROKEN, routes=(FAULTY,),
                signal="citation_validity:failed", layer=Layer.CROSS_CUTTING,
                causes=(Cause.GENERATION,), value=1.0, reference=0.3, low=0.56, high=0.7, n=24,
                traces=_traces(FAULTY),
                words="24 of 24 answers cite what is not there (100 % [86, 100], ceiling 30 %)",
            ),
        ),
        audit=_PROMPT_AUDIT,
        confirmed=(
            _confirmed(
                _PROMPT_AUDIT,
                "groundedness dropped by 31 [22, 40], 8 pairs judged before and after prompt v5",
            ),
        ),
        verdicts=((1.0, 0.7), (0.0, 0.7), (0.5, 0.7)),
    ),
    State.MISLED: Watched(
        changes=(_MODEL,),
        findings=(
            Finding(
                **PLACE, **SEEN, finding_id="f3", kind=FindingKind.MOVED, routes=(MISLED,),
                signal="top_score", layer=Layer.RETRIEVAL,
                causes=(Cause.RETRIEVAL, Cause.CORPUS), value=0.58, reference=0.9, low=-0.37,
                high=-0.27, n=24, traces=_traces(MISLED),
                words="the best retrieval score fell from 0.9 to 0.58, 24 answers",
            ),
        ),
        audit=_MODEL_AUDIT,
        confirmed=(
            _confirmed(
                _MODEL_AUDIT,
                "context_relevance dropped by 25 [16, 34], 8 pairs judged before and after "
                "embedding_model text-embedding-3-small",
            ),
        ),
        verdicts=((1.0, 0.7), (1.0, 0.3), (1.0, 0.6)),
    ),
    State.EXPECTED: Watched(
        findings=(
            Finding(
                **PLACE, **SEEN, finding_id="f2", kind=FindingKind.MOVED, routes=("/chat",),
                signal="answer_words", layer=Layer.GENERATION, causes=(Cause.GENERATION,),
                value=112.0, reference=80.0, low=24.0, high=40.0, n=24,
                words="words of a typical answer rose from 80 to 112 (+40 %), 24 answers",
            ),
        ),
    ),
    State.QUIET: Watched(),
}  # fmt: skip
