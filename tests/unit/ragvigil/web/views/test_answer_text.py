"""The answer in pieces: nothing of it is lost or doubled, and each citation says what it is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragvigil.model.record import Citation, Document, RagRecord
from ragvigil.web.views.answer_text import Chip, Text, answer_text, shortened
from ragvigil.web.views.citations import Reason
from ragvigil.web.views.records import RecordForm
from scorers.citation_validity import CitationValidity
from tests.answers import record_form

CARD = "Card refunds usually appear after two to four banking days, depending on your bank."
INVENTED = "Our founders guarantee this in writing for the next 9 orders"
ANSWER = f"Our rules are clear: “{INVENTED}” [refund-02#1]. {CARD[:-1]} [refund-02#1]."
FIRST_END = ANSWER.index(". Card") + 1


def _citation(start: int, claim: tuple[int, int], quote: str | None = None) -> Citation:
    return Citation(
        target="refund-02#1",
        chunk_id="refund-02#1",
        marker="[refund-02#1]",
        start=start,
        end=start + len("[refund-02#1]"),
        claim_start=claim[0],
        claim_end=claim[1],
        quote=quote,
    )


def _record() -> RagRecord:
    first = ANSWER.index("[refund")
    return RagRecord(
        record_id="1" * 16,
        trace_id="1" * 32,
        query="How long does a refund take?",
        answer=ANSWER,
        context=(Document(chunk_id="refund-02#1", content=f"We refund in Arnhem. {CARD}"),),
        citations=(
            _citation(first, (0, FIRST_END), INVENTED),
            _citation(ANSWER.index("[refund", first + 1), (FIRST_END + 1, len(ANSWER))),
        ),
    )


def test_an_invented_quote_is_struck_out_with_the_reason_and_the_other_citation_stands() -> None:
    record = _record()
    text = answer_text(record_form(record, [CitationValidity().score(record)]))
    kinds = [(piece.kind, getattr(piece, "is_struck", None)) for piece in text.pieces]
    assert kinds == [
        ("text", True), ("chip", None), ("text", True), ("reason", None),
        ("text", False), ("chip", None), ("text", False),
    ]  # fmt: skip
    fails, stands = (piece for piece in text.pieces if isinstance(piece, Chip))
    assert (fails.state, fails.anchor, fails.says) == ("fails", "chunk-1", "fails: quote not found")
    assert (stands.state, stands.label, stands.says) == ("stands", "refund-02#1", "stands")
    (reason,) = (piece for piece in text.pieces if isinstance(piece, Reason))
    assert reason.title == "Quote not found."
    assert reason.text.startswith("These words stand in no chunk of the prompt. The nearest")
    assert text.citations == "1 of 2 citations fails."


@pytest.mark.parametrize(
    ("check", "reason"),
    [
        (
            {"checked": "quote", "label": "quote_not_found", "similarity": 0.18},
            "Quote not found. These words stand in no chunk of the prompt. "
            "The nearest passage of a shares 18 % of the words.",
        ),
        (
            {"checked": "quote", "label": "quote_not_found", "similarity": 0.0},
            "Quote not found. These words stand in no chunk of the prompt. "
            "Nothing in a comes near.",
        ),
        (
            {"checked": "sentence", "label": "quote_not_found", "similarity": 0.9},
            "Sentence altered. It copies a sentence of a and changes words of it. "
            "The nearest passage of a shares 90 % of the words.",
        ),
        (
            {"checked": "quote", "label": "quote_in_other_chunk", "other": "b {chunk}"},
            "Wrong chunk. These words stand in b {chunk}, not in a.",
        ),
        (
            {"checked": "quote", "label": "altered_by_omission", "omitted": "not"},
            "Quote leaves words out. "
            "The passage of a says something else with the words left out: “not”.",
        ),
        (
            {"checked": "quote", "label": "stitched"},
            "Quote is put together. "
            "Its parts stand in several places, and nowhere as one sentence.",
        ),
        (
            {"checked": "marker_only", "label": "unknown_chunk"},
            "No such chunk. a is no chunk of this answer.",
        ),
        (
            {"checked": "marker_only", "label": "marker_out_of_range"},
            "No such chunk. a points beyond the 1 chunk of the prompt.",
        ),
        (
            {"checked": "marker_only", "label": "not_in_context"},
            "Not in the prompt. a was found, and did not reach the prompt.",
        ),
        (
            {"checked": "sentence", "label": "marker_mismatch", "other": "b"},
            "Wrong chunk. b supports this sentence, and a does not.",
        ),
        ({"checked": "x", "label": "own_label"}, "Own label. a does not support it."),
    ],
)
def test_each_label_has_its_sentence(check: dict[str, Any], reason: str) -> None:
    text = answer_text(_form("It is so [a].", [_cites(6, 9)], [{"target": "a", **check}]))
    (said,) = (piece for piece in text.pieces if isinstance(piece, Reason))
    assert f"{said.title} {said.text}" == reason


def test_a_claim_with_other_support_keeps_its_words() -> None:
    cites = [_cites(6, 9, claim=(0, 14)), _cites(10, 13, claim=(0, 14))]
    checks = [{"target": "a", "label": ""}, {"target": "a", "label": "unknown_chunk"}]
    text = answer_text(_form("It is [a] [a].", cites, checks))
    assert not any(piece.is_struck for piece in text.pieces if isinstance(piece, Text))
    assert isinstance(text.pieces[-1], Reason)


@pytest.mark.parametrize(
    ("checks", "value", "says"),
    [
        ([{"target": "b", "label": "unknown_chunk"}], 0.0, "not checked"),
        ([], 0.0, "not checked"),
        ("nonsense", 0.0, "not checked"),
        ([{"target": "a", "label": "unknown_chunk"}], None, "not checked: context is unknown"),
        (
            [{"target": "a", "checked": "nothing", "label": ""}],
            1.0,
            "not checked: the text of its chunk is unknown, or there was too much to compare",
        ),
    ],
)
def test_what_was_not_checked_neither_stands_nor_fails(
    checks: Any, value: float | None, says: str
) -> None:
    text = answer_text(_form("It is [a].", [_cites(6, 9)], checks, value))
    (chip,) = (piece for piece in text.pieces if isinstance(piece, Chip))
    assert (chip.state, chip.says) == ("unknown", says)
    assert text.citations == "Its citations were not checked."


def test_of_very_many_citations_the_failures_are_known_by_their_places() -> None:
    cites = [_cites(6, 9) for _ in range(3)]
    text = answer_text(_form("It is [a].", cites, [{"target": "a", "label": "x", "place": 2}]))
    assert text.counts == {"stands": 0, "fails": 1, "unknown": 2}


@pytest.mark.parametrize(
    ("answer", "absent", "says"),
    [
        (None, "hidden", "The text of the answer is hidden: the instrumentation left it out."),
        (None, "errored", "There is no answer: the step that writes it failed."),
        (None, "", "No span carries the answer."),
        ("", "", "The answer is empty."),
    ],
)
def test_an_answer_without_text_says_why(answer: str | None, absent: str, says: str) -> None:
    record = RagRecord(record_id="1", trace_id="1", answer=answer)
    form = record_form(record).model_copy(update={"absent": {"answer": absent} if absent else {}})
    text = answer_text(form)
    assert (text.missing, text.citations) == (says, "It cites nothing.")
    assert not any(piece.kind == "text" for piece in text.pieces)


offsets = st.one_of(st.none(), st.integers(-3, 60))
citations = st.builds(
    Citation,
    target=st.sampled_from(["a", "b", ""]),
    chunk_id=st.sampled_from(["a", None]),
    marker=st.sampled_from(["", "[a]", "x"]),
    quote=st.sampled_from([None, "", "x", "xy"]),
    start=offsets,
    end=offsets,
    claim_start=offsets,
    claim_end=offsets,
)
labels = st.sampled_from(["", "quote_not_found", "unknown_chunk", "odd {chunk}"])


@settings(max_examples=500)
@given(st.text("xy[a]. \n", max_size=50), st.lists(citations, max_size=8), st.data())
def test_all_text_is_kept_whatever_the_offsets(
    answer: str, cites: list[Citation], data: st.DataObject
) -> None:
    checks = [{"target": cite.target, "label": data.draw(labels)} for cite in cites]
    text = answer_text(_form(answer, cites, checks))
    written = [piece.text for piece in text.pieces if not isinstance(piece, Reason)]
    assert "".join(written) == answer
    fails = any(row["label"] for row in checks)
    assert fails == any(isinstance(piece, Reason) for piece in text.pieces)
    assert fails == any(isinstance(piece, Chip) and piece.state == "fails" for piece in text.pieces)


@given(st.text("xy[a]. \n", max_size=50), st.lists(citations, max_size=4), st.integers(1, 60))
def test_the_short_form_is_a_beginning(answer: str, cites: list[Citation], most: int) -> None:
    checks = [{"target": cite.target, "label": "unknown_chunk"} for cite in cites]
    short = shortened(answer_text(_form(answer, cites, checks)), most)
    said = "".join(piece.text for piece in short.pieces if not isinstance(piece, Reason))
    assert answer.startswith(said.removesuffix("…"))
    assert len(said) <= most + len("[a]") + 1


def _cites(start: int, end: int, claim: tuple[int, int] | None = None) -> Citation:
    claim_start, claim_end = claim or (None, None)
    return Citation(
        target="a", chunk_id="a", marker="[a]", start=start, end=end,
        claim_start=claim_start, claim_end=claim_end,
    )  # fmt: skip


def _form(answer: str, cites: list[Citation], checks: Any, value: float | None = 0.0) -> RecordForm:
    from ragvigil.model.score import Score

    record = RagRecord(
        record_id="1",
        trace_id="1",
        answer=answer,
        context=(Document(chunk_id="a", content="some text"),),
        citations=tuple(cites),
    )
    score = Score(
        rubric="citation_validity",
        value=value,
        explanation="context is unknown",
        details={"citations": checks},
    )
    return record_form(record, [score])
