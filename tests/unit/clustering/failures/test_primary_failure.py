"""Which records fail, where first, and in which words."""

from __future__ import annotations

from typing import Any

import pytest

from clustering.failures.primary_failure import failure_of
from ragvigil.model.issue import Failure, FailureKind
from ragvigil.model.record import Absent, Dimensions, Feedback, RagRecord
from ragvigil.model.score import UPSTREAM, Kind, Layer, Score, Stream
from ragvigil.store.issues.spikes import Spike
from scorers.rubric import house_rubrics

BARS = dict.fromkeys((*house_rubrics(), "tone"), 0.8)
RECORD = RagRecord(
    record_id="r1",
    trace_id="t1",
    service="desk",
    environment="prod",
    route="/ask",
    query="How long does a refund take?",
    dimensions=Dimensions(service_version="2.4", index_epoch="e7", llm_model="m"),
)


def score(rubric: str, value: float | None = 0.0, **more: Any) -> Score:
    known = house_rubrics().get(rubric)
    more.setdefault("layer", known.layer if known else Layer.GENERATION)
    return Score(rubric=rubric, value=value, **more)


def failed(*scores: Score, record: RagRecord = RECORD) -> Failure:
    failure = failure_of(record, scores, BARS, 7)
    assert failure is not None
    return failure


def from_record(**more: Any) -> Failure | None:
    return failure_of(RagRecord(record_id="r1", trace_id="t1", **more), [], BARS, 7)


def test_a_record_without_a_failing_score_an_error_or_a_dislike_is_no_failure() -> None:
    passing = [score("groundedness", 0.8), score("completeness", None), score("refusal", 0.0)]
    bars = {"groundedness": 0.8, "completeness": 0.8}
    assert failure_of(RECORD, passing, bars, 7) is None
    assert from_record(feedback=(Feedback(kind="thumbs", value=0.5),)) is None
    assert from_record(feedback=(Feedback(kind="escalation"),)) is None


def test_what_did_not_reach_the_prompt_is_no_failure_of_the_answer() -> None:
    outside = score("injected_context", 0.5, label="override,outside_prompt")
    assert failure_of(RECORD, [outside], BARS, 7) is None
    failure = failed(outside, score("groundedness"))
    assert failure.rubrics == ("groundedness",)


def test_a_failure_says_where_and_when_and_of_which_release() -> None:
    failure = failed(score("groundedness", label="unsupported", explanation="2 x unsupported"))
    assert (failure.kind, failure.family, failure.rubric) == (
        FailureKind.RUBRIC,
        Layer.GENERATION,
        "groundedness",
    )
    assert (failure.key, failure.route, failure.time_unix_nano) == (("t1", "r1"), "/ask", 7)
    assert (failure.service_version, failure.index_epoch, failure.llm_model) == ("2.4", "e7", "m")
    assert failure.question == "How long does a refund take?"


def test_a_sampled_rubric_gives_way_to_one_that_code_gives_every_record() -> None:
    sampled: dict[str, Any] = {"kind": Kind.JUDGE, "inclusion_probability": 0.07}
    failure = failed(score("groundedness", **sampled), score("citation_validity", label="stitched"))
    assert (failure.rubric, failure.label, failure.inclusion_probability) == (
        "citation_validity", "stitched", 1.0,
    )  # fmt: skip
    assert failure.rubrics == ("groundedness", "citation_validity")
    suspicious = score("groundedness", kind=Kind.JUDGE, stream=Stream.SUSPICIOUS,
                       inclusion_probability=0.02)  # fmt: skip
    assert failed(suspicious, score("citation_coverage")).stream is Stream.BASE
    assert failed(score("context_relevance", **sampled), score("citation_validity")).rubric == (
        "context_relevance"
    )
    assert failed(score("groundedness", **sampled)).rubric == "groundedness"


def test_a_local_models_low_value_gives_way_to_a_grade_of_code() -> None:
    low = Spike(
        service="desk",
        environment="prod",
        route="/ask",
        rubric="answer_relevance",
        label="",
        below=0.5,
        first=0,
        last=60,
    )
    near = score("answer_relevance", 0.2, kind=Kind.MODEL, stream=Stream.PROXY)
    quote = score("citation_validity", label="quote_not_found")
    failure = failure_of(RECORD, [near, quote], BARS, 7, spikes=[low])
    assert failure is not None
    assert (failure.rubric, failure.label) == ("citation_validity", "quote_not_found")
    assert failure.rubrics == ("answer_relevance", "citation_validity")


@pytest.mark.parametrize(
    ("rubrics", "first"),
    [
        (["completeness", "context_relevance"], "context_relevance"),
        (["context_relevance", "retrieval_shape"], "retrieval_shape"),
        (["groundedness", "injected_context"], "injected_context"),
        (["injected_context", "context_relevance"], "context_relevance"),
        (["citation_coverage", "answer_complete_text"], "answer_complete_text"),
        (["chunk_attribution", "citation_validity"], "citation_validity"),
        (["chunk_attribution", "groundedness"], "groundedness"),
        (["factual_accuracy", "tone"], "tone"),
        (["tone", "citation_coverage"], "citation_coverage"),
    ],
)
def test_the_most_upstream_rubric_is_the_first(rubrics: list[str], first: str) -> None:
    failure = failed(*(score(name) for name in rubrics))
    assert failure.rubric == first
    assert set(failure.rubrics) == set(rubrics)


