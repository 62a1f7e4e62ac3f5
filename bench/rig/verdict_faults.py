"""Faults of a RAG service, and the evidence that each leaves: signals, notices and an audit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from alerts.audits.decide import Plan, next_rubrics, overdue, update
from alerts.audits.settings import AuditSettings
from alerts.signals.catalogue import BY_SIGNAL, NUMBERS
from alerts.verdict.evidence import TOGETHER, evidence_of
from alerts.verdict.posterior import verdict
from bench.rig.verdict_answers import Answers, answers, service
from ragvigil.model.audit import Audit, AuditResult, Pair, Side, Verdict
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.incident import RERANKER, Incident, IncidentState, LayerVerdict, Severity
from ragvigil.model.notice import Cause, ChangeKind, Notice
from ragvigil.model.score import Layer

BEFORE, AFTER = 1000, 250
"""Answers of all traffic that signals are read from."""
SURE = 5.0
"""Standard errors from which a number counts as moved."""
CEILINGS = {
    "refusal:refused": 0.25, "citation_validity:failed": 0.3, "answer_language:failed": 0.3,
    "answer_complete_text:truncated": 0.1, "answer_complete_text:empty": 0.05,
}  # fmt: skip
COINCIDES, MISNAMED = 0.1, 0.1
"""Shares of the runs with a change that has nothing to do with it, and with a wrong name for it."""
JUDGED = 0.85
"""Share of the runs in which an audit has the time and the budget to look."""
STEP = 48
"""Pairs between two looks: more than the product's, for speed."""
ONSET = 10**15
SETTINGS = AuditSettings()
LAYERS = {"context_relevance": Layer.RETRIEVAL, "prompt_relevance": Layer.RETRIEVAL,
          "rerank_gain": Layer.RETRIEVAL, "factual_accuracy": Layer.CROSS_CUTTING}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One row of the table of faults: the layer that is at fault, and the notices that it brings.

    `notices` are kinds with the share of the runs in which each is noticed.
    """

    name: str
    cause: Cause
    part: str = ""
    notices: Mapping[str, float] = field(default_factory=dict)


R, G, C = Cause.RETRIEVAL, Cause.GENERATION, Cause.CORPUS
MODEL = {"llm_model": 0.25, "prompt": 0.25}
FAULTS = (
    Fault(name="other chunks for 30 %", cause=R, notices={"other_chunks": 0.8}),
    Fault(name="half of the documents gone", cause=C, notices={"documents_changed": 0.9}),
    Fault(name="stale documents", cause=C, notices={"documents_changed": 0.8}),
    Fault(
        name="reranker reversed", cause=R, part=RERANKER,
        notices={"reranker": 0.3, "reranked_otherwise": 0.6},
    ),
    Fault(name="reranker off", cause=R, part=RERANKER, notices={"reranker": 0.6}),
    Fault(name="the same chunks upside down", cause=R, part=RERANKER,
          notices={"chunk_order": 0.9}),
    Fault(name="embedder changed", cause=R, notices={"re-embedded": 0.6, "embedding_model": 0.3}),
    Fault(name="chunker changed", cause=R, notices={"re-chunked": 0.9}),
    Fault(name="top-k doubled", cause=R, notices={"top_k": 0.4, "chunk_count": 0.5}),
    Fault(name="three junk chunks", cause=R, notices={"chunk_count": 0.9, "other_chunks": 0.3}),
    Fault(name="unsupported in 30 %", cause=G, notices=MODEL),
    Fault(name="another language", cause=G, notices=MODEL),
    Fault(name="answers half as long", cause=G, notices=MODEL),
    Fault(name="citations off by one in 40 %", cause=G, notices=MODEL),
    Fault(name="truncation in 30 %", cause=G, notices={"max_tokens": 0.5}),
    Fault(name="empty answers in 10 %", cause=G, notices=MODEL),
    Fault(name="refusals in 30 %", cause=G, notices=MODEL),
    Fault(name="refusals after worse chunks", cause=R, notices={"re-embedded": 0.3}),
)  # fmt: skip


def signals(before: Answers, after: Answers) -> list[Finding]:
    """What the watch of all traffic finds: rates over a ceiling, and numbers that moved."""
    made = []
    for name, usual in before.numbers.items():
        was, now = (values[~np.isnan(values)] for values in (usual, after.numbers[name]))
        if len(now) < 30:
            continue
        error = np.sqrt(was.var() / len(was) + now.var() / len(now)) + 1e-4
        ceiling = CEILINGS.get(name)
        is_broken = ceiling is not None and now.mean() - 2 * error > ceiling
        is_moved = ceiling is None and abs(now.mean() - was.mean()) > SURE * error
        if is_broken or is_moved:
            made.append(_finding(name, float(now.mean()), ceiling or float(was.mean()), is_broken))
    return made


def _finding(name: str, value: float, reference: float, is_broken: bool) -> Finding:
    known = BY_SIGNAL.get(name) or NUMBERS.get(name)
    return Finding(
        finding_id=name,
        kind=FindingKind.BROKEN if is_broken else FindingKind.MOVED,
        service="desk",
        environment="",
        routes=("/ask",),
        signal=name,
        layer=known.layer if known else Layer.GENERATION,
        causes=known.causes if known else (),
        value=value,
        reference=reference,
        since_unix_nano=ONSET,
    )


def audit(before: Answers, after: Answers) -> Audit:
    """The audit of the change, by the product's functions, on these answers as pairs."""
    plan = Plan(first=SETTINGS.rubrics, then=SETTINGS.then, records=SETTINGS.records)
    results: dict[str, AuditResult] = {}
    pairs: list[Pair] = []
    most = len(after.rubrics["groundedness"])
    while len(pairs) < most:
        known = tuple(results.values())
        rubrics = overdue(known, plan, pairs) or next_rubrics(known, plan, len(pairs))
        usable = [name for name in rubrics if not np.isnan(after.rubrics[name]).all()]
        if not usable:
            break
        lacking = [place for place, pair in enumerate(pairs) if not _has(pair, usable)]
        if lacking:
            for place in lacking[:STEP]:
                pairs[place] = _pair(pairs[place].number, usable, before, after, pairs[place])
        elif set(usable) & set(plan.first) - {"rerank_gain"}:
            start = len(pairs)
            pairs += [_pair(start + step, usable, before, after) for step in range(STEP)]
        else:
            break
        for name in usable:
            fresh = AuditResult(rubric=name, layer=LAYERS.get(name, Layer.GENERATION))
            results[name] = update(results.get(name, fresh), pairs, plan, 1)
    return Audit(
        audit_id="a",
        service="desk",
        environment="",
        anchor_unix_nano=ONSET,
        started_unix_nano=ONSET + TOGETHER,
        routes=("/ask",),
        pairs=len(pairs),
        results=tuple(results.values()),
    )


