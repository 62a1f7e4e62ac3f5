"""Normalised words: which spellings are equal, and which are not."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scorers.text.negations import denies
from scorers.text.normalise import key, length, parts, words

TEXT = "Возврат до 30 дней — “free”, क़ीमत ३०, 退款5天, λόγος, İstanbul, naïve"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("co\u00adoperate", "cooperate"),
        ("busi-\nness", "business"),
        ("ﬁne ①", "fine 1"),
        ("1,250.50", "1250.50"),
        ("10 000 items", "10,000 items"),
        ("3,90 EUR", "3.90 eur"),
        ("٣٠ يوماً", "30 يوما"),
        ("كِتَاب", "كتاب"),
        ("שָׁלוֹם", "שלום"),
        ("ΛΌΓΟΣ", "λογος"),
        ("ё", "е"),
        ("don’t", "DON'T"),
        ("terms &amp; conditions", "terms & conditions"),
        ("5GB", "5 GB"),
        ("ﾃﾞｰﾀ", "データ"),
        ("ISI", "ısı"),
        ("**bold** text", "bold text"),
    ],
)
def test_harmless_forms_have_the_same_words(one: str, other: str) -> None:
    assert words(one) == words(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("5-7 days", "57 days"),
        ("-5 °C", "5 °C"),
        ("5 %", "5 €"),
        ("1.5 kg", "15 kg"),
        ("wurde", "würde"),
        ("< 5", "> 5"),
        ("退款", "退貨"),
    ],
)
def test_other_meanings_have_other_words(one: str, other: str) -> None:
    assert words(one) != words(other)


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_unicode_forms_do_not_matter(form: str) -> None:
    assert words(unicodedata.normalize(form, TEXT)) == words(TEXT)


@given(st.text())
def test_normalising_twice_changes_nothing(text: str) -> None:
    found = words(text)
    assert all(word and not word.isspace() for word in found)
    assert " ".join(words(key(found))) == " ".join(found) or not text.isascii()


@given(st.lists(st.text("abc", min_size=1, max_size=3), min_size=1, max_size=30), st.data())
def test_a_run_of_words_is_found_and_a_piece_of_a_word_is_not(
    found: list[str], data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(found) - 1))
    end = data.draw(st.integers(start + 1, len(found)))
    assert key(found[start:end]) in key(found)
    assert key(["x" + found[0]]) not in key(found)


def test_ellipses_split_a_quotation() -> None:
    assert parts("a b … c [...] d (…) e. . . f ...") == ["a b", "c", "d", "e", "f"]
    assert parts("plain. Two sentences.") == ["plain. Two sentences."]


def test_two_characters_of_an_unspaced_script_count_as_one_word() -> None:
    assert length(words("退款需要")) == 2
    assert length(words("four words are here")) == 4


@pytest.mark.parametrize("said", ["не", "ليس", "नहीं", "不", "できません", "δεν", "לא", "isn't"])
def test_negations_are_known_in_many_languages(said: str) -> None:
    assert denies(words(said))
