"""Exported results: what is sent, under which names, and what never is."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragvigil.llm.guard import is_own
from ragvigil.model.record import RagRecord
from ragvigil.model.score import Kind, Layer, Score, Stream
from scorers.export.events import (
    EXPLANATION_CHARACTERS,
    AnswerResults,
    NoSpan,
    answer_results,
    event_attributes,
    facts_of,
    select_scores,
    span_attributes,
    span_ids,
)
from scorers.export.settings import ExportSettings
from scorers.rubric import load_rubrics

NOW = 1_700_000_000_000_000_000
FACTS = facts_of(load_rubrics())
RECORD = RagRecord(
    record_id="b" * 16,
    trace_id="a" * 32,
    service="helpdesk",
    environment="prod",
    route="/ask",
    response_ids=("resp-1",),
    query="How long does a refund take?",
    answer="Five days.",
)
JUDGED = Score(
    rubric="groundedness",
    value=0.25,
    label="unsupported",
    explanation='the answer says "Five days"',
    layer=Layer.GENERATION,
    scorer="openai:gpt-x",
    version="3",
    kind=Kind.JUDGE,
    stream=Stream.BOOST,
    inclusion_probability=0.1,
)


def exported(
    *scores: Score, record: RagRecord = RECORD, explanations: bool = False
) -> AnswerResults:
    return answer_results(record, scores, FACTS, now_unix_nano=NOW, explanations=explanations)


def attributes(score: Score, **given: object) -> dict[str, object]:
    answer = exported(score, **given)
    return event_attributes(answer, answer.results[0])


def test_a_result_says_what_was_judged_by_whom_and_how_it_was_chosen() -> None:
    answer = exported(JUDGED)
    assert (f"{answer.trace_id:032x}", f"{answer.span_id:016x}") == ("a" * 32, "b" * 16)
    assert answer.time_unix_nano == NOW
    rubric = load_rubrics()["groundedness"]
    assert event_attributes(answer, answer.results[0]) == {
        "gen_ai.evaluation.name": "groundedness",
        "gen_ai.evaluation.score.value": 0.25,
        "gen_ai.evaluation.score.label": "unsupported",
        "gen_ai.response.id": "resp-1",
        "ragvigil.service": "helpdesk",
        "ragvigil.environment": "prod",
        "ragvigil.route": "/ask",
        "ragvigil.generation": 1,
        "ragvigil.evaluator": "openai:gpt-x",
        "ragvigil.evaluator.version": "3",
        "ragvigil.rubric.version": rubric.version,
        "ragvigil.rubric.hash": FACTS["groundedness"].hash,
        "ragvigil.layer": "generation",
        "ragvigil.kind": "judge",
        "ragvigil.stream": "boost",
        "ragvigil.inclusion_probability": 0.1,
    }


def test_no_text_of_the_trace_is_exported_by_default() -> None:
    assert "Five days" not in json.dumps(attributes(JUDGED))
    assert "Five days" not in json.dumps(span_attributes(exported(JUDGED)))
    fields = attributes(JUDGED, explanations=True)
    assert fields["gen_ai.evaluation.explanation"] == JUDGED.explanation
    long = attributes(replace(JUDGED, explanation="x" * 5000), explanations=True)
    assert len(str(long["gen_ai.evaluation.explanation"])) == EXPLANATION_CHARACTERS


def test_a_result_without_a_value_is_never_exported_as_a_number() -> None:
    unseen = Score.not_applicable("chunk_utilization", "no texts", absent="document_texts")
    assert select_scores([unseen], FACTS, ExportSettings()) == []
    assert select_scores([unseen], FACTS, ExportSettings(not_applicable=True)) == [unseen]
    fields = attributes(unseen)
    assert "gen_ai.evaluation.score.value" not in fields
    assert fields["ragvigil.not_applicable"] is True
    assert fields["ragvigil.absent"] == "document_texts"


def test_a_label_is_the_result_of_a_label_rubric_and_a_reason_elsewhere() -> None:
    refused = Score(rubric="refusal", label="refused")
    none = Score.not_applicable("context_precision", "none", label="none_relevant")
    withheld = Score.not_applicable("grounding", "attack", label="injection_suspected")
    assert select_scores([refused, none, withheld], FACTS, ExportSettings()) == [refused]
    fields = attributes(refused)
    assert fields["gen_ai.evaluation.score.label"] == "refused"
    assert "gen_ai.evaluation.score.value" not in fields
    assert "ragvigil.not_applicable" not in fields


def test_rubrics_and_streams_select_results_and_proxies_stay_by_default() -> None:
    proxy = replace(JUDGED, stream=Stream.PROXY)
    assert select_scores([JUDGED, proxy], FACTS, ExportSettings()) == [JUDGED]
    base = ExportSettings(streams=(Stream.BASE,))
    assert select_scores([JUDGED, proxy], FACTS, base) == []
    other = ExportSettings(rubrics=("refusal",))
    assert select_scores([JUDGED, Score(rubric="refusal", label="answered")], FACTS, other) == [
        Score(rubric="refusal", label="answered")
    ]


def test_with_several_model_replies_no_response_id_is_sent() -> None:
    record = replace(RECORD, response_ids=("resp-1", "resp-2"))
    assert "gen_ai.response.id" not in attributes(JUDGED, record=record)


@pytest.mark.parametrize(
    "ids", [("1", "b" * 16), ("a" * 32, ""), ("0" * 32, "b" * 16), ("g" * 32, "b" * 16)]
)
def test_a_result_without_opentelemetry_ids_is_refused(ids: tuple[str, str]) -> None:
    with pytest.raises(NoSpan):
        exported(JUDGED, record=replace(RECORD, trace_id=ids[0], record_id=ids[1]))


def test_an_evaluator_span_has_all_results_and_a_trace_of_its_own() -> None:
    coded = Score(rubric="citation_validity", value=1.0, scorer="citations", version="1")
    answer = exported(JUDGED, coded)
    trace_id, span_id = span_ids(answer)
    assert is_own(f"{trace_id:032x}")
    assert 0 < span_id < 1 << 64
    assert span_ids(exported(JUDGED, coded)) == (trace_id, span_id), "sent again it is the same"
    fields = span_attributes(answer)
    assert fields["openinference.span.kind"] == "EVALUATOR"
    assert fields["ragvigil.judged.trace_id"] == RECORD.trace_id
    assert fields["ragvigil.judged.span_id"] == RECORD.record_id
    assert fields["evaluations.0.evaluation.name"] == "groundedness"
    assert fields["evaluations.0.evaluation.score"] == 0.25
    assert fields["evaluations.0.evaluation.annotator_kind"] == "LLM"
    assert fields["evaluations.1.evaluation.annotator_kind"] == "CODE"
    assert "evaluations.1.evaluation.label" not in fields
    metadata = json.loads(str(fields["evaluations.1.evaluation.metadata"]))
    assert metadata["ragvigil.layer"] == "cross_cutting"


def test_in_a_span_too_each_result_has_a_score_a_label_or_an_explanation() -> None:
    fields = span_attributes(exported(Score.not_applicable("grounding", "no context")))
    assert fields["evaluations.0.evaluation.explanation"] == "not applicable"
    assert "evaluations.0.evaluation.score" not in fields


def test_results_that_differ_have_different_digests() -> None:
    first = exported(JUDGED)
    assert exported(replace(JUDGED, explanation="other words")).digest == first.digest
    for other in (replace(JUDGED, value=0.5), replace(JUDGED, scorer="openai:gpt-y")):
        assert exported(other).digest != first.digest


@given(st.text(max_size=40), st.text(max_size=40), st.text(max_size=40))
def test_any_text_can_be_encoded(label: str, route: str, explanation: str) -> None:
    score = replace(JUDGED, label=label + "\ud800", explanation=explanation + "\udfff")
    record = replace(RECORD, route=route + "\ud800")
    answer = exported(score, record=record, explanations=True)
    for fields in (event_attributes(answer, answer.results[0]), span_attributes(answer)):
        for value in fields.values():
            str(value).encode("utf-8")


def test_the_hash_changes_with_the_rubric_alone() -> None:
    rubric = load_rubrics()["groundedness"]
    again = facts_of({"groundedness": replace(rubric)})["groundedness"]
    other = facts_of({"groundedness": replace(rubric, fails_below=0.123)})["groundedness"]
    assert again == FACTS["groundedness"]
    assert other.hash != again.hash
