"""The border with plug-ins: errors are counted and reported; settings disable rubrics."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import pytest
from pydantic import ValidationError

from ragvigil.app.process.tied import run_tied
from ragvigil.model.record import Absent, Citation, Document, RagRecord
from ragvigil.model.score import Kind, Layer, Score, Stream
from scorers import chunk_utilization
from scorers.metrics import SCORER_ERRORS, SCORER_TOO_LATE
from scorers.rubric import BadRubric, load_rubrics, parse_rubric
from scorers.runner import Runner, UnknownRubric, load_scorers
from scorers.settings import ScorersSettings
from tests.patience import PATIENCE_SECONDS

RECORD = RagRecord(record_id="1", trace_id="1", answer="Refunds take 5 days.")
RUBRIC = """
name = "a"
layer = "generation"
version = "1"
scale = "0..1"
needs = ["answer"]
description = "What is asked."
"""


class Broken:
    rubric = "refusal"

    def score(self, record: RagRecord) -> Score:
        raise KeyError(record.record_id)


class Unheard:
    rubric = "unheard_of"

    def score(self, record: RagRecord) -> Score:
        return Score.not_applicable(self.rubric, f"{record.record_id} is never scored")


def test_records_that_are_scored_together_have_the_scores_of_each_alone() -> None:
    runner = Runner(load_scorers()).lean()
    more_records = [replace(RECORD, answer=answer) for answer in ("I cannot answer that.", None)]
    together = runner.score_each([RECORD, *more_records])
    assert together == [runner.score_all(record) for record in (RECORD, *more_records)]
    assert len(set(map(str, together))) == 3


def test_without_scorers_there_are_no_scores() -> None:
    assert Runner([]).score_each([RECORD, RECORD]) == [(), ()]
    assert Runner(load_scorers()).score_each([]) == []


@dataclass
class Timed:
    """Takes `seconds` of a clock that the test moves, on the answer "slow"."""

    clock: list[float]
    seconds: float
    rubric: str = "refusal"

    def score(self, record: RagRecord) -> Score:
        self.clock[0] += self.seconds if record.answer == "slow" else 0.001
        return Score(rubric=self.rubric, value=1.0)


def test_a_record_that_took_too_long_costs_its_own_scores_alone() -> None:
    clock = [0.0]
    scorers = [Timed(clock, 0.6), Timed(clock, 0.6), Timed(clock, 0.6)]
    now = partial(clock.__getitem__, 0)
    runner = Runner(scorers, ScorersSettings(seconds_a_record=1.0), clock=now, cpu_clock=now)
    before = SCORER_TOO_LATE.labels("Timed")._value.get()
    others = [replace(RECORD, record_id=str(number)) for number in range(3)]
    scored = runner.score_each([others[0], replace(RECORD, answer="slow"), *others[1:]])
    assert [[score.explanation for score in scores] for scores in scored] == [
        ["", "", ""],
        ["", "", "took too long"],
        ["", "", ""],
        ["", "", ""],
    ]
    assert scored[1][2].value is None
    assert SCORER_TOO_LATE.labels("Timed")._value.get() == before + 1


def test_a_field_that_is_absent_is_the_reason_though_the_time_is_used_up() -> None:
    clock = [0.0]
    slow = replace(RECORD, answer="slow", absent={"context": Absent.NOT_RUN})
    needs = Timed(clock, 0.6, "chunk_utilization")
    now = partial(clock.__getitem__, 0)
    runner = Runner([Timed(clock, 2.0), needs], clock=now, cpu_clock=now)
    assert runner.score_all(slow)[1].absent == "context"


def test_a_record_that_waited_for_a_cpu_has_not_taken_too_long() -> None:
    clock = [0.0]
    scorers = [Timed(clock, 60.0), Timed(clock, 60.0)]
    runner = Runner(scorers, clock=partial(clock.__getitem__, 0), cpu_clock=lambda: 0.5)
    scores = runner.score_all(replace(RECORD, answer="slow"))
    assert [score.value for score in scores] == [1.0, 1.0]


def test_every_score_is_a_beat() -> None:
    beats: list[int] = []
    runner = Runner(load_scorers()).lean()
    runner.score_each([RECORD, RECORD], lambda: beats.append(1))
    assert len(beats) == 2 * len(runner.needs)


def test_a_scorer_that_raises_is_counted_and_not_applicable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("PYTEST_CURRENT_TEST")
    before = SCORER_ERRORS.labels("Broken")._value.get()
    score = Runner([Broken()]).score_all(RECORD)[0]
    assert (score.value, score.explanation) == (None, "the scorer raised KeyError")
    assert score.layer == Layer.GENERATION
    assert SCORER_ERRORS.labels("Broken")._value.get() == before + 1


def test_under_pytest_a_scorer_that_raises_fails_the_test() -> None:
    with pytest.raises(KeyError):
        Runner([Broken()]).score_all(RECORD)


def test_a_scorer_does_not_run_if_its_field_is_absent() -> None:
    hidden = RagRecord(record_id="1", trace_id="1", absent={"answer": Absent.HIDDEN})
    score = Runner([Broken()]).score_all(hidden)[0]
    assert (score.absent, score.explanation) == ("answer", "answer is absent: hidden")


def test_a_scorer_without_a_rubric_is_refused() -> None:
    with pytest.raises(UnknownRubric, match=r"Unheard: no file rubrics/unheard_of\.toml"):
        Runner([Unheard()])


FULL = Score(
    rubric="refusal",
    value=0.5,
    label="partial",
    explanation="why",
    version="7",
    kind=Kind.MODEL,
    inclusion_probability=0.25,
    details={"a": 1},
)


class Modelled:
    """Answers with every field set."""

    rubric = "refusal"

    def score(self, record: RagRecord) -> Score:  # noqa: ARG002 (a scorer takes a record)
        return FULL


def test_a_score_keeps_its_values_and_gets_its_rubrics_facts() -> None:
    (score,) = Runner([Modelled()]).score_all(RECORD)
    layer = load_rubrics()["refusal"].layer
    assert score == replace(FULL, layer=layer, scorer="Modelled")


def test_for_a_judged_rubric_a_local_model_gives_a_proxy() -> None:
    runner = Runner([Modelled()])
    assert runner.with_judge({"refusal"}).score_all(RECORD)[0].stream is Stream.PROXY
    assert runner.with_judge({"groundedness"}).score_all(RECORD)[0].stream is Stream.BASE


@pytest.mark.parametrize(
    ("score", "fails"),
    [
        (Score(rubric="r", value=0.4), True),
        (Score(rubric="r", value=0.4, kind=Kind.JUDGE), True),
        (Score(rubric="r", value=0.5), False),
        (Score(rubric="r", value=0.4, kind=Kind.MODEL), False),
        (Score(rubric="r"), False),
    ],
)
def test_a_bar_holds_for_code_and_judges_and_without_a_bar_nothing_fails(
    score: Score, fails: bool
) -> None:
    assert score.fails(0.5) is fails
    assert not score.fails(None)


def test_a_lean_runner_leaves_local_models_out() -> None:
    every = Runner(load_scorers())
    rubrics = {score.rubric for score in every.score_all(RECORD)}
    lean = {score.rubric for score in every.lean().score_all(RECORD)}
    assert rubrics - lean == {"groundedness"}


def test_code_is_no_proxy_for_a_judge() -> None:
    runner = Runner(load_scorers()).with_judge({"refusal"})
    assert {score.stream for score in runner.score_all(RECORD)} == {Stream.BASE}


def test_a_disabled_rubric_is_not_scored() -> None:
    enabled = load_scorers(ScorersSettings(disabled=("refusal",)))
    assert {scorer.rubric for scorer in enabled} == {scorer.rubric for scorer in load_scorers()} - {
        "refusal"
    }


def test_a_setting_that_names_no_rubric_is_refused() -> None:
    with pytest.raises(UnknownRubric, match=r"\[scorers\] disabled: refusals is not one of"):
        load_scorers(ScorersSettings(disabled=("refusals",)))


def test_an_own_bound_replaces_the_rubrics() -> None:
    runner = Runner(load_scorers(), ScorersSettings(fails_below={"citation_coverage": 0.5}))
    assert runner.fails_below["citation_coverage"] == 0.5
    assert (
        runner.fails_below["citation_validity"] == load_rubrics()["citation_validity"].fails_below
    )
    assert "refusal" not in runner.fails_below


def test_a_bound_beyond_1_is_refused() -> None:
    with pytest.raises(ValidationError):
        ScorersSettings(fails_below={"citation_coverage": 1.4})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ('colour = "red"', "a.toml: colour: there is no such key"),
        ("fails_below = 1.4", "a.toml: fails_below: 1.4 is not between 0 and 1"),
        ("name = ", "a.toml: is not TOML"),
    ],
)
def test_a_bad_rubric_is_refused_in_one_sentence(change: str, message: str) -> None:
    with pytest.raises(BadRubric, match=message):
        parse_rubric(RUBRIC + change, "a.toml")


def test_a_rubric_that_needs_an_unknown_field_is_refused() -> None:
    with pytest.raises(BadRubric, match=r"a\.toml: needs: a record has no field answers"):
        parse_rubric(RUBRIC.replace('["answer"]', '["answers"]'), "a.toml")


def test_what_two_scorers_make_of_an_answer_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many records are scored together."""
    compared: list[str] = []

    def compare(answer: str, chunks: tuple[str, ...]) -> chunk_utilization.Comparison:
        compared.append(answer)
        return chunk_utilization._compare(answer, chunks)

    cached = lru_cache(maxsize=chunk_utilization.CACHED_ANSWERS)(compare)
    monkeypatch.setattr(chunk_utilization, "_cached_comparison", cached)
    chunk = Document(chunk_id="a", content="Refunds take five days.")
    citation = Citation(target="a", chunk_id="a", claim_start=0, claim_end=20)
    answered = [
        RagRecord(
            record_id=f"{number}",
            trace_id="1",
            query="How long do refunds take?",
            context=(chunk,),
            citations=(citation,),
            answer=f"Refunds take five days, says page {number} [a].",
        )
        for number in range(200)
    ]
    rubrics = ("chunk_utilization", "source_attribution")
    both = [scorer for scorer in load_scorers() if scorer.rubric in rubrics]
    Runner(both).score_each(answered)
    assert len(compared) == len(answered)


LOADED_LATER = """
import sys
from ragvigil.model.record import Citation, Document, RagRecord
from scorers.runner import Runner, load_scorers
runner = Runner(load_scorers())
runner.prepare()
before = set(sys.modules)
answer = 'The rules give everybody a second try. They say "nobody fails on the first day" [7].'
chunk = Document(chunk_id="7", content="At this school nobody fails on the first day of all.")
end = len(answer)
cited = Citation(target="7", chunk_id="7", marker="[7]", quote="nobody fails on the first day",
                 start=end - 4, end=end - 1, claim_start=39, claim_end=end)
record = RagRecord(record_id="1", trace_id="1", query="Can I fail on the very first day there?",
                   retrieved=(chunk,), context=(chunk,), answer=answer, citations=(cited,))
scores = {score.rubric: score for score in runner.score_all(record)}
assert scores["citation_validity"].value == scores["answer_language"].value == 1.0, scores
print(sorted(set(sys.modules) - before))
"""


def test_the_first_record_imports_nothing() -> None:
    """It would be in work for a second, and whoever kills the core then would find it there."""
    done = run_tied([sys.executable, "-c", LOADED_LATER], seconds=PATIENCE_SECONDS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
