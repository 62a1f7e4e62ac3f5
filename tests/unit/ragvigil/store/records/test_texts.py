"""Marks for texts: whatever a value holds, putting the texts back gives the value that was sent."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from ragvigil.store.records.texts import SHORTEST, Shortener, hashes_in, restore, text_hash

LONG = st.text(min_size=SHORTEST, max_size=200)
PIECES = st.one_of(
    st.text(max_size=40),
    st.sampled_from(["⟦doc", "⟦doc:⟧", "⟦doc:json:", f"⟦doc:{'a' * 32}⟧", "⟧"]),
)


@given(texts=st.lists(LONG, max_size=4), pieces=st.lists(PIECES, max_size=5), data=st.data())
def test_restoring_gives_the_value_that_was_sent(
    texts: list[str], pieces: list[str], data: st.DataObject
) -> None:
    forms = [*texts, *(json.dumps(text) for text in texts)]
    forms += [json.dumps(text, ensure_ascii=False) for text in texts]
    order = st.lists(st.sampled_from([*forms, *pieces] or [""]), max_size=8)
    value = "".join(data.draw(order))
    known = {text_hash(text): text for text in texts}
    assert restore(Shortener(texts).short(value), known) == value


def test_a_text_is_found_whole_within_a_prompt_and_within_json() -> None:
    text = (
        'He said: "five to seven days".\nThe refund follows — for cards, not for cash or vouchers.'
    )
    shortener = Shortener([text])
    for value in (text, f"Context:\n{text}\nQuestion?", json.dumps([{"content": text}])):
        marked = shortener.short(value)
        assert "five to seven" not in marked
        assert hashes_in(marked) == {text_hash(text)}
        assert restore(marked, {text_hash(text): text}) == value


def test_a_text_that_occurs_twice_is_marked_twice() -> None:
    text = "0123456789" * 8
    assert Shortener([text]).short(f"{text} {text}").count("⟦doc:") == 2


def test_a_text_within_a_longer_text_leaves_one_mark() -> None:
    inner = "the inner sentence of a chunk, which is long enough to have a mark of its own"
    outer = f"before {inner} after"
    marked = Shortener([inner, outer]).short(f"x {outer} y")
    assert hashes_in(marked) == {text_hash(outer)}


def test_a_short_text_stays() -> None:
    assert Shortener(["short"]).short("a short value") == "a short value"


def test_a_mark_whose_text_is_gone_stays() -> None:
    text = "z" * 80
    marked = Shortener([text]).short(text)
    assert restore(marked, {}) == marked
