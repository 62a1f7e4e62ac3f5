"""The verdict of an answer in a sentence or two: what is not known is never guessed."""

from __future__ import annotations

from typing import Any

import pytest

from ragvigil.model.record import Absent, Document, Feedback, RagRecord
from ragvigil.model.score import Kind, Layer, Score, Stream
from ragvigil.web.views.verdict.answer_verdict import BY_LABEL, BY_RUBRIC, AnswerVerdict
from scorers.rubric import house_rubrics
from tests.answers import record_form

BARS = {name: rubric.fails_below or 0.0 for name, rubric in house_rubrics().items()}
FOUND = tuple(Document(chunk_id=f"c{place}", rank=place) for place in range(1, 9))
RERANKED = FOUND[:4]


def score(rubric: str, value: float | None = 0.0, label: str = "", **more: Any) -> Score:
    known = house_rubrics().get(rubric)
    more.setdefault("layer", known.layer if known else Layer.CROSS_CUTTING)
    return Score(rubric=rubric, value=value, label=label, **more)


def read_by_judge(**grades: str) -> tuple[Score, ...]:
    """The chunks as a judge graded them; `c5="3"` says that the fifth answers the question."""
    verdicts = [{"chunk_id": name, "grade": grade} for name, grade in grades.items()]
    answers = any(grade in "23" for grade in grades.values())
    return (
        score("context_relevance", 0.4, kind=Kind.JUDGE, details={"verdicts": verdicts}),
        score("answerable", float(answers), kind=Kind.JUDGE),
    )


def verdict(*scores: Score, **more: Any) -> AnswerVerdict:
    chunks = {"retrieved": FOUND, "reranked": RERANKED, "context": RERANKED}
    record = RagRecord(record_id="1", trace_id="1", answer="It is so.", **{**chunks, **more})
    return record_form(record, scores, BARS).verdict


INVENTED = score("citation_validity", 0.5, "quote_not_found")
UNGROUNDED = score("groundedness", 0.2, "unsupported", kind=Kind.JUDGE)
ORDERS = ("override", "override,outside_prompt")
GOLDEN = "context_recall"
POOR = score(
    "context_relevance",
    0.1,
    kind=Kind.JUDGE,
    details={"verdicts": [{"chunk_id": "c1", "grade": "3"}, {"chunk_id": "c2", "grade": "0"}]},
)
"""One chunk of the prompt answers, and the others do not help."""


