"""Every way in which answers cite, and what is no citation."""

from __future__ import annotations

import json

import pytest

from collector.claims.documents import build, draft
from collector.record.citations import CitationSource, citations
from ragvigil.model.record import Citation, Document

CHUNKS = (
    Document(chunk_id="refund-01", content="Customers can request a full refund within 30 days.",
             document_id="handbook.pdf", metadata={"title": "Refund window"}),
    Document(chunk_id="ship-02", content="Standard shipping costs 3.90 EUR per order.",
             metadata={"source": "docs/shipping.md"}),
    Document(chunk_id="acct-03", content="An account is locked after 6 failed attempts.",
             metadata={"url": "https://help.example/locked"}),
)  # fmt: skip


def cited(answer: str, **more: object) -> list[str | None]:
    return [citation.chunk_id for citation in all_of(answer, **more)]


def all_of(answer: str, **more: object) -> tuple[Citation, ...]:
    given = {"context": CHUNKS, **more}
    return citations(CitationSource(answer=answer, **given))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("Within 30 days [1].", ["refund-01"]),
        ("Within 30 days [1, 2].", ["refund-01", "ship-02"]),
        ("Within 30 days [1][3].", ["refund-01", "acct-03"]),
        ("Within 30 days [1-3].", ["refund-01", "ship-02", "acct-03"]),
        ("Within 30 days [1–2].", ["refund-01", "ship-02"]),
        ("Within 30 days.[^2]", ["ship-02"]),
        ("Within 30 days.²", ["ship-02"]),
        ("Within 30 days¹ and 3.90 EUR.²", ["refund-01", "ship-02"]),
        ("Within 30 days (1).", ["refund-01"]),
        ("Within 30 days [refund-01].", ["refund-01"]),
        ("Within 30 days [refund-01, ship-02].", ["refund-01", "ship-02"]),
        ("Within 30 days [Refund-01].", ["refund-01"]),
        ("Within 30 days [[refund-01]].", ["refund-01"]),
        ("Within 30 days (refund-01).", ["refund-01"]),
        ("Within 30 days [Source: Refund window].", ["refund-01"]),
        ("Within 30 days (source: handbook.pdf).", ["refund-01"]),
        ("It costs 3.90 EUR [Source: shipping.md].", ["ship-02"]),
        ("Locked [https://help.example/locked].", ["acct-03"]),
        ("Within 30 days [doc1].", ["refund-01"]),
        ("Within 30 days [Document 2].", ["ship-02"]),
        ("Within 30 days [Source 3].", ["acct-03"]),
        ("Within 30 days [Quelle: refund-01].", ["refund-01"]),
        ("Within 30 days【2】.", ["ship-02"]),
        ("Within 30 days【1†handbook.pdf】.", ["refund-01"]),
        ('<cite id="ship-02">It costs 3.90 EUR.</cite>', ["ship-02"]),
        ('It costs 3.90 EUR. <source id="2"/>', ["ship-02"]),
        ("<co: 0,2>Within 30 days</co: 0,2>.", ["refund-01", "acct-03"]),
        ("退款在30天内。[1]", ["refund-01"]),
        ("الاسترداد خلال 30 يومًا [refund-01].", ["refund-01"]),
    ],
)
def test_a_marker_names_its_chunk(answer: str, expected: list[str]) -> None:
    assert cited(answer) == expected


@pytest.mark.parametrize(
    ("answer", "target"),
    [
        ("Within 30 days [9].", "9"),
        ("Within 30 days [refund-77].", "refund-77"),
        ("Within 30 days [xyz-12].", "xyz-12"),
        ("Within 30 days【4:0†source】.", "4:0"),
        ('<cite id="nowhere-1">x</cite>', "nowhere-1"),
    ],
)
def test_a_marker_of_the_records_form_that_names_nothing_is_an_unknown_citation(
    answer: str, target: str
) -> None:
    (citation,) = all_of(answer)
    assert (citation.chunk_id, citation.target) == (None, target)


