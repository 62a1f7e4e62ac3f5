"""Quotations with words of whoever quotes, of chunks with markup, and in translation."""

from __future__ import annotations

import pytest

from ragvigil.model.record import Citation, Document, RagRecord
from ragvigil.model.score import Score
from scorers.citation_validity import CitationValidity
from scorers.text.editing import edited, rendered

PLAIN = "Card refunds are issued to the holder within 5 to 7 business days of the return."
MARKED = (
    "<p>Card refunds are issued to the [holder](/help) within <b>5 to 7</b> business days.[3] "
    "Gift cards come back as store <em>credit</em>.</p>"
)


def quoting(quote: str, content: str) -> Score:
    chunks = (Document(chunk_id="a", content=content),)
    cited = (Citation(target="a", chunk_id="a", quote=quote),)
    record = RagRecord(record_id="1", trace_id="1", answer="", context=chunks, citations=cited)
    return CitationValidity().score(record)


@pytest.mark.parametrize(
    "quote",
    [
        "issued to the holder [of the card] within 5 to 7 business days",
        "refunds are issued to [her] within 5 to 7 business days",
        "[They] are issued to the holder within 5 to 7 business days",
        "Card refunds [sic] are issued to the holder",
        "refund[s] are issued to the holder within 5 to 7 business day[s] of the return",
    ],
)
def test_words_in_square_brackets_are_those_of_whoever_quotes(quote: str) -> None:
    assert quoting(quote, PLAIN).value == 1.0


@pytest.mark.parametrize(
    "quote",
    [
        "Card refunds are [not] issued to the holder",
        "Card refunds are issued to the holder within [2] business days",
        "Card refunds are doubled [as a favour] within 5 to 7 business days",
        "[the shop] [pays] [all] [of] [it] within [some] days",
        "Card refunds are issued to the holder [who always gets twice the sum he paid] within 5",
    ],
)
def test_brackets_hide_no_invented_quotation(quote: str) -> None:
    assert quoting(quote, PLAIN).value == 0.0


def test_a_quotation_of_a_chunk_with_markup_is_read_without_it() -> None:
    whole = "refunds are issued to the holder within 5 to 7 business days. Gift cards come back"
    assert quoting(whole, MARKED).value == 1.0
    assert quoting("issued to the [card] holder within 5 to 7 business days", MARKED).value == 1.0
    assert quoting(whole.replace("holder", "shop"), MARKED).value == 0.0


def test_a_text_without_markup_is_rendered_as_it_is() -> None:
    assert rendered("if 2 < 3 and 5 > 4 then a[i] is 1") == "if 2 < 3 and 5 > 4 then a[i] is 1"
    assert edited("[it has been doubled, tripled or quadrupled since then]").startswith("[it")


@pytest.mark.parametrize(
    "quote",
    [
        "Kartenzahlungen werden innerhalb von 5 bis 7 Werktagen erstattet",
        "les remboursements par carte sont effectués sous 5 à 7 jours ouvrables",
        "返品を受け取った日から5〜7営業日以内に返金されます",
    ],
)
def test_a_translated_quotation_is_no_invented_one(quote: str) -> None:
    assert quoting(quote, PLAIN).value == 1.0


def test_a_quotation_in_the_language_of_its_chunk_is_checked() -> None:
    german = "Rückerstattungen erfolgen innerhalb von 5 bis 7 Werktagen nach Eingang der Ware."
    invented = "Alle Rückerstattungen werden sofort und ohne Prüfung der Ware gezahlt"
    assert quoting(invented, german).value == 0.0