@pytest.mark.parametrize(
    ("scores", "sentences", "point", "layer"),
    [
        (
            (INVENTED, *read_by_judge(c1="3")),
            "The right chunk was in the prompt. The answer quoted a sentence that does not exist.",
            "citation",
            "generation",
        ),
        (
            (INVENTED,),
            "The answer quoted a sentence that does not exist.",
            "citation",
            "generation",
        ),
        (
            (UNGROUNDED, *read_by_judge(c5="3", c1="1")),
            "The reranker dropped the chunk that answers it. "
            "The answer states what no chunk of the prompt says.",
            "reranker",
            "retrieval",
        ),
        (
            (UNGROUNDED, *read_by_judge(c5="3", c1="2")),
            "The reranker dropped the chunk that answers it. "
            "The answer states what no chunk of the prompt says.",
            "reranker",
            "retrieval",
        ),
        (
            (UNGROUNDED, *read_by_judge(c5="3", c2="3")),
            "The right chunk was in the prompt. "
            "The answer states what no chunk of the prompt says.",
            "generation",
            "generation",
        ),
        (
            (UNGROUNDED, *read_by_judge(c1="1", c2="0")),
            "The retriever found nothing that answers it. "
            "The answer states what no chunk of the prompt says.",
            "retrieval",
            "retrieval",
        ),
        (
            (score(GOLDEN, 0.0, "missed", details={"missing": ["c9"], "found": []}),),
            "The retriever missed the chunk that answers it.",
            "retrieval",
            "retrieval",
        ),
        (
            (
                score(GOLDEN, 1.0, details={"missing": [], "found": ["c6"]}),
                score("completeness", 0.0, kind=Kind.JUDGE),
            ),
            "The reranker dropped the chunk that answers it. "
            "The answer leaves out facts that the question asks for.",
            "reranker",
            "retrieval",
        ),
        (
            (score("completeness", 0.0, kind=Kind.JUDGE),),
            "The answer leaves out facts that the question asks for.",
            "undetermined",
            "",
        ),
        (
            (score("completeness", 0.0, kind=Kind.JUDGE), *read_by_judge(c1="3")),
            "The right chunk was in the prompt. "
            "The answer leaves out facts that the question asks for.",
            "generation",
            "generation",
        ),
        (
            (score("refusal_rightness", 0.0, "refused_wrongly", kind=Kind.JUDGE),),
            "The answer refused, although the chunks hold an answer.",
            "generation",
            "generation",
        ),
        (
            (score("factual_accuracy", 0.0, "refuted", kind=Kind.JUDGE),),
            "A reference refutes the answer.",
            "undetermined",
            "cross_cutting",
        ),
        (
            (
                score("factual_accuracy", 0.0, "refuted", kind=Kind.JUDGE),
                score("groundedness", 1.0, kind=Kind.JUDGE),
            ),
            "A reference refutes the answer.",
            "corpus",
            "corpus",
        ),
        (
            (score("injected_context", 0.5, "override"),),
            "A chunk carries instructions to the model.",
            "corpus",
            "corpus",
        ),
        (
            (score("rerank_gain", 0.2, kind=Kind.JUDGE),),
            "The reranker ranked the chunks worse than the retriever had.",
            "reranker",
            "retrieval",
        ),
        (
            (score("retrieval_shape", 0.0, "collapsed_scores"),),
            "The retriever gave every chunk the same score.",
            "retrieval",
            "retrieval",
        ),
        (
            (score("context_relevance", 0.1, kind=Kind.JUDGE), *read_by_judge(c1="3")[1:]),
            "Most chunks that were found do not help with the question.",
            "retrieval",
            "retrieval",
        ),
        (
            (UNGROUNDED, POOR),
            "The right chunk was in the prompt. "
            "The answer states what no chunk of the prompt says.",
            "generation",
            "generation",
        ),
        (
            (score("chunk_attribution", 0.0, "no_support", kind=Kind.JUDGE), POOR),
            "The right chunk was in the prompt. "
            "A cited chunk does not say what the answer cites it for.",
            "citation",
            "generation",
        ),
        ((score("own_check", 0.0),), "The check own check fails.", "undetermined", "cross_cutting"),
    ],
)
def test_what_failed_and_where(
    scores: tuple[Score, ...], sentences: str, point: str, layer: str
) -> None:
    said = verdict(*scores)
    assert " ".join(said.sentences) == sentences
    assert (said.state, said.failure_point, said.layer) == ("fails", point, layer)


@pytest.mark.parametrize(
    ("scores", "way"),
    [
        ((UNGROUNDED, *read_by_judge(c1="1", c2="0")), "not retrieved"),
        ((INVENTED, *read_by_judge(c6="3")), "lost by the reranker"),
        ((UNGROUNDED, *read_by_judge(c5="3", c2="3")), "in the context and not used"),
        (
            (score("groundedness", 0.2, "contradicted", kind=Kind.JUDGE), *read_by_judge(c2="3")),
            "contradicted",
        ),
        (
            (score("refusal_rightness", 0.0, "refused_wrongly", kind=Kind.JUDGE),),
            "refused wrongly",
        ),
        ((INVENTED, *read_by_judge(c1="3")), "citation wrong"),
        ((score("answer_complete_text", 0.0, "truncated"),), "broke off"),
        ((UNGROUNDED,), "unknown"),
        ((score("rerank_gain", 0.2, kind=Kind.JUDGE),), "unknown"),
        ((score("citation_validity", 1.0),), ""),
    ],
)
def test_how_it_failed_is_said_as_far_as_the_fields_tell(
    scores: tuple[Score, ...], way: str
) -> None:
    assert verdict(*scores).failure_way == way


def test_a_chunk_that_the_reranker_kept_and_the_prompt_lacks_was_cut() -> None:
    said = verdict(INVENTED, *read_by_judge(c3="3"), context=RERANKED[:2])
    assert said.failure_way == "cut from the context"


def test_a_way_is_not_guessed_where_the_context_is_not_sent() -> None:
    absent = {"context": Absent.NOT_SENT}
    said = verdict(UNGROUNDED, *read_by_judge(c5="3"), context=(), absent=absent)
    assert said.failure_way == "unknown"


