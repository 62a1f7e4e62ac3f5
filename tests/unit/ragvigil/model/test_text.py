"""Text from outside in a line, a label, a page."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragvigil.model.text import one_line, readable, visible

ANY_TEXT = st.text(st.characters())  # lone surrogates too


@given(ANY_TEXT)
def test_what_is_visible_is_one_line_of_glyphs(text: str) -> None:
    shown = visible(text)
    assert all(char.isprintable() or char in "\u200c\u200d" for char in shown)
    assert len(shown.splitlines()) <= 1
    assert shown.encode("utf-8").decode() == shown


@given(ANY_TEXT, ANY_TEXT)
def test_texts_that_differ_stay_different(first: str, second: str) -> None:
    assert (visible(first) == visible(second)) is (first == second)


@given(st.text("\\xu01bnrt\x1b\n\r\t", max_size=8), st.text("\\xu01bnrt\x1b\n\r\t", max_size=8))
def test_a_literal_escape_is_not_a_character(first: str, second: str) -> None:
    assert (visible(first) == visible(second)) is (first == second)


def test_marks_that_scripts_need_stay() -> None:
    for text in ("نمی\u200cخواهم", "👩\u200d🔧", "हिन्दी", "é", "5 €", "ตั้งที่"):
        assert visible(text) == text
    assert visible("admin\u200b") == r"admin\u200b"


def test_a_flood_of_marks_is_cut_into_escapes() -> None:
    shown = visible("a" + "\u0301" * 500)
    assert shown.count("\u0301") == 8
    assert shown.count(r"\u0301") == 492


def test_a_page_keeps_lines_and_shows_directions() -> None:
    assert readable("one\n\ttwo\u00a0\u202ethree\x1b") == "one\n\ttwo\u00a0\\u202ethree\\x1b"


def test_a_line_has_no_control_codes() -> None:
    assert one_line("a\x1b]8;;b\x07\u2028c\u202e") == "a ]8;;b c"
