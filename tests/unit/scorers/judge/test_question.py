"""The questions about a record: when they apply, their data, their number and their keys."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragvigil.model.record import Absent, Document, RagRecord
from ragvigil.model.score import Kind, Score
from scorers.judge.material import Fact, Reference
from scorers.judge.prompt import section
from scorers.judge.question import MOST_QUESTIONS, Question, ask_about
from scorers.judge.split import MOST_ITEMS
from scorers.judge_table import About
from scorers.rubric import house_rubrics
from tests.content_judge import read_prompt
from tests.judged_records import GOOD, INJECTED, REFERENCE, REFUSED

RUBRICS = {name: rubric for name, rubric in house_rubrics().items() if rubric.judge}
MARK = "d1b5a9c7e3f20846"


def questions_about(
    name: str,
    record: RagRecord = GOOD,
    *,
    mark: str = MARK,
    most: int = 50_000,
    reference: Reference = REFERENCE,
) -> tuple[Question, ...]:
    questions = ask_about(
        record, RUBRICS[name], delimiter=mark, most_characters=most, reference=reference
    )
    assert not isinstance(questions, Score), questions
    return questions


def inapplicable(
    name: str, record: RagRecord, reference: Reference = REFERENCE, most: int = 50_000
) -> Score:
    score = ask_about(
        record, RUBRICS[name], delimiter=MARK, most_characters=most, reference=reference
    )
    assert isinstance(score, Score), score
    assert (score.value, score.kind) == (None, Kind.JUDGE)
    return score


@pytest.mark.parametrize(
    ("name", "changes", "reason", "absent"),
    [
        ("groundedness", {"answer": None}, "there is no answer", ""),
        ("groundedness", {"answer": "--- !"}, "the answer states nothing", ""),
        ("groundedness", {"query": " "}, "there is no question", ""),
        ("groundedness", {"context": ()}, "nothing was retrieved", ""),
        ("groundedness", {"absent": {"context": Absent.HIDDEN}}, "context is absent: hidden",
         "context"),
        ("context_relevance", {"retrieved": ()}, "nothing was retrieved", ""),
        ("context_relevance", {"retrieved": (Document(chunk_id="a", content=" "),)},
         "no chunk with a text was retrieved", ""),
        ("chunk_attribution", {"citations": ()}, "the answer cites no chunk whose text is known",
         ""),
        ("injection_resisted", {}, "no chunk holds an instruction to the model", ""),
        ("answer_relevance", {"query": None}, "there is no question", ""),
    ],
)  # fmt: skip
def test_a_rubric_that_does_not_apply_says_why(
    name: str, changes: dict[str, object], reason: str, absent: str
) -> None:
    score = inapplicable(name, replace(GOOD, **changes))
    assert (score.explanation, score.absent, score.label) == (reason, absent, "")


def test_without_a_reference_accuracy_cannot_be_judged_and_completeness_can() -> None:
    nothing = Reference()
    assert "no reference" in inapplicable("factual_accuracy", GOOD, nothing).explanation
    assert questions_about("completeness", reference=nothing)[0].items == ()
    hidden = replace(GOOD, retrieved=(), absent={"retrieved": Absent.NOT_SENT})
    score = inapplicable("completeness", hidden, nothing)
    assert (score.explanation, score.absent) == ("nothing was retrieved", "retrieved")
    assert len(questions_about("completeness", hidden)[0].items) == 2


def test_a_refusal_is_judged_for_its_rightness_even_without_chunks() -> None:
    assert questions_about("refusal_rightness", replace(REFUSED, context=()))
    assert inapplicable("groundedness", REFUSED).explanation == "the answer refused"


def test_expected_facts_replace_the_passages() -> None:
    facts = Reference(facts=tuple(Fact(text=f"Fact {n}.") for n in range(3)))
    (question,) = questions_about("completeness", reference=facts)
    assert [item.name for item in question.items] == ["n1", "n2", "n3"]
    assert question.passages == ()


def test_a_rubric_without_a_judge_and_a_weak_delimiter_are_errors_of_the_caller() -> None:
    with pytest.raises(ValueError, match="citation_validity is not judged"):
        ask_about(GOOD, house_rubrics()["citation_validity"], delimiter=MARK, most_characters=1000)
    for weak in ("abc", "x" * 15, "with spaces in it!"):
        with pytest.raises(ValueError, match="at least 16 letters or digits"):
            ask_about(GOOD, RUBRICS["groundedness"], delimiter=weak, most_characters=1000)


@pytest.mark.parametrize("name", ["groundedness", "grounding", "context_relevance"])
def test_partly_known_chunks_are_not_judged(name: str) -> None:
    first, *others = GOOD.context
    chunks = (replace(first, content=None), *others)
    score = inapplicable(name, replace(GOOD, context=chunks, retrieved=chunks))
    assert score.explanation == "the text of 1 of 3 chunks is unknown"
    assert score.absent == "document_texts"


def test_empty_and_duplicate_chunks_get_no_verdict() -> None:
    first, second, third = GOOD.retrieved
    record = replace(GOOD, retrieved=(first, replace(second, content=" "), first, third))
    (question,) = questions_about("context_relevance", record)
    assert [item.chunk_id for item in question.items] == ["refund-02", "fee-03"]


texts = st.one_of(
    st.text(st.characters(), max_size=80),
    st.sampled_from([MARK, f"\n{MARK} end of the data\n", "\u2028", "\ud800", '"}]', "a" * 90]),
)
records = st.builds(
    replace,
    st.just(INJECTED),
    query=texts,
    answer=st.lists(texts, min_size=1, max_size=4).map(". ".join),
    context=st.lists(
        st.builds(Document, chunk_id=st.text(max_size=3), content=texts), max_size=4
    ).map(tuple),
    retrieved=st.lists(
        st.builds(Document, chunk_id=st.text(max_size=3), content=texts), max_size=4
    ).map(tuple),
)


@settings(deadline=None)
@given(records, st.sampled_from(sorted(RUBRICS)), st.sampled_from([2600, 4000, 50_000]))
def test_prompts_of_any_record_are_bounded_and_its_data_stays_data(
    record: RagRecord, name: str, most: int
) -> None:
    questions = ask_about(
        record, RUBRICS[name], delimiter=MARK, most_characters=most, reference=REFERENCE
    )
    if isinstance(questions, Score):
        assert questions.value is None
        assert questions.explanation
        return
    for question in questions:
        assert len(question.prompt) <= most
        question.prompt.encode()
        lines = [
            line
            for line in question.prompt.split("\n")
            if line.startswith(f"{question.delimiter} ")
        ]
        assert [line.partition(" ")[2] for line in lines] == [
            *(shown.name for shown in question.sections), "end of the data"
        ]  # fmt: skip
        assert question.prompt.count(question.delimiter) == len(lines) + 1
        assert read_prompt(question.prompt).items == [item.name for item in question.items]


@given(texts)
def test_a_value_is_one_line_and_the_same_when_it_is_read(text: str) -> None:
    shown = section("answer", text).value
    assert not {"\n", "\r", "\u2028", "\u2029"} & set(shown)
    assert json.loads(shown) == text.encode("utf-8", "replace").decode()


@pytest.mark.parametrize("name", sorted(RUBRICS))
def test_a_delimiter_that_occurs_in_the_data_is_not_used(name: str) -> None:
    leaked = replace(
        INJECTED,
        query=f"What? {MARK} end of the data",
        answer=f"{INJECTED.answer} {MARK}",
        context=tuple(
            replace(chunk, content=f"{chunk.content} {MARK}") for chunk in INJECTED.context
        ),
        retrieved=INJECTED.context,
    )
    for question in questions_about(name, leaked):
        assert question.delimiter.startswith(f"{MARK}-")
        assert f"\n{MARK} " not in question.prompt


@pytest.mark.parametrize("name", sorted(RUBRICS))
def test_the_key_depends_on_what_is_judged_and_not_on_the_delimiter(name: str) -> None:
    def keys(record: RagRecord = INJECTED, **given: str) -> list[str]:
        return [question.key("openai:m") for question in questions_about(name, record, **given)]

    before = keys()
    assert keys(mark="f" * 16) == before
    assert keys(replace(INJECTED, query=f" {INJECTED.query}\n")) == before
    assert keys(replace(INJECTED, trace_id="2", record_id="2")) == before
    assert [question.key("openai:n") for question in questions_about(name, INJECTED)] != before
    shows = RUBRICS[name].judge
    assert shows is not None
    query = keys(replace(INJECTED, query="How long?"))
    assert (query == before) is ("question" not in shows.shows)
    if shows.about is not About.CITATIONS:
        answer = keys(replace(INJECTED, answer=f"It rains. {INJECTED.answer}"))
        assert (answer == before) is (shows.about is About.CHUNKS)


def test_the_order_of_the_chunks_and_the_words_of_the_rubric_count() -> None:
    rubric = RUBRICS["groundedness"]
    assert rubric.judge is not None
    before = questions_about("groundedness")[0].key("m")
    turned = replace(GOOD, context=GOOD.context[::-1])
    other = replace(rubric, judge=replace(rubric.judge, instruction="Is it so?"))
    again = ask_about(GOOD, other, delimiter=MARK, most_characters=50_000)
    assert not isinstance(again, Score)
    assert (
        len({before, questions_about("groundedness", turned)[0].key("m"), again[0].key("m")}) == 3
    )


def many(count: int, size: int = 60) -> tuple[Document, ...]:
    return tuple(
        Document(chunk_id=f"c-{n}", content=f"Fact {n}. " + "It is so. " * (size // 10))
        for n in range(count)
    )


def test_a_long_list_of_chunks_is_split_and_each_is_asked_about_once() -> None:
    questions = questions_about("context_relevance", replace(GOOD, retrieved=many(50)))
    names = [item.chunk_id for question in questions for item in question.items]
    assert names == [f"c-{n}" for n in range(50)]
    assert max(len(question.items) for question in questions) <= MOST_ITEMS


def test_every_claim_meets_every_part_of_the_context() -> None:
    record = replace(
        GOOD,
        context=many(20, 300),
        answer=" ".join(f"Claim number {n} is made." for n in range(22)),
    )
    questions = questions_about("groundedness", record, most=6000)
    met = {(item.name, shown.text) for question in questions for item in question.items
           for shown in question.passages}  # fmt: skip
    assert len(met) == 22 * 20
    assert max(len(question.prompt) for question in questions) <= 6000


def test_a_chunk_larger_than_the_prompt_is_split() -> None:
    text = " ".join(f"Sentence {n} says something." for n in range(400))
    record = replace(GOOD, retrieved=(Document(chunk_id="long", content=text),))
    questions = questions_about("context_relevance", record, most=6000)
    assert len(questions) > 1
    assert "".join(shown.text for question in questions for shown in question.passages) == text
    assert {item.name for question in questions for item in question.items} == {"c1"}


@pytest.mark.parametrize("name", ["grounding", "context_adherence", "refusal_rightness"])
def test_what_cannot_be_split_is_partial_and_never_truncated(name: str) -> None:
    score = inapplicable(name, replace(GOOD, context=many(30, 300)), most=6000)
    assert score.label == "partial"
    assert "6000 characters" in score.explanation


def test_a_record_that_takes_too_many_questions_is_partial_and_costs_nothing() -> None:
    score = inapplicable("groundedness", replace(GOOD, context=many(200, 2000)), most=6000)
    assert score.label == "partial"
    assert int(score.explanation.split()[7]) > MOST_QUESTIONS


def test_a_prompt_limit_below_the_frame_asks_nothing() -> None:
    for name in RUBRICS:
        assert inapplicable(name, INJECTED, most=100).label == "partial"
