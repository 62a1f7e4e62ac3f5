"""What in an answer is a quotation, and which marker it belongs to."""

from __future__ import annotations

import pytest

from collector.citing.quotations import is_title, quotations
from collector.record.citations import CitationSource, citations
from ragvigil.model.record import Document

CHUNKS = tuple(Document(chunk_id=f"c-{place}", content=f"text {place}") for place in range(3))


def texts(answer: str) -> list[str]:
    return [text for _, _, text in quotations(answer)]


def quotes(answer: str) -> list[str | None]:
    return [citation.quote for citation in citations(CitationSource(answer=answer, context=CHUNKS))]


@pytest.mark.parametrize(
    "answer",
    [
        'the "Scale" plan',
        'so-called "taking a break" here',
        'Elton sang "Goodbye Yellow Brick Road" live',
        "see “The Return of the King” [1]",
        "„Der Herr der Ringe“ lief lange",
        "«Les Fleurs du Mal de Baudelaire»",
        'the case "Brown v. Board of Education of Topeka, Kansas"',
        'the film "The Hunger Games: Mockingjay – Part 2"',
        "「東京タワー」が",
        "*refunds take five days now* and _refunds take five days now_",
        "> **Note** refunds take five days now",
        "> [!NOTE]\n> refunds take five days now",
        "> Please note: refunds take five days now",
        'a 5" pipe and a 7" pipe cost 3 EUR and 4" of tape',
        "2 > 1 and so on, as everybody knows",
        "choose “File > Save and close”",
        "tap „Einstellungen → Allgemein → Datum und Uhrzeit“",
        'run "kubectl get pods -A" there',
        "a wish, e.g. “please ring twice at the back door”, is kept",
        "mit UND, z. B. „rote Schuhe UND Größe 42“",
        "par exemple : « chaussures rouges ET taille 42 »",
        "例如：“红色鞋子与四十二码女款”",
    ],
)
def test_names_titles_terms_remarks_input_and_examples_are_no_quotations(answer: str) -> None:
    assert texts(answer) == []


@pytest.mark.parametrize(
    ("answer", "quote"),
    [
        ('It says "within 14 days" [1]', "within 14 days"),
        ('It says "refunds take five days" [1]', "refunds take five days"),
        ("Es heißt „Die Frist ist der 5. Mai“ [1]", "Die Frist ist der 5. Mai"),
        ('It says "John paid Mary 5 EUR" [1]', "John paid Mary 5 EUR"),
        ('"DO NOT MIX WITH BLEACH" [1]', "DO NOT MIX WITH BLEACH"),
        ("Där står ”pengarna kommer inom en vecka” [1]", "pengarna kommer inom en vecka"),
        ("「返品は30日以内です」 [1]", "返品は30日以内です"),
        ("「返品は無料で承ります」 [1]", "返品は無料で承ります"),
        ("> Refunds take\n> five days now\n> — Handbook\n\n[1]", "Refunds take\nfive days now"),
        ("> [...] refunds take five days now", "[...] refunds take five days now"),
        ("> Client: refunds take five days", "Client: refunds take five days"),
        ('It says "stop if p > 5 bar" [1]', "stop if p > 5 bar"),
        ("For example, it says “refunds take five days” [1]", "refunds take five days"),
        ('> the "Scale" plan has five seats', 'the "Scale" plan has five seats'),
    ],
)
def test_quotation_marks_and_block_quotes_make_a_quotation(answer: str, quote: str) -> None:
    assert texts(answer) == [quote]


def test_what_stands_between_two_short_quotations_is_none() -> None:
    answer = 'The code "T" is used for spouses, while the letter "A" is used for workers [1].'
    assert texts(answer) == []


def test_quotation_marks_inside_a_block_quote_bound_the_quotation() -> None:
    assert texts('> It says "refunds take five days" there') == ["refunds take five days"]


def test_markers_inside_a_quotation_divide_it() -> None:
    answer = '"Refunds take five days now [1]. Parcels are held for a week [2]."'
    assert quotes(answer) == ["Refunds take five days now", ". Parcels are held for a week"]


def test_a_marker_inside_a_block_quote_is_no_part_of_it() -> None:
    assert quotes("> Refunds take five days now [1]") == ["Refunds take five days now"]
    assert quotes("> Refunds take five days now\n\n[1]") == ["Refunds take five days now"]
    assert quotes('"[1] Refunds take five days now"') == ["Refunds take five days now"]


def test_all_capitals_are_emphasis_and_small_words_alone_are_no_title() -> None:
    assert not is_title(["DO", "NOT", "MIX"])
    assert not is_title(["of", "the", "and"])


@pytest.mark.parametrize("sign", ['"', "“", "”", "«", ">", "> \n", '"a ', "「"])
def test_endless_rows_of_signs_are_read_once(sign: str) -> None:
    assert len(quotations(sign * 50_000)) <= 1
