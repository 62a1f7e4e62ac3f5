"""The promises of every rubric file, above all of judged ones."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score
from scorers.judge.question import Question, ask_about
from scorers.judge.suspicion import LABEL
from scorers.judge.verdicts import Incomplete, derived_from, read_scores
from scorers.judge_table import About, JudgeTable
from scorers.rubric import FIELDS, Rubric, house_rubrics, parse_rubric
from tests.judged_records import GOOD, INJECTED, REFERENCE

PROMPTS = Path(__file__).parent.parent / "golden" / "prompts"
DELIMITER = "d1b5a9c7e3f20846"
EVERY = house_rubrics()
JUDGED = {name: rubric for name, rubric in EVERY.items() if rubric.judge}
DERIVED = {name: rubric for name, rubric in EVERY.items() if rubric.derived_from}
EXPECTED = (
    "answer_relevance answerable chunk_attribution completeness context_adherence"
    " context_precision context_relevance factual_accuracy groundedness grounding"
    " injection_resisted prompt_relevance refusal_rightness rerank_gain"
)


def table_of(rubric: Rubric) -> JudgeTable:
    assert rubric.judge is not None
    return rubric.judge


def questions_about(name: str, record: RagRecord | None = None) -> tuple[Question, ...]:
    shown = record or (INJECTED if name == "injection_resisted" else GOOD)
    questions = ask_about(
        shown, JUDGED[name], delimiter=DELIMITER, most_characters=50_000, reference=REFERENCE
    )
    assert not isinstance(questions, Score), questions
    return questions


def test_every_judged_rubric_of_the_design_is_there() -> None:
    assert " ".join(sorted(JUDGED | DERIVED)) == EXPECTED


@pytest.mark.parametrize("name", sorted(EVERY))
def test_a_file_parses_and_names_the_source_of_its_method(name: str) -> None:
    text = files("scorers").joinpath("rubrics", f"{name}.toml").read_text("utf-8")
    rubric = parse_rubric(text, f"{name}.toml")
    assert rubric.name == name
    assert set(rubric.needs) <= FIELDS
    if rubric.judge or rubric.derived_from:
        assert text.startswith("# Method: ")
        assert LABEL in rubric.labels
        assert rubric.fails_below is not None


@pytest.mark.parametrize("name", sorted(DERIVED))
def test_a_derived_rubric_reads_grades_that_exist(name: str) -> None:
    source = JUDGED[DERIVED[name].derived_from]
    assert table_of(source).about is About.CHUNKS
    assert table_of(source).grade(DERIVED[name].relevant_from).value
    assert set(source.needs) <= set(DERIVED[name].needs)
    assert DERIVED[name] in derived_from(source.name, EVERY)


@pytest.mark.parametrize("name", sorted(JUDGED))
def test_labels_of_grades_are_labels_of_the_rubric(name: str) -> None:
    table = table_of(JUDGED[name])
    assert {grade.name for grade in table.grades if grade.label} <= set(JUDGED[name].labels)
    assert len(table.failure_types) >= 3
    values = [grade.value for grade in table.grades if grade.value is not None]
    assert (max(values), min(values)) == (1.0, 0.0)


@pytest.mark.parametrize("name", sorted(JUDGED))
def test_the_prompt_is_that_of_the_snapshot(name: str) -> None:
    """To renew a snapshot, raise the rubric's version, delete the file and run this test."""
    is_as_written(name, questions_about(name)[0].prompt)


def test_without_expected_facts_the_model_finds_the_nuggets_in_the_passages() -> None:
    questions = ask_about(GOOD, JUDGED["completeness"], delimiter=DELIMITER, most_characters=50_000)
    assert not isinstance(questions, Score)
    is_as_written("completeness_without_facts", questions[0].prompt)


def is_as_written(name: str, prompt: str) -> None:
    path = PROMPTS / f"{name}.txt"
    if not path.exists():
        path.write_text(prompt, encoding="utf-8")
    assert prompt == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(JUDGED))
def test_the_instruction_follows_the_data_and_no_score_is_asked_for(name: str) -> None:
    prompt = questions_about(name)[0].prompt
    data, _, task = prompt.rpartition(f"\n{DELIMITER} end of the data\n")
    assert table_of(JUDGED[name]).instruction.split()[0] in task.split("Task. ")[1].split()[0]
    assert "card refunds" in data.casefold()
    assert "card refunds" not in task.casefold()
    assert "score" not in task.casefold()
    assert task.index('"grade"') < task.index('"failure_type":') < task.index('"failure_mode":')


@pytest.mark.parametrize("name", sorted(JUDGED))
@pytest.mark.parametrize("best", [True, False])
def test_the_best_and_worst_grade_give_1_and_0(name: str, best: bool) -> None:
    questions = questions_about(name)
    graded = [grade for grade in table_of(JUDGED[name]).grades if grade.value is not None]
    grade = graded[0] if best else graded[-1]
    is_numeric = table_of(JUDGED[name]).is_numeric
    spelt = int(grade.name) if is_numeric else grade.name
    answers = [
        question.form.model_validate(
            {
                "verdicts": {
                    item.name: {
                        **(
                            {"quote": quote(question, item.passage)}
                            if "quote:" in question.prompt
                            else {}
                        ),
                        **({"reason": "so"} if "reason:" in question.prompt else {}),
                        "grade": spelt,
                    }
                    for item in question.items
                },
                "failure_type": "none",
                "failure_mode": "",
            }
        )
        for question in questions
    ]
    read = read_scores(questions, answers, judge="openai:m", derived=())
    assert not isinstance(read, Incomplete)
    (score,) = read
    assert score.value == float(best), score


def quote(question: Question, passage: str) -> str:
    """A true quote from where this rubric requires it."""
    texts = {passage.name: passage.text for passage in question.passages}
    if passage:
        return texts[passage]
    source = table_of(question.rubric).quote_from
    if source == "reference":
        return question.reference.answer
    return (question.record.answer or "")[:40] if source == "answer" else next(iter(texts.values()))
