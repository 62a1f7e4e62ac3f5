"""The kinds of words that a refusal is made of, by language and script."""

from __future__ import annotations

import tomllib
from importlib.resources import files

import pytest

from scorers.text.refusal_model import shipped_model
from scorers.text.refusal_signs import COMMON, KINDS, MOST_CHARACTERS, kinds, signs, spoken

WORDS = sorted(
    files("scorers").joinpath("text/refusal_words").iterdir(), key=lambda path: path.name
)


@pytest.mark.parametrize("path", WORDS, ids=lambda path: path.name)
def test_a_language_lists_words_of_every_kind(path) -> None:  # type: ignore[no-untyped-def]
    table = tomllib.loads(path.read_text("utf-8"))
    assert set(table) - {"unspaced", COMMON} == set(KINDS)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("de", "Die Unterlagen nennen den Preis nicht."),
        ("fr", "Les documents n'indiquent pas le prix."),
        ("es", "Los documentos no indican el precio."),
        ("ru", "В документах цена не указана."),
        ("el", "Τα έγγραφα δεν αναφέρουν την τιμή."),
        ("he", "המסמכים לא מזכירים את המחיר."),
        ("ar", "لا تذكر المستندات السعر."),
        ("hi", "दस्तावेज़ में कीमत नहीं लिखी है।"),
        ("ja", "文書には価格が書かれていません。"),
        ("zh", "文档中没有提到价格。"),
        ("ko", "문서에는 가격이 나와 있지 않습니다."),
        ("tr", "Belgelerde fiyat belirtilmemiş."),
    ],
)
def test_a_refusal_denies_that_the_sources_tell(language: str, text: str) -> None:
    assert spoken([text]) == language
    assert {"neg", "source", "tell"} <= kinds(text, language)


def test_accents_are_not_needed_and_an_exact_word_stands_for_itself_alone() -> None:
    assert kinds("los documentos no dicen por que", "es") >= {"neg", "source", "tell", "which"}
    assert "which" in kinds("whether", "en")
    assert "which" not in kinds("whatever", "en")


def test_what_stands_far_from_a_denial_is_not_denied() -> None:
    near = signs("Not one of the documents says so.", "en")
    far = signs("Not before the end of a long and rainy week were any documents sold.", "en")
    assert "neg~source" in near
    assert "neg~source" not in far


def test_only_the_start_of_a_sentence_is_read() -> None:
    start = "x" * MOST_CHARACTERS
    assert not kinds(f"{start} the documents do not say", "en")


def test_the_model_weighs_signs_that_exist() -> None:
    known = {name.strip("^$,") for name in shipped_model().place if "~" not in name}
    assert {name for name in known if "<" not in name and ">" not in name} <= {*KINDS, "digit"}