def test_what_fails_often_anyhow_is_no_cause_as_long_as_something_else_fails() -> None:
    scores = [score("context_relevance"), score("citation_coverage"), score("groundedness")]
    usual = {"context_relevance": 0.7, "groundedness": 0.1, "citation_coverage": 0.09}
    failure = failure_of(RECORD, scores, BARS, 7, usual)
    assert failure is not None
    assert (failure.rubric, failure.family) == ("citation_coverage", Layer.GENERATION)
    assert failure.rubrics == ("context_relevance", "groundedness", "citation_coverage")
    alone = failure_of(RECORD, scores[:1], BARS, 7, usual)
    assert alone is not None
    assert alone.rubric == "context_relevance"


def test_the_label_is_the_scores_own_else_the_type_that_the_judge_chose() -> None:
    chosen = {"failure_type": "wrong_number"}
    assert failed(score("groundedness", details=chosen)).label == "wrong_number"
    assert failed(score("groundedness", label="unsupported", details=chosen)).label == "unsupported"
    assert failed(score("groundedness", details={"failure_type": "none"})).label == ""


def test_every_rubric_of_the_house_that_can_fail_has_a_place() -> None:
    can_fail = {name for name, rubric in house_rubrics().items() if rubric.fails_below is not None}
    assert can_fail <= set(UPSTREAM)
    assert set(UPSTREAM) <= {*house_rubrics(), *Layer}


@pytest.mark.parametrize("stream", [Stream.AUDIT, Stream.CANARY, Stream.PROXY])
def test_scores_that_test_or_correct_a_judge_make_no_failure(stream: Stream) -> None:
    assert failure_of(RECORD, [score("groundedness", stream=stream)], BARS, 7) is None


def test_a_local_models_number_makes_no_failure() -> None:
    assert failure_of(RECORD, [score("groundedness", kind=Kind.MODEL)], BARS, 7) is None


def test_the_chance_is_that_of_the_first_rubric() -> None:
    base = score("groundedness", kind=Kind.JUDGE, inclusion_probability=0.1)
    boost = score("groundedness", stream=Stream.BOOST, inclusion_probability=0.4)
    cheap = score("citation_validity")
    failure = failed(base, boost)
    assert (failure.stream, failure.inclusion_probability) == (Stream.BOOST, 0.4)
    assert failed(cheap).inclusion_probability == 1.0


def test_the_reason_is_the_judges_sentence_else_its_grades_else_what_code_found() -> None:
    reason = {"explanation": "2 x unsupported", "label": "unsupported", "kind": Kind.JUDGE}
    mode = {"failure_mode": " names another\ndeadline "}
    assert failed(score("groundedness", **reason, details=mode)).reason == "names another deadline"
    silent = failed(score("groundedness", **reason, details={"failure_mode": ""}))
    assert silent.reason == "groundedness: 2 x unsupported"
    assert failed(score("citation_coverage", explanation="0 of 2 claims")).reason == "0 of 2 claims"
    assert failed(score("citation_coverage", label="uncited")).reason == "uncited"
    assert failed(score("citation_coverage")).reason == "citation coverage"


def test_a_reason_is_bounded_and_one_line() -> None:
    reason = failed(score("tone", explanation="a\n" * 5000)).reason
    assert len(reason) <= 300
    assert "\n" not in reason


def test_an_error_comes_first_and_is_of_the_layer_of_the_step_that_failed() -> None:
    lost = RagRecord(
        record_id="r1",
        trace_id="t1",
        error="TimeoutError: index\n  at search",
        absent={"retrieved": Absent.ERRORED},
    )
    failure = failed(score("citation_coverage"), record=lost)
    assert (failure.kind, failure.family) == (FailureKind.ERROR, Layer.RETRIEVAL)
    assert failure.reason == "TimeoutError: index"
    unnamed = from_record(error="", absent={"answer": Absent.ERRORED})
    assert unnamed is not None
    assert (unnamed.family, unnamed.reason) == (Layer.GENERATION, "the request failed")


def test_a_thumbs_down_speaks_where_no_rubric_does() -> None:
    disliked = (Feedback(kind="thumbs", value=1.0, comment="nice"),
                Feedback(kind="rating", value=0.25, comment="wrong year"))  # fmt: skip
    failure = from_record(feedback=disliked)
    assert failure is not None
    assert (failure.kind, failure.reason, failure.rubric) == (
        FailureKind.THUMBS_DOWN,
        "wrong year",
        "",
    )
    record = RagRecord(record_id="r1", trace_id="t1", feedback=disliked)
    assert failed(score("groundedness"), record=record).kind is FailureKind.RUBRIC
