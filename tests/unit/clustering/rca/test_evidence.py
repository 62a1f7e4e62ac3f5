"""A quote is evidence only where its words stand in the span."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustering.rca.evidence import LEAST, stands_in
from tests.root_causes import span_of

TEXT = 'Index  epoch "v7" has\n\tno chunks of Überweisung-02.'
SPAN = {
    **span_of("a" * 32, "b" * 16, payload=json.dumps({"errors": [{"text": TEXT}]}), plain=TEXT),
    "StatusMessage": "timeout",
    "Events.Name": ["exception"],
    "Events.Attributes": [{"exception.message": "connection reset by the index"}],
}


@pytest.mark.parametrize(
    ("quote", "stands"),
    [
        ('index epoch "V7" has no chunks', True),
        ("no chunks of überweisung-02.", True),
        ("no chunks of U\u0308berweisung-02", True),
        ("timeout", True),
        ("retrieve", True),
        ("connection reset by the index", True),
        ("reset", False),
        ("", False),
        (" \n ", False),
        ("index epoch v7 has no chunks", False),
        ('index epoch "v7" has … chunks of', False),
        ("no chunks of überweisung-02. index", False),
    ],
)
def test_case_and_white_space_do_not_matter_words_do(quote: str, stands: bool) -> None:
    assert stands_in(quote, SPAN) is stands


def test_words_may_be_copied_from_within_json_that_an_attribute_holds() -> None:
    only = {**SPAN, "SpanAttributes": {"payload": SPAN["SpanAttributes"]["payload"]}}
    assert stands_in('epoch "v7" has no chunks', only)


def test_a_quote_does_not_run_over_from_one_value_to_the_next() -> None:
    span = span_of("a" * 32, "b" * 16, one="the first value", two="the second value")
    assert not stands_in("the first value the second value", span)


@given(st.text(min_size=LEAST), st.text(), st.text())
def test_what_was_cut_from_a_value_stands_in_it(quote: str, before: str, after: str) -> None:
    span = span_of("a" * 32, "b" * 16, value=f"{before} {quote} {after}")
    said = " ".join(quote.split())
    assert stands_in(quote, span) or len(said) < LEAST


@given(st.text(), st.dictionaries(st.text(), st.text()))
def test_any_text_is_looked_up(quote: str, attributes: dict[str, str]) -> None:
    span = {**SPAN, "SpanAttributes": attributes}
    assert stands_in(quote, span) in (True, False)
    assert not stands_in(f"{quote} 7f3a9c5e1b {quote}", span)
