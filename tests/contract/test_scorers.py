"""What every registered scorer promises, and every rubric file."""

from __future__ import annotations

import json
import math
import tomllib
from dataclasses import fields, replace
from importlib.resources import files

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragvigil.model.record import (
    Absent,
    Citation,
    ContextSource,
    Dimensions,
    Document,
    Latencies,
    RagRecord,
    Usage,
)
from ragvigil.model.score import Score
from ragvigil.model.scorer import Scorer
from scorers.record_shape import measure
from scorers.rubric import FIELDS, Rubric, load_rubrics, parse_rubric
from scorers.runner import Runner, load_scorers

SCORERS = load_scorers()
RUNNER = Runner(SCORERS)
RUBRICS = load_rubrics()
EMPTY = RagRecord(record_id="1", trace_id="1")
ABSENT = ("query", "retrieved", "document_texts", "retrieved_texts", "document_ids", "reranked",
          "context", "answer", "citations", "usage")  # fmt: skip
PIECES = (
    "Card refunds take 5 to 7 business days.", "I'm sorry, I could not find that.", "退款需要5天。",
    "「返金は5日」です。", "الاسترداد خلال 5 أيام؟", "वापसी में 5 दिन लगते हैं।",
    "```python\nprint(1)\n", '{"answer": "', "[refund-02]", "[1]", "【3†source】", "…",
    "“quoted", "\u200b\ufeff", "\ud800", "\x00",
    "🙂", "\n\n- ", "1.", "not", "-5.5", "e.g.", "https://a.b/c", "İ", "ß", "a" * 300, " ",
)  # fmt: skip

texts = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join),
    st.text(st.characters(), max_size=60),
)
ids = st.one_of(st.sampled_from(["a", "b", "1", "refund-02", ""]), st.text(max_size=5))
numbers = st.one_of(st.none(), st.floats(), st.integers(-5, 5).map(float))
places = st.one_of(st.none(), st.integers(-5, 400))
counts = st.one_of(st.none(), st.integers(-5, 1_000_000))

documents = st.builds(
    Document,
    chunk_id=ids,
    content=st.one_of(st.none(), texts),
    document_id=ids,
    score=numbers,
    rank=st.integers(-1, 9),
    metadata=st.dictionaries(st.text(max_size=4), st.one_of(texts, st.integers()), max_size=2),
)
cited = st.builds(
    Citation,
    target=ids,
    chunk_id=st.one_of(st.none(), ids),
    document_id=ids,
    index=places,
    marker=st.one_of(st.just(""), st.sampled_from(PIECES)),
    quote=st.one_of(st.none(), texts),
    start=places,
    end=places,
    claim_start=places,
    claim_end=places,
)
listed = st.lists(documents, max_size=4).map(tuple)
records = st.builds(
    RagRecord,
    record_id=st.just("1"),
    trace_id=st.just("1"),
    query=st.one_of(st.none(), texts),
    retrieved=listed,
    reranked=listed,
    context=listed,
    context_source=st.sampled_from(ContextSource),
    answer=st.one_of(st.none(), texts),
    citations=st.lists(cited, max_size=4).map(tuple),
    usage=st.builds(Usage, input_tokens=counts, output_tokens=counts),
    cost_usd=numbers,
    latencies=st.builds(Latencies, total=numbers, generation=numbers),
    error=st.one_of(st.none(), st.just("timeout")),
    truncated=st.lists(st.sampled_from(["retrieved", "answer"]), max_size=2).map(tuple),
    absent=st.dictionaries(st.sampled_from(ABSENT), st.sampled_from(Absent), max_size=3),
    dimensions=st.builds(
        Dimensions, finish_reason=st.sampled_from(["", "stop", "length", "FinishReason.MAX_TOKENS"])
    ),
)
thorough = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
# The examples are the same for each scorer, and a generated record costs more than all scorers take
# for it: one test gives every record to every scorer, the test of each scorer alone takes a few.
briefly = settings(thorough, max_examples=15)
each_scorer = pytest.mark.parametrize("scorer", SCORERS, ids=lambda scorer: scorer.rubric)


def is_sound(score: Score, rubric: Rubric) -> bool:
    """A value in 0..1, or none with a reason; only labels that the rubric's file names."""
    has_value = score.value is not None and math.isfinite(score.value) and 0 <= score.value <= 1
    has_reason = score.value is None and bool(score.explanation)
    labels = {"", *rubric.labels}
    return (has_value or has_reason) and set(score.label.split(",")) <= labels