@pytest.mark.parametrize(
    "answer",
    [
        "See [the handbook](https://help.example/refunds) for more.",
        "See [1](https://help.example/refunds).",
        "Call `items[1]` first.",
        "```python\nvalue = rows[1]\n```\nThat is all there is to it, and it does work well.",
        "[^1]: Refund window, page 3",
        "[1]: https://help.example",
        "The choice is [optional] and [sic] as written.",
        "Steps: (1) open the menu, (2) choose refund.",
        "The room has 12 m² and the cube 8 cm³.",
        "2² is 4.",
        "The area is πr² and the test χ².",
        "Here sin²θ + cos²θ is 1.",
        "The residual is (x−μ)² or (a + b)².",
        "It lies in the closed interval [0, 100].",
        "The vector is v = [2, 5] or w ∈ [1,2].",
        "It was signed in Maastricht [1992].",
        "An area of 30 km² is large.",
        "Nothing is cited here.",
        "- [ ] open\n- [x] done",
    ],
)
def test_what_only_looks_like_a_marker_is_none(answer: str) -> None:
    assert cited(answer) == []


def test_positions_count_from_what_the_prompt_shows() -> None:
    prompt = "\n".join(
        f"Source {n}:\n{document.content}" for n, document in enumerate(CHUNKS, start=4)
    )
    assert cited("Locked [6].", prompt=prompt) == ["acct-03"]
    assert cited("Locked [2].", prompt=prompt) == [None]


@pytest.mark.parametrize("own", ["", "Source {}:\n"])
def test_the_number_in_an_id_that_stands_before_a_chunk_is_no_label(own: str) -> None:
    texts = [f"{own.format(at)}The text number {word}." for at, word in ((1, "one"), (2, "two"))]
    context = build([draft("kb-105", texts[0]), draft("kb-109", texts[1])])
    prompt = f"id: kb-105\n\n{texts[0]}\n\nid: kb-109\n\n{texts[1]}"
    assert cited("So it is [1], and so [2].", context=context, prompt=prompt) == [
        "kb-105",
        "kb-109",
    ]


def test_a_label_inside_of_a_chunk_comes_before_its_position() -> None:
    context = build([draft("b", "Source 2:\nThe second."), draft("a", "Source 1:\nThe first.")])
    prompt = "\n\n".join(document.content or "" for document in context)
    assert cited("So it is [1].", context=context, prompt=prompt) == ["a"]


@pytest.mark.parametrize("name", ["Section", "Source"])
def test_the_number_in_front_of_a_chunk_comes_before_one_inside(name: str) -> None:
    context = build(
        [draft("a", f"{name} 12. Returns are free."), draft("b", f"{name} 1. Costs are low.")]
    )
    prompt = "\n".join(f"[{at}] {chunk.content}" for at, chunk in enumerate(context, 1))
    assert cited("So it is [1].", context=context, prompt=prompt) == ["a"]


def test_the_number_of_a_section_is_no_label() -> None:
    context = build([draft("a", "Section 2. Returns are free."), draft("b", "Section 1. Costs.")])
    prompt = "\n\n".join(document.content or "" for document in context)
    assert cited("So it is [1].", context=context, prompt=prompt) == ["a"]


def test_counting_from_zero_is_seen_where_a_zero_is_cited() -> None:
    assert cited("Within 30 days [0, 1].") == ["refund-01", "ship-02"]


def test_an_id_that_is_a_number_comes_before_a_position() -> None:
    numbered = tuple(
        Document(chunk_id=name, content=document.content)
        for name, document in zip(("3", "7", "1"), CHUNKS, strict=True)
    )
    citations_ = citations(CitationSource(answer="Within 30 days [3].", context=numbered))
    assert [citation.chunk_id for citation in citations_] == ["3"]
    assert citations_[0].target == "3"


