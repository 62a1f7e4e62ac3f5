"""Whether the judge answers, is paid for, agrees with people and with itself. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ragvigil.model.figures import count, counted, listed, money, score, sentence, share
from ragvigil.web.views.health.kinds import Check, Evidence, Verdict
from ragvigil.web.views.health.report import JudgeCostForm
from ragvigil.web.views.judges import JudgeForm

THIN = 0.9
"""A judge that judges less of its sample than this is short of money or time."""


def judge(evidence: Evidence) -> Iterator[Check]:
    judge = evidence.section("judge")
    if not judge.get("on"):
        cost = evidence.report.cost if evidence.report else None
        yield Check(
            name="Judge",
            verdict=Verdict.MISSING,
            words=f"{sentence(str(judge.get('reason')))}. {cost_words(cost)}".strip(),
            fix='[judge]\nmodel = "openai:gpt-5-mini"\ndaily_money = 5.00',
        )
        return
    calls = _calls(int(judge.get("calls") or 0), judge.get("failures_by_kind") or ())
    if judge.get("state") == "fails":
        yield Check(
            name="Judge",
            verdict=Verdict.BROKEN,
            words=f"{judge.get('model')} fails: {judge.get('last_error')}. {calls}.",
            fix=str(judge.get("way_out") or ""),
        )
    else:
        state = "was not asked yet" if judge.get("state") == "not asked yet" else "answers"
        waiting = counted(int(judge.get("waiting") or 0), "answer")
        words = f"{judge.get('model')} {state}. {calls}; waiting: {waiting}."
        yield Check(name="Judge", verdict=Verdict.HOLDS, words=words)
    yield from _rates(judge)


def _rates(judge: Mapping[str, Any]) -> Iterator[Check]:
    """Whether budget and pace let the judge have all of its sample."""
    spent = sentence(f"{judge.get('spent_today')} spent today")
    left = float(judge.get("thinning_by_budget") or 1.0)
    if left < THIN:
        yield Check(
            name="Judge's budget",
            verdict=Verdict.WORSE,
            words=f"{spent}; only {share(left)} of the sample is judged.",
            fix="ragvigil judge cost",
        )
    else:
        words = f"{spent}; it is enough for all of the sample."
        yield Check(name="Judge's budget", verdict=Verdict.HOLDS, words=words)
    left = float(judge.get("thinning_by_pace") or 1.0)
    if left < THIN:
        yield Check(
            name="Judge's pace",
            verdict=Verdict.WORSE,
            words=f"It cannot keep up, and gets only {share(left)} of its sample. More calls at a "
            "time may help, if model and machine have room.",
            fix="[judge]\nconcurrency = 64",
        )


def _calls(calls: int, failures: Iterable[str]) -> str:
    """How many questions it was asked since the start, and how those failed that did."""
    asked = f"{counted(calls, 'question') if calls else 'No question'} since the start"
    kinds = ", ".join(failures)
    return f"{asked}, some failed: {kinds}" if kinds else asked


def cost_words(cost: JudgeCostForm | None) -> str:
    """What a day of judging would cost, in a sentence; empty where nothing is known."""
    if cost is None or not cost.answers:
        return ""
    price = f", {money(cost.dollars)}" if cost.dollars is not None else ""
    questions = counted(round(cost.calls), "question")
    return (
        f"At {counted(cost.answers, 'answer')} a day it would get {questions}, "
        f"of {count(cost.tokens)} tokens{price}."
    )


def trust(judges: Iterable[JudgeForm]) -> Iterator[Check]:
    unmeasured: dict[str, int] = {}
    for judge in judges:
        name = judge.rubric.replace("_", " ")
        if judge.state == "retired":
            yield Check(
                name=f"Judge of {name}",
                verdict=Verdict.MUTED,
                words=f"People and judge agree too little: {judge.reason}. "
                "Its scores are shown and do not page.",
                link="/label",
                link_words="Label more answers",
            )
        elif judge.state == "unmeasured":
            unmeasured[name] = judge.missing
        else:
            labels = counted(judge.labels, "label")
            words = f"It agrees with people: {score(judge.kappa)}, from {labels}."
            yield Check(name=f"Judge of {name}", verdict=Verdict.HOLDS, words=words)
    if unmeasured:
        names = listed(list(unmeasured), most=4)
        words = f"Too few answers have labels to say how well it judges {names}."
        yield Check(
            name="Judge and people",
            verdict=Verdict.MISSING,
            words=words,
            link="/label",
            link_words=f"Label {counted(min(unmeasured.values()), 'more answer')}",
        )


def canary(evidence: Evidence) -> Iterator[Check]:
    canary = evidence.report.canary if evidence.report else None
    if canary is None:
        return
    frozen = counted(canary.records, "frozen answer")
    if canary.moved:
        words = f"{frozen} were judged again, and the verdicts moved: {'; '.join(canary.moved)}."
        yield Check(name="Fixed check of the judge", verdict=Verdict.WORSE, words=words)
    elif canary.rubrics:
        words = f"{frozen} were judged again: {counted(canary.rubrics, 'rubric')}, no change."
        yield Check(name="Fixed check of the judge", verdict=Verdict.HOLDS, words=words)
    else:
        words = f"{frozen} were judged once; the second run compares them."
        yield Check(name="Fixed check of the judge", verdict=Verdict.MISSING, words=words)
