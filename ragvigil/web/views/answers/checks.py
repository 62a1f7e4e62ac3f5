"""Every check of an answer, what it says, and how usual its value is. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ragvigil.model.figures import count, counted, score, spelled
from ragvigil.model.score import OWN_STREAMS, Kind, Stream, upstream_place
from ragvigil.model.wording.label_bars import bar_words
from ragvigil.web.views.verdict.scores import ScoreForm

CheckState = Literal[
    "fails", "below usual", "passes", "measured", "label", "not applicable", "unknown"
]
ORDER: tuple[CheckState, ...] = (
    "fails", "below usual", "passes", "measured", "label", "unknown", "not applicable",
)  # fmt: skip
LOWEST = 0.1
"""A value is below usual where no more than this share of the route's answers lie as low."""
LEAST = 30
"""Answers of the route without which nothing is called usual."""
BINS = 20
"""The roll-ups count values rounded to a twentieth."""
KINDS = {
    Kind.CODE: "code",
    Kind.MODEL: "local model",
    Kind.JUDGE: "judge",
    Kind.HUMAN: "a person",
}
STREAMS: Mapping[str, str] = {
    Stream.AUDIT: "in an audit",
    Stream.CANARY: "a canary",
    Stream.PROXY: "beside the judge",
}
"""Why a score was given that is no score of the answer itself."""
MOST_VERDICTS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A judge's verdict on a part: a claim, a chunk, a citation, a fact."""

    grade: str
    about: str
    quote: str
    reason: str
    chunk_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One score as a row; `usual` says what is usual on its route, empty where that is unknown."""

    rubric: str
    words: str
    layer: str
    value: str
    state: CheckState
    says: str
    reason: str
    usual: str
    scorer: str
    findings: tuple[Finding, ...]
    more_findings: int


def checks(
    scores: Sequence[ScoreForm], usual: Mapping[tuple[str, str], Sequence[int]]
) -> tuple[Check, ...]:
    """A row a score, what fails first.

    `usual` are histograms of the route's answers by rubric and segment, in BINS steps.
    """
    rows = [
        (score, _check(score, usual.get((score.rubric, score.segment), ()))) for score in scores
    ]
    rows.sort(
        key=lambda row: (ORDER.index(row[1].state), *upstream_place(row[0].rubric, row[0].layer))
    )
    return tuple(row for _, row in rows)


def checks_heading(rows: Sequence[Check]) -> str:
    """How many fail, in a sentence.

    >>> checks_heading([])
    'No check has read this answer yet'
    """
    if not rows:
        return "No check has read this answer yet"
    fails = sum(row.state == "fails" for row in rows)
    below = sum(row.state == "below usual" for row in rows)
    passes = sum(row.state == "passes" for row in rows)
    if not fails + below + passes:
        return "No check could see what it needs"
    parts = []
    if fails:
        parts.append(f"{spelled(fails)} check{'s' * (fails > 1)} fail{'s' * (fails == 1)}")
    if below:
        parts.append(f"{spelled(below)} {'is' if below == 1 else 'are'} below usual")
    if passes and not parts:
        parts.append(
            "the check that applies passes" if passes == 1 else "every check that applies passes"
        )
    elif passes:
        parts.append(f"{spelled(passes)} pass{'es' * (passes == 1)}")
    sentence = ", ".join(parts)
    return f"{sentence[:1].upper()}{sentence[1:]}"


def _check(found: ScoreForm, histogram: Sequence[int]) -> Check:
    findings = list(_findings(found))
    version = f"{found.scorer} {found.version}".strip()
    kind = KINDS.get(Kind(found.kind), found.kind)
    others = "" if found.stream in OWN_STREAMS else f", {STREAMS.get(found.stream, found.stream)}"
    state = _state(found, histogram)
    return Check(
        rubric=found.rubric,
        words=found.rubric.replace("_", " "),
        layer=found.layer,
        value=score(found.value),
        state=state,
        says=found.label.replace("_", " ").replace(",", ", ") if state == "label" else state,
        reason=_reason(found, state),
        usual=_usual(histogram),
        scorer=f"{version}, {kind}{others}" if version else f"{kind}{others}",
        findings=tuple(findings[:MOST_VERDICTS]),
        more_findings=max(0, len(findings) - MOST_VERDICTS),
    )


def _state(found: ScoreForm, histogram: Sequence[int]) -> CheckState:
    if found.value is None:
        if found.absent:
            return "unknown"
        return "label" if found.label and found.kind == Kind.CODE else "not applicable"
    if found.failed:
        return "fails" if found.fails_answer else "label"
    if is_below_usual(found.value, histogram):
        return "below usual"
    # The number of a local model is no grade: there is no bar that it could pass.
    return "measured" if found.kind == Kind.MODEL else "passes"


def is_below_usual(value: float, histogram: Sequence[int]) -> bool:
    """Whether at most LOWEST of the route's answers lie as low; not without LEAST answers.

    >>> is_below_usual(0.2, [0] * 10 + [50] + [0] * 10), is_below_usual(0.5, [0] * 10 + [50])
    (True, False)
    """
    answers = sum(histogram)
    as_low = sum(histogram[: round(value * BINS) + 1])
    return answers >= LEAST and value < 1 and as_low <= LOWEST * answers


def _usual(histogram: Sequence[int]) -> str:
    """Where the middle four fifths of the route's answers lie."""
    answers = sum(histogram)
    if answers < LEAST:
        return ""
    low, high = (_quantile(histogram, at * answers) for at in (LOWEST, 1 - LOWEST))
    if low == high:
        return f"usually {score(low)}"
    return f"usually {score(low)} to {score(high)}"


def _quantile(histogram: Sequence[int], rank: float) -> float:
    passed = 0
    for place, answers in enumerate(histogram):
        passed += answers
        if passed >= rank:
            return place / BINS
    return 1.0


def _reason(found: ScoreForm, state: CheckState) -> str:
    if found.explanation:
        return "; ".join(filter(None, (found.explanation, bar_words(found.rubric, found.details))))
    return found.label.replace("_", " ").replace(",", ", ") if state != "label" else ""


def _findings(found: ScoreForm) -> Iterator[Finding]:
    """What the judge said of each part; of a local model what it makes of each sentence."""
    rows = found.details.get("verdicts")
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict):
            texts = {name: str(row.get(name) or "") for name in ("text", "quote", "reason", "item")}
            grade = str(row.get("grade") or "").replace("_", " ")
            rejected = str(row.get("given") or "").replace("_", " ")
            yield Finding(
                grade=f"{grade}; its quote was not found, so “{rejected}” does not count"
                if rejected
                else grade,
                about=texts["text"] or texts["item"],
                quote=texts["quote"],
                reason=texts["reason"],
                chunk_id=str(row.get("chunk_id") or ""),
            )


def not_known(rows: Sequence[Check]) -> str:
    """How many checks could not see what they need, in a sentence; empty for none."""
    unknown = sum(row.state == "unknown" for row in rows)
    return f"{count(unknown)} of {counted(len(rows), 'check')} could not see what they need." * (
        unknown > 0
    )