def test_a_marker_behind_the_full_stop_supports_the_sentence_before_it() -> None:
    answer = "Refunds take 30 days. [1] Shipping costs 3.90 EUR [2]. Done."
    claims = [answer[citation.claim_start : citation.claim_end] for citation in all_of(answer)]
    assert claims == ["Refunds take 30 days.", "Shipping costs 3.90 EUR [2]."]
    assert [answer[citation.start : citation.end] for citation in all_of(answer)] == ["[1]", "[2]"]


def test_a_row_of_markers_supports_one_sentence() -> None:
    answer = "First. Refunds take 30 days. [1] [2], [3] Last."
    claims = {answer[citation.claim_start : citation.claim_end] for citation in all_of(answer)}
    assert claims == {"Refunds take 30 days."}


@pytest.mark.parametrize(
    ("opening", "closing"),
    [('"', '"'), ("“", "”"), ("„", "“"), ("„", "”"), ("«", "»"), ("»", "«"), ("「", "」"),
     ("『", "』"), ("‹", "›")],
)  # fmt: skip
def test_the_quotation_beside_a_marker_is_what_it_quotes(opening: str, closing: str) -> None:
    quote = "request a full refund within 30 days"
    (citation,) = all_of(f"You can {opening}{quote}{closing} [1].")
    assert citation.quote == quote


def test_each_quotation_belongs_to_the_marker_behind_it() -> None:
    answer = 'It says "a full refund in 30 days" [1] and "shipping costs 3.90 EUR" [2].'
    assert [citation.quote for citation in all_of(answer)] == [
        "a full refund in 30 days",
        "shipping costs 3.90 EUR",
    ]


def test_a_quotation_right_behind_the_marker_is_its_own() -> None:
    (citation,) = all_of('According to [1], "customers can request a full refund".')
    assert citation.quote == "customers can request a full refund"


def test_a_quotation_before_two_markers_goes_to_the_chunk_that_holds_it() -> None:
    first, second = all_of('"Standard shipping costs 3.90 EUR" [1][2].')
    assert (first.quote, second.quote) == (None, "Standard shipping costs 3.90 EUR")


def test_a_single_word_in_quotation_marks_is_emphasis() -> None:
    (citation,) = all_of('On the "Scale" plan [1].')
    assert citation.quote is None


def test_a_json_answer_cites_by_its_list() -> None:
    body = {"answer": "In 30 days.", "citations": [{"id": "refund-01", "quote": "within 30 days"},
                                                   {"id": 2}, {"id": "nope-9"}]}  # fmt: skip
    reply = f"```json\n{json.dumps(body)}\n```"
    citations_ = all_of("In 30 days.", reply=reply)
    assert [citation.chunk_id for citation in citations_] == ["refund-01", "ship-02", None]
    assert citations_[0].quote == "within 30 days"


def test_what_the_users_code_declares_is_taken_as_it_is() -> None:
    declared = [{"chunk_id": "acct-03", "quote": "6 failed attempts", "answer_start": 0,
                 "answer_end": 6}]  # fmt: skip
    (citation,) = all_of("Locked [1].", declared=declared)
    assert (citation.chunk_id, citation.quote, citation.claim_end) == (
        "acct-03",
        "6 failed attempts",
        6,
    )
    assert citation.style == "declared"


def unnamed(*contents: str) -> tuple[Document, ...]:
    """Chunks as a retriever that sends texts alone: their hash is all the id they have."""
    return build([draft(None, content) for content in contents])


TEXTS = [document.content or "" for document in CHUNKS]
LABELLED = "\n\n".join(f"[{document.chunk_id}] {document.content}" for document in CHUNKS)
TEMPLATE = "Context:\n{}\n\nQuestion: How long?"


def resolved(answer: str, shown: str, *contents: str) -> list[str | None]:
    """The texts of the chunks that the answer's markers resolve to."""
    context = unnamed(*contents)
    texts = {document.chunk_id: document.content for document in context}
    citations_ = citations(
        CitationSource(answer=answer, context=context, prompt=TEMPLATE.format(shown))
    )
    return [texts[citation.chunk_id] if citation.chunk_id else None for citation in citations_]