@each_scorer
@briefly
@given(record=records)
def test_a_scorer_never_raises_and_says_a_value_or_a_reason(
    scorer: Scorer, record: RagRecord
) -> None:
    assert is_sound(scorer.score(record), RUBRICS[scorer.rubric])


@each_scorer
@briefly
@given(record=records)
def test_a_scorer_is_deterministic(scorer: Scorer, record: RagRecord) -> None:
    assert_deterministic(scorer, record)


def assert_deterministic(scorer: Scorer, record: RagRecord) -> None:
    first = scorer.score(record)
    assert type(scorer)().score(replace(record)) == first == scorer.score(record)


@each_scorer
@briefly
@given(record=records, other=records)
def test_a_score_does_not_depend_on_the_records_before(
    scorer: Scorer, record: RagRecord, other: RagRecord
) -> None:
    assert_independent(scorer, record, other)


def assert_independent(scorer: Scorer, record: RagRecord, other: RagRecord) -> None:
    first = scorer.score(record)
    scorer.score(other)
    assert scorer.score(record) == first


@each_scorer
@briefly
@given(record=records)
def test_the_evidence_of_a_score_is_json(scorer: Scorer, record: RagRecord) -> None:
    json.dumps(dict(scorer.score(record).details), allow_nan=False)


@thorough
@given(record=records, other=records)
def test_every_scorer_keeps_all_promises(record: RagRecord, other: RagRecord) -> None:
    for scorer in SCORERS:
        score = scorer.score(record)
        assert is_sound(score, RUBRICS[scorer.rubric]), scorer.rubric
        json.dumps(dict(score.details), allow_nan=False)
        assert_deterministic(scorer, record)
        assert_independent(scorer, record, other)


@each_scorer
def test_an_empty_record_is_not_applicable(scorer: Scorer) -> None:
    score = scorer.score(EMPTY)
    assert score.value is None
    assert score.label == ""
    assert score.explanation


def is_sparse(scorer: Scorer) -> bool:
    """Whether records that a scorer does not apply to have no score of it."""
    return bool(getattr(scorer, "is_sparse", False))


@each_scorer
@pytest.mark.parametrize("reason", Absent)
def test_an_absent_field_is_named_and_never_scored(scorer: Scorer, reason: Absent) -> None:
    for field in RUBRICS[scorer.rubric].needs:
        scores = Runner([scorer]).score_all(replace(EMPTY, absent={field: reason}))
        assert len(scores) == (not is_sparse(scorer))
        for score in scores:
            assert (score.value, score.absent) == (None, field)
            assert field in score.explanation


@thorough
@given(record=records)
def test_the_runner_names_rubric_layer_scorer_and_version(record: RagRecord) -> None:
    scores = RUNNER.score_all(record)
    scored = {score.rubric for score in scores}
    kept = [each for each in SCORERS if each.rubric in scored or not is_sparse(each)]
    assert [score.rubric for score in scores] == [scorer.rubric for scorer in kept]
    for scorer, score in zip(kept, scores, strict=True):
        assert score.value is not None or score.label or not is_sparse(scorer)
        rubric = RUBRICS[score.rubric]
        assert score.layer == rubric.layer
        assert score.version in (rubric.version, scorer.score(record).version)
        assert score.scorer


@thorough
@given(record=records)
def test_measurements_have_the_same_names_for_every_record(record: RagRecord) -> None:
    assert measure(record).keys() == measure(EMPTY).keys()


def test_every_scorer_has_a_rubric_and_no_rubric_is_scored_twice() -> None:
    names = [scorer.rubric for scorer in SCORERS]
    assert len(names) == len(set(names))
    assert set(names) <= set(RUBRICS)


def rubric_files() -> list[str]:
    folder = files("scorers").joinpath("rubrics")
    return sorted(file.name for file in folder.iterdir() if file.name.endswith(".toml"))


@pytest.mark.parametrize("name", rubric_files())
def test_a_rubric_file_parses_and_names_known_fields_only(name: str) -> None:
    text = files("scorers").joinpath("rubrics", name).read_text("utf-8")
    rubric = parse_rubric(text, name)
    assert f"{rubric.name}.toml" == name
    assert set(rubric.needs) <= FIELDS
    assert set(tomllib.loads(text)) <= {field.name for field in fields(Rubric)}
