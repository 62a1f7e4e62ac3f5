"""What became of the chunks of an answer, and what the answer used of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragvigil.model.record import Absent, Citation, Document, RagRecord
from ragvigil.model.score import Kind, Score, Stream
from ragvigil.web.views.answers.chunks import (
    NOT_SENT,
    chunk_cards,
    chunks_heading,
    passages,
)
from ragvigil.web.views.answers.ranking import MOST_ROWS, chunk_flow
from ragvigil.web.views.records import RecordForm
from scorers.chunk_utilization import ChunkUtilization
from tests.answers import record_form

CARD = "Card refunds take 5 to 7 business days to appear."
PAYPAL = "PayPal refunds appear on the same day."
SHOPS = "The shops open at nine."


def chunks(number: int) -> tuple[Document, ...]:
    return tuple(Document(chunk_id=f"c{place}", rank=place) for place in range(number))


def used(*ids: str, value: float | None = 0.5) -> Score:
    rows = [{"chunk_id": name, "sentences": [0]} for name in ids]
    return Score(rubric="chunk_utilization", value=value, details={"used": rows})


def form(*scores: Score, **more: Any) -> RecordForm:
    return record_form(RagRecord(record_id="1", trace_id="1", **more), scores)


@pytest.mark.parametrize(
    ("scores", "more", "heading"),
    [
        (
            [used("c0")],
            {"retrieved": chunks(8), "context": chunks(4)},
            "8 chunks found, 4 reached the prompt, 1 was used",
        ),
        (
            [used()],
            {"retrieved": chunks(1), "context": chunks(1)},
            "1 chunk found, 1 reached the prompt, none was used",
        ),
        (
            [used(value=None)],
            {"retrieved": chunks(8), "context": chunks(4)},
            "8 chunks found, 4 reached the prompt",
        ),
        ([], {}, "No chunk was found, none reached the prompt"),
        (
            [],
            {"absent": {"retrieved": Absent.HIDDEN, "context": Absent.HIDDEN}},
            "What was found, and what reached the prompt, is not known",
        ),
        (
            [used("c0", "c1")],
            {"context": chunks(3), "absent": {"retrieved": Absent.NOT_SENT}},
            "3 chunks reached the prompt, 2 were used",
        ),
        (
            [],
            {"retrieved": chunks(3), "absent": {"context": Absent.HIDDEN}},
            "3 chunks found; which of them reached the prompt is not known",
        ),
    ],
)
def test_the_heading_counts_what_is_known(
    scores: list[Score], more: dict[str, Any], heading: str
) -> None:
    assert chunks_heading(form(*scores, **more)) == heading


def _judged(chunk_id: str, quote: str) -> Score:
    verdicts = [{"chunk_id": chunk_id, "grade": "3", "quote": quote}]
    return Score(
        rubric="context_relevance", value=0.9, kind=Kind.JUDGE, details={"verdicts": verdicts}
    )


def test_used_sentences_are_marked_and_a_missed_one_is_named() -> None:
    context = (
        Document(chunk_id="a", content=f"{SHOPS} {CARD} {PAYPAL}", metadata={"title": "Money"}),
        Document(chunk_id="b", content=SHOPS),
        Document(chunk_id="c"),
    )
    record = RagRecord(record_id="1", trace_id="1", answer=CARD, context=context, retrieved=context)
    used_score = ChunkUtilization().score(record)
    first, second, third = chunk_cards(record_form(record, [used_score, _judged("a", PAYPAL)]))
    assert [(part.text, part.mark) for part in first.head] == [
        (f"{SHOPS} ", ""), (CARD, "used"), (" ", ""), (PAYPAL, "missed"),
    ]  # fmt: skip
    assert (first.is_used, first.says, first.title) == (True, "1 sentence", "Money")
    assert first.note == "This answers the question. The answer left it out."
    assert (second.is_used, second.says, second.note) == (False, "not used", "")
    assert (third.missing, third.head) == (NOT_SENT, ())


@pytest.mark.parametrize(
    ("answer", "details", "marks"),
    [
        ("Soon.", {"used": []}, ["", "missed"]),
        ("Soon.", {"used": [{"chunk_id": "a", "places": [[0, 23]]}]}, ["used", "", "missed"]),
        (f"So it is: {PAYPAL.upper()}", {"used": []}, [""]),
        ("Soon.", {"used": [{"chunk_id": "a", "sentences": [0]}]}, [""]),
        ("Soon.", {}, [""]),
    ],
)
def test_a_sentence_is_missed_only_where_it_is_known_to_be(
    answer: str, details: dict[str, Any], marks: list[str]
) -> None:
    score = Score(rubric="chunk_utilization", value=0.0, details=details)
    chunk = Document(chunk_id="a", content=f"{SHOPS} {PAYPAL}")
    (card,) = chunk_cards(form(score, _judged("a", PAYPAL), answer=answer, context=(chunk,)))
    assert [part.mark for part in card.head] == marks


def test_without_places_the_quotes_of_the_answer_are_marked() -> None:
    chunk = Document(chunk_id="a", content=f"{SHOPS} {PAYPAL}")
    cites = Citation(target="a", chunk_id="a", quote=PAYPAL)
    (card,) = chunk_cards(form(used("a"), context=(chunk,), citations=(cites,)))
    assert [(part.text, part.mark) for part in card.head] == [(f"{SHOPS} ", ""), (PAYPAL, "used")]


def test_whether_a_chunk_was_used_is_not_guessed() -> None:
    (card,) = chunk_cards(form(context=(Document(chunk_id="a", content=CARD),)))
    assert (card.is_used, card.says) == (None, "whether it was used is not known")


marks = st.lists(
    st.tuples(st.tuples(st.integers(-3, 40), st.integers(-3, 40)), st.sampled_from(["used"]))
)


@given(st.text(max_size=30), marks)
def test_passages_keep_all_text(text: str, where: list[Any]) -> None:
    assert "".join(part.text for part in passages(text, where)) == text


@given(st.integers(0, 30_000), st.integers(0, 30_000), st.integers(0, 500))
def test_a_long_chunk_is_folded_and_not_lost(before: int, after: int, long: int) -> None:
    text = "a" * before + "b" * long + "c" * after
    places = [[before, before + long]]
    score = Score(
        rubric="chunk_utilization",
        value=1.0,
        details={"used": [{"chunk_id": "a", "places": places}]},
    )
    (card,) = chunk_cards(form(score, context=(Document(chunk_id="a", content=text),)))
    shown = "".join(part.text for part in (*card.head, *card.rest))
    assert shown == text[:20_000]
    assert bool(card.rest) == (len(shown) > 2400)


def test_the_flow_says_where_each_chunk_went() -> None:
    found = tuple(Document(chunk_id=f"c{place}", score=0.9 - place / 10) for place in range(4))
    record = form(retrieved=found, reranked=(found[2], found[0]), context=(found[2],))
    flow = chunk_flow(record)
    assert flow is not None
    assert [(row.id, row.moved) for row in flow.left] == [
        ("c0", "to rank 2"), ("c1", "dropped"), ("c2", "to rank 1"), ("c3", "dropped"),
    ]  # fmt: skip
    assert [(row.id, row.moved) for row in flow.right] == [
        ("c2", "up 2"), ("c0", "down 1, not in the prompt"),
    ]  # fmt: skip
    assert flow.note == "Which chunk answers the question is not known."
    assert flow.left[0].meter == 40


def test_the_nearest_chunk_is_not_called_the_answer() -> None:
    near = Score(
        rubric="context_relevance",
        value=0.2,
        kind=Kind.MODEL,
        stream=Stream.PROXY,
        details={"chunks": [{"chunk_id": "c1", "relevance": 0.6}]},
    )
    flow = chunk_flow(form(near, retrieved=chunks(2), context=chunks(2)))
    assert flow is not None
    assert flow.note == (
        "Blue: the chunk nearest to the question by meaning, 0.60. Whether it answers is not known."
    )
    assert [row.is_answering for row in flow.left] == [False, True]


def test_two_hundred_chunks_are_drawn_in_part_and_counted() -> None:
    found = chunks(200)
    flow = chunk_flow(form(retrieved=found, context=found[150:155]))
    assert flow is not None
    assert len(flow.left) == MOST_ROWS
    assert [row.rank for row in flow.left[-5:]] == [151, 152, 153, 154, 155]
    assert (flow.more_left, flow.more_right) == ("180 more chunks not drawn", "")
    assert flow.right[0].moved == "up 150"
    assert len(flow.drawn.curves) == 5