@pytest.mark.parametrize(
    "shown",
    [
        LABELLED,
        "\n".join(
            f'<document id="{document.chunk_id}">{document.content}</document>'
            for document in CHUNKS
        ),
        "\n".join(f"Source: {document.chunk_id}\n{document.content}\n" for document in CHUNKS),
    ],
    ids=["brackets", "elements", "headers"],
)
def test_the_prompts_labels_name_chunks_that_came_without_an_id(shown: str) -> None:
    answer = "It is locked [acct-03]. Within 30 days [refund-01]."
    assert resolved(answer, shown, *TEXTS) == [TEXTS[2], TEXTS[0]]
    assert resolved("Within 30 days [refund-77].", shown, *TEXTS) == [None]


def test_a_label_that_is_not_certain_stays_unresolved() -> None:
    """Two blocks under one label, one text under two labels, a text that the prompt rewrote.

    The prompt shows what these name: so they are no citations of something made up either.
    """
    twice = LABELLED.replace("ship-02", "refund-01")
    assert resolved("Within 30 days [refund-01].", twice, *TEXTS) == []
    repeated = f"{LABELLED}\n\n[refund-09] {TEXTS[0]}"
    assert resolved("30 days [refund-01], [ship-02].", repeated, *TEXTS) == [TEXTS[1]]
    rewritten = LABELLED.replace("3.90 EUR", "four euros")
    assert resolved("30 days [refund-01], [ship-02].", rewritten, *TEXTS) == [TEXTS[0]]


def test_a_chunks_own_id_is_stronger_than_a_label() -> None:
    shown = "\n\n".join(f"[other-{n}] {document.content}" for n, document in enumerate(CHUNKS))
    assert cited("30 days [refund-01].", prompt=TEMPLATE.format(shown)) == ["refund-01"]


def test_a_label_that_is_a_plain_word_makes_no_citation_of_other_words() -> None:
    shown = f"[returns] {TEXTS[0]}\n\n[shipping] {TEXTS[1]}"
    assert resolved("As [sic] written [returns].", shown, *TEXTS[:2]) == [TEXTS[0]]


@pytest.mark.parametrize("number", ["9" * 5_000, "¹" * 5_000])
def test_an_endless_number_names_no_chunk(number: str) -> None:
    marker = f"Paid at once.{number}" if number[0] == "¹" else f"<co: {number}>Paid at once.</co>"
    assert cited(marker) == []


def test_a_quotation_belongs_to_the_marker_whose_chunk_has_it() -> None:
    answer = "“Standard  shipping costs 3.90 EUR” [refund-01] [ship-02]."
    assert [citation.quote for citation in all_of(answer)] == [
        None,
        "Standard  shipping costs 3.90 EUR",
    ]


def test_elements_that_are_never_closed_hide_none_that_is() -> None:
    answer = '<cite id="1">' * 2_000 + '<source id="ship-02">Shipping costs 3.90 EUR.</source>'
    assert cited(answer) == ["ship-02"]


def test_a_very_long_id_is_cut_and_still_cited_and_still_its_own() -> None:
    names = [f"https://help.example/{'a' * 600}?page={page}" for page in (1, 2)]
    chunks = build([draft(name, f"text {name[-1]}", 1.0, None) for name in names])
    assert [len(chunk.chunk_id) for chunk in chunks] == [545, 545]
    declared = json.dumps({"answer": "a", "citations": [{"id": names[1]}]})
    (citation,) = citations(CitationSource(answer=declared, context=chunks))
    assert citation.chunk_id == chunks[1].chunk_id != chunks[0].chunk_id


def test_of_an_answer_with_very_many_citations_the_first_are_read() -> None:
    assert len(all_of("[1] " * 6_000)) == 5_000
