"""Maps results to OpenTelemetry's events and to OpenInference's EVALUATOR spans.

Source: open-telemetry/semantic-conventions-genai, event `gen_ai.evaluation.result`; OpenInference,
"Annotations and Evaluations". Attributes that neither names are under `ragvigil.`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from typing import TypeAlias

from ragvigil.llm.guard import MARK
from ragvigil.model.evaluation import OWN, SCOPE
from ragvigil.model.record import RagRecord
from ragvigil.model.score import Kind, Score
from scorers.export.settings import ExportSettings
from scorers.rubric import Rubric

EXPLANATION_CHARACTERS, LABEL_CHARACTERS = 1000, 200
ANNOTATORS = {Kind.CODE: "CODE", Kind.MODEL: "CODE", Kind.JUDGE: "LLM", Kind.HUMAN: "HUMAN"}
"""OpenInference's `annotator_kind`: `LLM` means a language model, which local models are not."""
Plain: TypeAlias = "str | int | float | bool"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The result of one rubric; `value` is None if it is a label alone or does not apply."""

    name: str
    value: float | None
    label: str
    explanation: str
    annotator: str
    details: Mapping[str, Plain]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerResults:
    """The results of one answer. `span_id` is that of the root of its record; ids are numbers.

    `response_id` is empty if several model replies made the answer: then the span identifies it.
    """

    trace_id: int
    span_id: int
    response_id: str
    time_unix_nano: int
    results: tuple[Result, ...]
    details: Mapping[str, Plain]

    @property
    def digest(self) -> int:
        """A 64-bit hash of answer and results, the same in every process."""
        outcomes = [
            (result.name, result.details[OWN], result.value, result.label)
            for result in self.results
        ]
        text = repr((self.trace_id, self.span_id, outcomes))
        return int.from_bytes(blake2b(text.encode(errors="replace"), digest_size=8).digest(), "big")


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a result tells about its rubric; `hash` (16 hex digits) covers the whole rubric."""

    version: str
    hash: str
    is_label: bool


class NoSpan(ValueError):
    """The answer has no valid OpenTelemetry trace and span id."""


def facts_of(rubrics: Mapping[str, Rubric]) -> dict[str, Facts]:
    """The facts of each rubric, by name."""
    return {
        name: Facts(version=rubric.version, hash=_hash(rubric), is_label=rubric.scale == "label")
        for name, rubric in rubrics.items()
    }


def select_scores(
    scores: Sequence[Score], facts: Mapping[str, Facts], settings: ExportSettings
) -> list[Score]:
    """The scores that the settings export."""
    return [
        score
        for score in scores
        if (not settings.rubrics or score.rubric in settings.rubrics)
        and score.stream in settings.streams
        and (settings.not_applicable or _applies(score, facts.get(score.rubric)))
    ]


def answer_results(
    record: RagRecord,
    scores: Sequence[Score],
    facts: Mapping[str, Facts],
    *,
    now_unix_nano: int,
    explanations: bool,
) -> AnswerResults:
    """The results of an answer, ready to be sent. Raises NoSpan."""
    return AnswerResults(
        trace_id=_number(record.trace_id, 32),
        span_id=_number(record.record_id, 16),
        response_id=record.response_ids[0] if len(record.response_ids) == 1 else "",
        time_unix_nano=now_unix_nano,
        results=tuple(_result(score, facts.get(score.rubric), explanations) for score in scores),
        details=_present({
            "ragvigil.service": record.service,
            "ragvigil.environment": record.environment,
            "ragvigil.route": record.route,
            "ragvigil.generation": record.generation,
        }),
    )  # fmt: skip


def event_attributes(answer: AnswerResults, result: Result) -> dict[str, Plain]:
    """The attributes of one `gen_ai.evaluation.result`, without empty ones."""
    return _present({
        "gen_ai.evaluation.name": result.name,
        "gen_ai.evaluation.score.value": result.value,
        "gen_ai.evaluation.score.label": result.label,
        "gen_ai.evaluation.explanation": result.explanation,
        "gen_ai.response.id": answer.response_id,
    }) | {**answer.details, **result.details}  # fmt: skip


