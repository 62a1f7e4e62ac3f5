"""What a quotation leaves out of its chunk: what changes the claim, and what may go."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragvigil.model.record import Citation, Document, RagRecord
from ragvigil.model.score import Score
from scorers.citation_validity import CitationValidity


def quoting(quote: str, chunk: str, *, answer: str | None = None) -> Score:
    claim = (0, len(answer)) if answer else (None, None)
    record = RagRecord(
        record_id="1", trace_id="1", answer=answer,
        context=(Document(chunk_id="a", content=chunk),),
        citations=(Citation(target="a", chunk_id="a", quote=quote,
                            claim_start=claim[0], claim_end=claim[1]),),
    )  # fmt: skip
    return CitationValidity().score(record)


MIX = "You must never mix bleach and ammonia."


@pytest.mark.parametrize("mark", ["…", "...", " [...] ", " (…) ", " […] ", " . . . ", "……", " ⋯ "])
def test_every_mark_of_an_omission_is_known(mark: str) -> None:
    score = quoting(f"You must{mark}mix bleach and ammonia", MIX)
    assert (score.value, score.label) == (0.0, "altered_by_omission")
    assert score.explanation == "quote of chunk a leaves out: never"


@pytest.mark.parametrize(
    ("chunk", "quote", "omitted"),
    [
        (MIX, "mix bleach and ammonia", "never"),
        (MIX, "… mix bleach and ammonia", "never"),
        ("It is not true that refunds take 5 days.", "refunds take 5 days", "not"),
        ("We cannot promise that your data is safe.", "your data is safe", "cannot"),
        ("It is not clear whether the drug is safe.", "the drug is safe", "not"),
        ("Neither cats nor dogs are allowed here.", "cats … are allowed here", "nor"),
        ("Members only pay half of it.", "Members … pay half of it", "only"),
        ("All orders ship free. Only members pay half.", "members pay half", "only"),
        ("Orders over 50 EUR ship for free.", "Orders … ship for free", "over"),
        ("Refunds take 5 to 7 business days.", "Refunds take 5 … business days", "7"),
        ("Refunds take 5 business days here.", "Refunds take 5 … days here", "business"),
        ("You may return shoes and socks.", "You … return shoes and socks", "may"),
        ("Shoes are refunded unless worn. Call us.", "Shoes are refunded … Call us.", "unless"),
        ("Shoes are refunded unless they were worn.", "Shoes are refunded", "unless"),
        ("Shoes (except boots) are refunded at once.", "Shoes … are refunded at once", "except"),
        ("You get shoes at most twice a year.", "You get shoes … a year", "at most"),
        ("You must mix dough. Never touch bleach.", "You must mix … touch bleach",
         "the end of a sentence"),
        ("- mix the dough\n- wash the floor with bleach", "mix the … floor with bleach",
         "the end of a sentence"),
        ("Kunden, die nicht zahlen, verlieren den Zugang.", "Kunden … verlieren den Zugang",
         "nicht"),
        ("Wir erstatten die Schuhe und Socken nicht.", "Wir erstatten die Schuhe und Socken",
         "nicht"),
        ("Il ne faut pas mélanger la javel ici.", "Il … faut … mélanger la javel ici", "ne"),
        ("漂白剂和氨水绝对不能混合使用。", "漂白剂和氨水……混合使用", "不"),
        ("漂白剤とアンモニアを混ぜないでください。", "漂白剤とアンモニアを混ぜ", "ない"),
    ],
)  # fmt: skip
def test_what_changes_the_claim_may_not_be_left_out(chunk: str, quote: str, omitted: str) -> None:
    score = quoting(quote, chunk)
    assert score.label == "altered_by_omission"
    assert score.details["citations"][0]["omitted"] == omitted  # type: ignore[index]


@pytest.mark.parametrize(
    ("chunk", "quote"),
    [
        ("The card, which does not expire, opens every door.", "The card … opens every door"),
        ("The card (issued since 1990) opens every door.", "The card … opens every door"),
        ("The card – 10 cm wide – opens every door.", "The card … opens every door"),
        ("The old red card opens every door.", "The … card opens every door"),
        ("Mix it well. Never open the lid. Bake it.", "Mix it well. … Bake it."),
        ("If it is lost, we send a new card to you.", "… we send a new card to you"),
        ("The form that can be found online is signed.", "The form … is signed"),
        ("It does not expire and opens every door.", "opens every door"),
        ("It was rebuilt at once because nobody else paid. It is open.",
         "It was rebuilt at once … It is open."),
        ("The results, however, were not good in a study.", "The results … were not good"),
        ("No, cards open every door.", "cards open every door"),
        ("This is not only a card but opens every door.", "a card … opens every door"),
        ("商店在车站左边的柜台交换漂白剂。", "商店在车站……柜台交换漂白剂"),
    ],
)  # fmt: skip
def test_what_the_kept_words_do_not_depend_on_may_go(chunk: str, quote: str) -> None:
    assert quoting(quote, chunk).value == 1.0


def test_an_answer_that_denies_in_its_own_words_may_quote_the_rest() -> None:
    answer = 'You must never "mix bleach and ammonia" [a].'
    assert quoting("mix bleach and ammonia", MIX, answer=answer).value == 1.0
    only = quoting("members pay half", "Only members pay half.", answer="Only “members pay half”.")
    assert only.value == 1.0
    assert quoting("mix bleach and ammonia", MIX, answer='"mix bleach and ammonia" [a]').value == 0


def test_a_place_that_leaves_out_nothing_telling_is_enough() -> None:
    chunk = "You must never mix bleach. At the end you must slowly mix bleach."
    assert quoting("you must … mix bleach", chunk).value == 1.0


@given(st.lists(st.sampled_from([*MIX.split(), "…", "，", "不", "5"]), max_size=9), st.text())
def test_any_quotation_gets_a_score(quoted: list[str], chunk: str) -> None:
    score = quoting(" ".join(quoted), f"{MIX} {chunk}")
    assert score.value is None or 0 <= score.value <= 1
