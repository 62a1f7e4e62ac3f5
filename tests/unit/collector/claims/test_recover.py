"""Texts that hold data: whole, cut, or neither."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from collector.claims.recover import as_container, parse

values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**53), 2**53), st.text(max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(), inner)),
)


@given(values)
def test_whole_json_comes_back_as_it_is(value: object) -> None:
    assert parse(json.dumps(value)) == (value, True)


@given(st.lists(st.dictionaries(st.text(max_size=4), st.text(max_size=8), min_size=1)), st.data())
def test_cut_json_yields_only_what_was_there(
    value: list[dict[str, str]], data: st.DataObject
) -> None:
    written = json.dumps(value)
    found = parse(written[: data.draw(st.integers(0, len(written) - 1))])
    assert not found.complete or found.value is None
    for index, entry in enumerate(found.value if isinstance(found.value, list) else []):
        assert entry.items() <= value[index].items()


@pytest.mark.parametrize(
    "text",
    ["[refund-01] says so", "[1] and more", "{not json}", "[1] Customers (a) can", "{{name}}"],
)
def test_a_text_that_only_begins_like_data_is_a_text(text: str) -> None:
    assert as_container(text).value is None


@given(st.text(alphabet='[]{}",:\\ab1 ', max_size=60))
@example("{[]}")
def test_anything_may_be_tried(text: str) -> None:
    as_container(text)