def span_attributes(answer: AnswerResults) -> dict[str, Plain]:
    """The attributes of one EVALUATOR span with all results of an answer."""
    attributes: dict[str, Plain] = {
        "openinference.span.kind": "EVALUATOR",
        OWN: SCOPE,
        # Langfuse and Phoenix ignore links: as attributes, a search finds the judged ids (ADR 13).
        "ragvigil.judged.trace_id": f"{answer.trace_id:032x}",
        "ragvigil.judged.span_id": f"{answer.span_id:016x}",
        **answer.details,
    }
    for place, result in enumerate(answer.results):
        for key, value in _evaluation(result):
            attributes[f"evaluations.{place}.evaluation.{key}"] = value
    return attributes


def span_ids(answer: AnswerResults) -> tuple[int, int]:
    """Trace and span id of the EVALUATOR span.

    Both are made from the content, so that a span sent again is the same. The trace id begins with
    MARK, by which the collector recognises our own spans and makes no record of them.
    """
    return int(f"{MARK}{answer.digest or 1:016x}", 16), answer.digest or 1


def _hash(rubric: Rubric) -> str:
    text = json.dumps(asdict(rubric), sort_keys=True, default=str)
    return blake2b(text.encode(), digest_size=8).hexdigest()


def _evaluation(result: Result) -> Iterator[tuple[str, Plain]]:
    yield "name", result.name
    if result.value is not None:
        yield "score", result.value
    if result.label:
        yield "label", result.label
    # OpenInference requires score, label or explanation.
    explanation = result.explanation or (
        "not applicable" if result.value is None and not result.label else ""
    )
    if explanation:
        yield "explanation", explanation
    yield "annotator_kind", result.annotator
    yield "identifier", str(result.details[OWN])
    yield "metadata", json.dumps(dict(result.details), ensure_ascii=False)


def _result(score: Score, facts: Facts | None, explanations: bool) -> Result:
    applies = _applies(score, facts)
    return Result(
        name=score.rubric,
        value=score.value,
        label=_encodable(score.label[:LABEL_CHARACTERS]),
        explanation=_encodable(score.explanation[:EXPLANATION_CHARACTERS]) if explanations else "",
        annotator=ANNOTATORS[score.kind],
        details=_present({
            OWN: score.scorer or score.rubric,
            "ragvigil.evaluator.version": score.version,
            "ragvigil.rubric.version": facts.version if facts else "",
            "ragvigil.rubric.hash": facts.hash if facts else "",
            "ragvigil.layer": score.layer.value,
            "ragvigil.kind": score.kind.value,
            "ragvigil.stream": score.stream.value,
            "ragvigil.inclusion_probability": score.inclusion_probability,
            "ragvigil.not_applicable": None if applies else True,
            "ragvigil.absent": score.absent,
        }),
    )  # fmt: skip


def _applies(score: Score, facts: Facts | None) -> bool:
    """Whether a score has a value, or the label of a rubric that is only a label."""
    if score.value is not None:
        return True
    is_label = facts is None or facts.is_label
    return is_label and bool(score.label) and not score.absent


def _number(text: str, digits: int) -> int:
    try:
        number = int(text, 16) if len(text) == digits and text.isalnum() else 0
    except ValueError:
        number = 0
    if not number:
        raise NoSpan(f"{text} is not {digits} hexadecimal digits")
    return number


def _present(attributes: Mapping[str, Plain | None]) -> dict[str, Plain]:
    """The attributes that are not empty; replaces lone surrogates, which protobuf cannot encode."""
    return {
        key: _encodable(value) if isinstance(value, str) else value
        for key, value in attributes.items()
        if value is not None and value != ""
    }


def _encodable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