def _has(pair: Pair, rubrics: Sequence[str]) -> bool:
    return set(rubrics) <= {verdict.rubric for verdict in pair.after.verdicts}


def _pair(
    number: int,
    rubrics: Sequence[str],
    before: Answers,
    after: Answers,
    known: Pair | None = None,
) -> Pair:
    sides = []
    for name, of in (("before", before), ("after", after)):
        old = () if known is None else getattr(known, name).verdicts
        names = {verdict.rubric for verdict in old}
        fresh = [
            _verdict(rubric, of.rubrics[rubric][number])
            for rubric in rubrics
            if rubric not in names
        ]
        sides.append(
            Side(trace_id=f"{name}{number}", record_id="", route="/ask", verdicts=(*old, *fresh))
        )
    return Pair(number=number, before=sides[0], after=sides[1])


def _verdict(rubric: str, value: float) -> Verdict:
    layer = LAYERS.get(rubric, Layer.GENERATION)
    return Verdict(rubric=rubric, layer=layer, value=None if np.isnan(value) else float(value))


def notices(rng: np.random.Generator, fault: Fault) -> list[Notice]:
    """What was noticed: of the fault, by chance, and under a wrong name."""
    kinds = [kind for kind, share in fault.notices.items() if rng.random() < share]
    every = [kind.value for kind in ChangeKind]
    if kinds and rng.random() < MISNAMED:
        kinds[0] = str(rng.choice(every))
    if rng.random() < COINCIDES:
        kinds.append(str(rng.choice(every)))
    return [
        Notice(
            notice_id=kind,
            kind=ChangeKind(kind),
            service="desk",
            environment="",
            route="/ask",
            since_unix_nano=ONSET,
            noticed_unix_nano=ONSET,
            requests=12,
        )
        for kind in dict.fromkeys(kinds)
    ]


def run(
    rng: np.random.Generator, fault: Fault, say: Callable[..., LayerVerdict] = verdict
) -> LayerVerdict | None:
    """The verdict on one run of a fault; None where nothing was noticed: no incident."""
    of = service(rng, needs_reranker=fault.part == RERANKER)
    usual = answers(rng, of, BEFORE)
    worse = answers(rng, of, 2 * SETTINGS.records + STEP, fault.name)
    seen = Answers(
        rubrics={}, numbers={name: values[:AFTER] for name, values in worse.numbers.items()}
    )
    findings, changes = signals(usual, seen), notices(rng, fault)
    audits = [audit(usual, worse)] if rng.random() < JUDGED else []
    drops = [result for each in audits for result in each.results if result.state == "dropped"]
    if not findings and not changes and not drops:
        return None
    incident = Incident(
        incident_id="i",
        service="desk",
        environment="",
        state=IncidentState.OPEN,
        severity=Severity.TICKET,
        opened_unix_nano=ONSET,
        since_unix_nano=ONSET,
        findings=tuple(findings),
    )
    return say(evidence_of(incident, findings, changes, audits))