@pytest.mark.parametrize(
    ("scores", "support"),
    [
        (
            (INVENTED, *read_by_judge(c1="3")),
            "Retrieval and reranking did their part: the chunk that answers it came first.",
        ),
        ((POOR,), "The chunk that answers it came first in the prompt all the same."),
        (
            (INVENTED, *read_by_judge(c5="3")),
            "c5 came fifth of 8, and is not among the 4 chunks of the prompt.",
        ),
        (
            (INVENTED,),
            "Whether a chunk answers the question is not known: "
            "no golden case asks it, and no judge has read the chunks.",
        ),
        (
            (UNGROUNDED, *read_by_judge(c1="0")),
            "A judge has read the chunks, and none holds an answer. One more check fails.",
        ),
        (
            (score(GOLDEN, 0.0, "missed", details={"missing": ["c9"], "found": []}),),
            "The golden case names c9.",
        ),
    ],
)
def test_what_else_is_known(scores: tuple[Score, ...], support: str) -> None:
    assert verdict(*scores).support == support


def test_an_answer_that_passes_says_what_could_not_be_seen() -> None:
    said = verdict(score("citation_validity", 1.0), score("groundedness", None, absent="context"))
    assert (said.state, said.sentences) == ("passes", ("Every check that applies passes.",))
    assert said.support == "One check could not see what it needs."


def test_a_local_model_doubts_and_fails_nothing() -> None:
    doubt = score(
        "groundedness", 0.1, "unsupported", kind=Kind.MODEL, explanation="1 of 2 unsupported"
    )
    said = verdict(score("citation_validity", 1.0), doubt)
    assert (said.state, said.support) == ("passes", "A local model doubts it: 1 of 2 unsupported.")


def test_scores_that_test_a_judge_say_nothing_of_the_answer() -> None:
    canary = score("groundedness", 0.0, kind=Kind.JUDGE, stream=Stream.CANARY)
    assert verdict(score("citation_validity", 1.0), canary).state == "passes"


def test_a_refusal_and_a_dislike_are_said() -> None:
    refusal = score("refusal", None, "refused")
    disliked = (Feedback(kind="thumbs", value=0.0),)
    said = verdict(refusal, score("retrieval_shape", 1.0), feedback=disliked)
    assert said.sentences == (
        "The answer refuses.", "Every check that applies passes.", "The user disliked it.",
    )  # fmt: skip


def test_an_answer_that_nobody_could_check_is_unknown() -> None:
    hidden = score("groundedness", None, absent="answer", explanation="answer is absent: hidden")
    said = verdict(hidden)
    assert (said.state, said.failure_point) == ("unknown", "")
    assert said.sentences == ("Nothing of this answer could be checked.",)
    assert said.support == "Answer is absent: hidden."
    assert verdict().support == "It has no scores yet."


@pytest.mark.parametrize(
    ("absent", "sentence", "point"),
    [
        ({"retrieved": Absent.ERRORED}, "The retriever failed.", "retrieval"),
        ({"answer": Absent.ERRORED}, "The model failed, so there is no answer.", "generation"),
        ({}, "The request ended in an error.", "undetermined"),
    ],
)
def test_a_failed_request_says_which_step_failed(
    absent: dict[str, Absent], sentence: str, point: str
) -> None:
    said = verdict(error="Timeout:\n  at line 3", absent=absent)
    assert (said.sentences, said.failure_point, said.support) == ((sentence,), point, "Timeout:")


def test_what_the_retriever_did_is_not_judged_where_the_chunks_are_hidden() -> None:
    hidden = {"retrieved": Absent.HIDDEN, "context": Absent.HIDDEN}
    said = verdict(UNGROUNDED, retrieved=(), reranked=(), context=(), absent=hidden)
    assert said.sentences == ("The answer states what no chunk of the prompt says.",)
    assert said.support.endswith("the spans do not show the chunks.")


def test_every_rubric_that_can_fail_has_a_sentence_and_every_label_is_one() -> None:
    rubrics = house_rubrics()
    assert {name for name, rubric in rubrics.items() if rubric.fails_below} == set(BY_RUBRIC)
    assert set(BY_LABEL) <= {label for rubric in rubrics.values() for label in rubric.labels}


def test_an_order_that_did_not_reach_the_prompt_fails_no_answer() -> None:
    shown, outside = (score("injected_context", 0.0, label) for label in ORDERS)
    assert verdict(shown).state == "fails"
    assert verdict(outside).state != "fails"
