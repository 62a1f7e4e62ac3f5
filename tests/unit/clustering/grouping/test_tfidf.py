"""Phrases that distinguish groups of texts."""

from __future__ import annotations

from clustering.grouping.tfidf import distinctive_phrases


def test_what_is_said_everywhere_names_nothing() -> None:
    groups = [[f"how do I {word} my card", f"can I {word} the card"] for word in ("lock", "top")]
    assert distinctive_phrases(groups, 3) == [("lock",), ("top",)]


def test_grammar_is_found_in_any_language() -> None:
    groups = [
        ["wie ist das Passwort", "ich habe das Passwort vergessen"],
        ["wie lange dauert das Paket", "ich will das Paket"],
        ["wie geht das mit der Rechnung", "ich zahle das auf Rechnung"],
    ]
    assert [group[0] for group in distinctive_phrases(groups, 1)] == [
        "passwort",
        "paket",
        "rechnung",
    ]


def test_a_pair_of_words_that_belong_together_is_one_phrase() -> None:
    groups = [["credit score low", "a credit score", "my credit"], ["weather today", "a storm"]]
    assert distinctive_phrases(groups, 1)[0] in {("credit",), ("credit score",)}
    words = " ".join(distinctive_phrases(groups, 3)[0]).split()
    assert len(words) == len(set(words))  # no word is said twice


def test_a_group_without_words_has_no_phrase() -> None:
    assert distinctive_phrases([["???", "123"], ["parcel"]], 3) == [(), ("parcel",)]
    assert distinctive_phrases([], 3) == []


def test_the_same_texts_in_another_order_give_the_same_phrases() -> None:
    texts = ["refund late", "refund money", "late refund", "money back"]
    others = ["parcel lost", "parcel late"]
    assert distinctive_phrases([texts, others], 3) == distinctive_phrases(
        [texts[::-1], others[::-1]], 3
    )
