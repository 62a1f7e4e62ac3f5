"""Coverage, utilization, refusal and measurements on small records."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ragvigil.model.record import Citation, Dimensions, Document, RagRecord
from scorers.chunk_utilization import ChunkUtilization
from scorers.citation_coverage import CitationCoverage
from scorers.record_shape import measure
from scorers.refusal import Refusal

REFUNDS = "Card refunds take 5 to 7 business days."
CLOSED = "The warehouse is closed on Sundays."
CHUNKS = (
    Document(chunk_id="a", document_id="d", content=REFUNDS, score=0.9),
    Document(chunk_id="b", document_id="d", content=CLOSED, score=0.4),
)


def record(answer: str, *citations: Citation, finish_reason: str = "") -> RagRecord:
    return RagRecord(
        record_id="1", trace_id="1", answer=answer, context=CHUNKS, retrieved=CHUNKS,
        citations=citations, dimensions=Dimensions(finish_reason=finish_reason),
    )  # fmt: skip


def test_greetings_and_questions_are_no_claims_to_be_cited() -> None:
    answer = "Hello! Card refunds take 5 to 7 business days [a]. Is there more that I can do?"
    cited = Citation(target="a", chunk_id="a", marker="[a]", start=46, end=49)
    assert CitationCoverage().score(record(answer, cited)).value == 1.0


def test_an_answer_without_any_citation_is_labelled() -> None:
    score = CitationCoverage().score(record("Card refunds take 5 to 7 business days."))
    assert (score.value, score.label) == (0.0, "uncited")


def test_the_denominator_of_utilization_is_the_context() -> None:
    score = ChunkUtilization().score(record("Card refunds take 5 to 7 business days."))
    assert score.value == 0.5
    assert score.details == {
        "looked": "words",
        "used": [{"chunk_id": "a", "sentences": [0], "places": [[0, 39]]}],
        "sentence_share": 0.5,
    }


def test_utilization_of_a_refused_or_cut_answer_is_not_applicable() -> None:
    refused = ChunkUtilization().score(record("I could not find that in the documents."))
    cut = ChunkUtilization().score(record("Card refunds take 5.", finish_reason="length"))
    assert (refused.value, refused.explanation) == (None, "the answer refused")
    assert (cut.value, cut.explanation) == (None, "the answer was cut")


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("I'm sorry, I cannot find this in the provided documents.", "refused"),
        ("Dazu habe ich in den Unterlagen leider keine Angaben gefunden.", "refused"),
        ("Card refunds take 5 to 7 business days.", "answered"),
        ("Click “I cannot find my order” and enter your e-mail address.", "answered"),
        ("\ud800", "answered"),
    ],
)
def test_a_refusal_is_a_label_without_a_value(answer: str, label: str) -> None:
    score = Refusal().score(record(answer))
    assert (score.value, score.label) == (None, label)


def test_measurements_know_what_is_unknown() -> None:
    shape = measure(record("Card refunds take 5 days."))
    assert shape["distinct_documents"] == 1.0
    assert shape["score_gap"] == pytest.approx(0.5)
    assert shape["seconds_total"] is None
    assert shape["cost_usd"] is None


def test_citations_that_were_not_all_read_cover_an_unknown_share() -> None:
    score = CitationCoverage().score(replace(record(REFUNDS), truncated=("citations",)))
    assert (score.value, score.absent) == (None, "citations")


def test_quotations_without_a_place_cover_the_claims_that_hold_them() -> None:
    answer = f"{REFUNDS} {CLOSED} {REFUNDS}"
    quoted = [Citation(target="a", chunk_id="a", quote=text) for text in ("5 to 7", "days. The")]
    score = CitationCoverage().score(record(answer, *quoted))
    assert score.explanation == "2 of 3 claims carry a citation"


def test_quotations_that_were_not_searched_are_said() -> None:
    answer = f"{REFUNDS} " * 50_000
    quoted = [Citation(target="a", chunk_id="a", quote=f"{number} days") for number in range(30)]
    score = CitationCoverage().score(record(answer, *quoted))
    assert score.explanation.endswith("; 27 quotations without a place were not searched")
