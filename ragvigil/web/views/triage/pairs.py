"""The pairs of an audit side by side: both answers, the verdict on each, differing chunks. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ragvigil.model.figures import score, share
from ragvigil.web.rubric_names import rubric_name
from ragvigil.web.views.answer_text import AnswerText, answer_text, shortened
from ragvigil.web.views.audits import AuditPairForm, AuditSideForm
from ragvigil.web.views.records import RecordForm

MOST_CHARACTERS = 900
"""Of an answer beside another; the rest is behind its link."""
CLAIMS = "groundedness"
WHOLE = 0.999
Key = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class SideBySide:
    """One answer of a pair; `answer` is None where it is not stored any more.

    `chunks` are those of its prompt, each with whether the other side's prompt lacks it.
    """

    key: Key
    answer: AnswerText | None
    state: str
    verdict: str
    chunks: Sequence[tuple[str, bool]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PairView:
    """A question with its answers from before and after the change."""

    question: str
    other_question: str
    chunks: str
    before: SideBySide
    after: SideBySide


def keys_of(pairs: Iterable[AuditPairForm]) -> list[Key]:
    """Trace and record ids of both sides."""
    sides = (side for pair in pairs for side in (pair.before, pair.after))
    return [(side.trace_id, side.record_id) for side in sides]


def worst_first(pairs: Iterable[AuditPairForm]) -> list[AuditPairForm]:
    """The pairs whose verdict fell most first; of equal ones those with the likest questions."""
    return sorted(pairs, key=lambda pair: (_change(pair), -pair.likeness, pair.number))


def pair_views(pairs: Iterable[AuditPairForm], records: Mapping[Key, RecordForm]) -> list[PairView]:
    """The pairs as they are shown; one without any stored answer is left out."""
    views = (_view(pair, records) for pair in pairs)
    return [view for view in views if view.before.answer or view.after.answer]


def of_each_question(views: Sequence[PairView], most: int) -> list[PairView]:
    """The first pairs, each of another question as far as there are so many."""
    first = {view.question: view for view in reversed(views)}
    chosen = [view for view in views if first[view.question] is view]
    rest = [view for view in views if first[view.question] is not view]
    return [*chosen, *rest][:most]


def verdict_words(side: AuditSideForm) -> str:
    """The judge's verdict on an answer in a sentence; empty where it gave none."""
    # What the answer says comes before what it was given.
    ordered = sorted(side.verdicts, key=lambda each: each.rubric != CLAIMS)
    parts = [_verdict(each.rubric, each.value, each.label) for each in ordered]
    text = "; ".join(part for part in parts if part)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def chunk_words(before: Sequence[str], after: Sequence[str]) -> str:
    """How the chunks of two prompts differ.

    >>> chunk_words(["a", "b"], ["b", "a"]), chunk_words(["a", "b"], ["a", "c"])
    ('both prompts held the same 2 chunks', '1 of 2 chunks is the same, the others are underlined')
    """
    if not before or not after:
        return ""
    same, most = len(set(before) & set(after)), max(len(set(before)), len(set(after)))
    if same == most:
        return f"both prompts held the same {'chunk' if most == 1 else f'{most} chunks'}"
    if not same:
        return "no chunk is the same"
    verb = "is" if same == 1 else "are"
    return f"{same} of {most} chunks {verb} the same, the others are underlined"


def _view(pair: AuditPairForm, records: Mapping[Key, RecordForm]) -> PairView:
    before, after = (
        records.get((side.trace_id, side.record_id)) for side in (pair.before, pair.after)
    )
    chunks = _chunks(before), _chunks(after)
    question = (after and after.query) or (before and before.query) or ""
    other = (before and before.query) or ""
    return PairView(
        question=question,
        other_question="" if " ".join(other.split()) == " ".join(question.split()) else other,
        chunks=chunk_words(*chunks),
        before=_side(pair.before, before, chunks[0], chunks[1], is_worse=False),
        after=_side(pair.after, after, chunks[1], chunks[0], is_worse=_change(pair) < 0),
    )


def _side(
    side: AuditSideForm,
    record: RecordForm | None,
    own: Sequence[str],
    other: Sequence[str],
    *,
    is_worse: bool,
) -> SideBySide:
    return SideBySide(
        key=(side.trace_id, side.record_id),
        answer=shortened(answer_text(record), MOST_CHARACTERS) if record else None,
        state=_state(side, is_worse=is_worse),
        verdict=verdict_words(side),
        chunks=[(chunk, bool(other) and chunk not in other) for chunk in own],
    )


def _state(side: AuditSideForm, *, is_worse: bool) -> str:
    """The verdict in a word: by the claims where they were judged, else by the change."""
    claims = [each.value for each in side.verdicts if each.rubric == CLAIMS]
    if not claims or claims[0] is None:
        return "worse" if is_worse else "judged"
    return "supported" if claims[0] >= WHOLE else "unsupported"


def _chunks(record: RecordForm | None) -> list[str]:
    return list(dict.fromkeys(chunk.id for chunk in record.context)) if record else []


def _change(pair: AuditPairForm) -> float:
    """The widest fall of a rubric that both sides have a value of; 0 for none."""
    before = {each.rubric: each.value for each in pair.before.verdicts}
    falls = [
        each.value - value
        for each in pair.after.verdicts
        if each.value is not None and (value := before.get(each.rubric)) is not None
    ]
    return min(falls, default=0.0)


def _verdict(rubric: str, value: float | None, label: str) -> str:
    if value is None:
        why = label.replace("_", " ") or "no verdict"
        return f"{rubric_name(rubric)}: {why}"
    if rubric == CLAIMS:
        if value >= WHOLE:
            return "every claim is supported by the chunks"
        if value == 0:
            return "no claim is supported by the chunks"
        return f"{share(value)} of the claims are supported by the chunks"
    return f"{rubric_name(rubric)} {score(value)}"
