"""Decides whether a record fails, by which rubric first, and why in one sentence. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

from clustering.failures.masking import plain
from ragvigil.model.issue import OTHER_CHUNKS, SHOWN_BY_INCIDENTS, Failure, FailureKind
from ragvigil.model.record import Absent, Feedback, RagRecord
from ragvigil.model.score import OWN_STREAMS, Kind, Layer, Score, Stream, upstream_place

COMMON = 0.1
"""Share of a route's records from which a failing rubric is usual and comes last.

Of 90 healthy answers of the example service 63 failed `context_relevance`, which put the records
of most faults into one issue (docs/adr/0015).
"""
NOTHING_USUAL: Mapping[str, float] = MappingProxyType({})
SHOWN = 300
"""Characters of a reason."""
NO_TYPE = "none"
"""The failure type that a judge chooses where it sees no failure."""
WORDS = {FailureKind.ERROR: "the request failed", FailureKind.THUMBS_DOWN: "the user disliked it"}


class Spike(Protocol):
    """What an open incident says is failing now, as `ragvigil.store.issues.spikes` reads it."""

    def holds(self, record: RagRecord, time_unix_nano: int) -> bool:
        """Whether a record is of its place and its time."""
        ...

    def shows(self, score: Score) -> bool:
        """Whether a score shows it."""
        ...


class ByRubric(Protocol):
    """Failing records, or a count of them, with the rubric that decides."""

    @property
    def kind(self) -> FailureKind:
        """Why they fail."""
        ...

    @property
    def rubric(self) -> str:
        """The rubric by which they fail first; empty for none."""
        ...


def fails_without_incident(failing: ByRubric, fails_below: Mapping[str, float]) -> bool:
    """Whether it fails by a bar, an error or a complaint, and not only by what an incident shows.

    A refusal has no bar: in the minutes that an incident may have begun in, usual refusals fail
    like its own. `fails_below` maps rubrics to bars (0..1).
    """
    return failing.kind is not FailureKind.RUBRIC or failing.rubric in fails_below


def failure_of(
    record: RagRecord,
    scores: Sequence[Score],
    fails_below: Mapping[str, float],
    time_unix_nano: int,
    usual: Mapping[str, float] = NOTHING_USUAL,
    spikes: Sequence[Spike] = (),
) -> Failure | None:
    """The failure of a record, None where it passes.

    `fails_below` maps rubrics to bars (0..1); a rubric without a bar never fails. `usual` maps them
    to the share (0..1) of the route's records that fail them; `spikes` are what incidents of its
    time show. Where several fail, the most upstream of the unusual ones decides, see `_deciding`.
    """
    own = [spike for spike in spikes if spike.holds(record, time_unix_nano)]
    failing = _failing(scores, fails_below, own)
    kind = _kind(record, failing)
    if kind is None:
        return None
    rare = [score for score in failing if usual.get(score.rubric, 0.0) < COMMON]
    first = _deciding(rare or failing)
    deciding = first if kind is FailureKind.RUBRIC else None
    return Failure(
        trace_id=record.trace_id,
        record_id=record.record_id,
        time_unix_nano=time_unix_nano,
        service=record.service,
        environment=record.environment,
        route=record.route,
        kind=kind,
        family=deciding.layer if deciding else _errored_layer(record),
        reason=_reason(record, kind, first),
        rubric=first.rubric if first else "",
        label=_label(first) if first else "",
        rubrics=tuple(score.rubric for score in failing),
        question=record.query,
        scorer_kind=deciding.kind if deciding else Kind.CODE,
        stream=deciding.stream if deciding else Stream.BASE,
        inclusion_probability=deciding.inclusion_probability if deciding else 1.0,
        service_version=record.dimensions.service_version,
        prompt_version=record.dimensions.prompt_version,
        index_epoch=record.dimensions.index_epoch,
        llm_model=record.dimensions.llm_model,
    )


def _deciding(failing: Sequence[Score]) -> Score | None:
    """The most upstream score; but one of a sample or a local model gives way to a grade of code.

    A fabricated quote fails `citation_validity` on every record, and `groundedness` on the few that
    a judge saw: by the most upstream these few would be an issue of their own, and extrapolated.
    What a local model thinks of the answer falls with it, and says less of what is wrong.
    Retrieval keeps its place, since nothing on every record speaks for it.
    """
    first = next(iter(failing), None)
    if first is None or first.layer is Layer.RETRIEVAL:
        return first
    if first.inclusion_probability == 1 and first.kind is not Kind.MODEL:
        return first
    of_all = (
        score
        for score in failing
        if score.kind is Kind.CODE
        and score.inclusion_probability == 1
        and score.layer is not Layer.RETRIEVAL
    )
    return next(of_all, first)


def _kind(record: RagRecord, failing: Sequence[Score]) -> FailureKind | None:
    if record.error is not None:
        return FailureKind.ERROR
    if failing:
        return FailureKind.RUBRIC
    return FailureKind.THUMBS_DOWN if any(map(_is_dislike, record.feedback)) else None


def _failing(
    scores: Sequence[Score], fails_below: Mapping[str, float], spikes: Sequence[Spike]
) -> list[Score]:
    """One failing score of each rubric, upstream first; of several, the most probably sampled."""
    failing = [
        score
        for score in scores
        if not score.spares_answer
        and (
            (score.stream in OWN_STREAMS and score.fails(fails_below.get(score.rubric)))
            or score.rubric == OTHER_CHUNKS
            or any(spike.shows(score) for spike in spikes)
        )
    ]
    first: dict[str, Score] = {}
    for score in sorted(failing, key=lambda score: -score.inclusion_probability):
        first.setdefault(score.rubric, score)
    # What only an incident shows comes last: a rubric says better what is wrong.
    return sorted(
        first.values(),
        key=lambda score: (
            score.rubric in SHOWN_BY_INCIDENTS,
            upstream_place(score.rubric, score.layer),
        ),
    )


def _errored_layer(record: RagRecord) -> Layer:
    """The layer of the step that failed, as far as the record shows it."""
    if record.absent.get("retrieved") is Absent.ERRORED:
        return Layer.RETRIEVAL
    if record.absent.get("answer") is Absent.ERRORED:
        return Layer.GENERATION
    return Layer.CROSS_CUTTING


def _reason(record: RagRecord, kind: FailureKind, first: Score | None) -> str:
    if kind is FailureKind.RUBRIC and first is not None:
        return _short(_explanation(first)) or plain(first.rubric)
    if kind is FailureKind.ERROR:
        return _short((record.error or "").strip().partition("\n")[0]) or WORDS[kind]
    comments = [feedback.comment for feedback in record.feedback if _is_dislike(feedback)]
    return next(filter(None, map(_short, comments)), WORDS[kind])


def _label(score: Score) -> str:
    """The score's own label, else the failure type that a judge chose."""
    chosen = score.details.get("failure_type")
    return score.label or (chosen if isinstance(chosen, str) and chosen != NO_TYPE else "")


def _explanation(score: Score) -> str:
    """A judge's sentence, else its grades after the rubric's name; of code its explanation."""
    mode = score.details.get("failure_mode")
    if isinstance(mode, str) and mode.strip():
        return mode
    text = score.explanation or plain(score.label)
    return f"{plain(score.rubric)}: {text}" if score.kind is Kind.JUDGE and text else text


def _is_dislike(feedback: Feedback) -> bool:
    return feedback.value is not None and feedback.value < 0.5


def _short(text: str) -> str:
    return " ".join(text.split())[:SHOWN]
