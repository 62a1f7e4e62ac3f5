"""Checks a submitted finding: a quote is kept only where it stands in the stored span it names.

A quote matches word for word but for case and white space: what a model half remembers proves
nothing.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from clustering.rca.finding import GRADES, Finding, QuoteForm
from clustering.rca.reader import Form
from clustering.rca.tools import Case, Refused
from ragvigil.model.issue import Quote
from ragvigil.model.text import one_line

LEAST = 12
"""Characters from which a part of a value proves anything; a whole value may be shorter."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedFinding:
    """A finding and those of its quotes that stand in the spans they name."""

    finding: Finding
    quotes: tuple[Quote, ...]
    dropped: int


def checked(finding: Finding, case: Case) -> CheckedFinding:
    """Looks up every quote of a finding.

    Raises Refused where a cause lacks a field or has no quote left, and StoreError. A finding that
    says "not determinable" needs no proof.
    """
    results = [_looked_up(quote, case) for quote in finding.quotes]
    quotes = tuple(dict.fromkeys(quote for quote in results if isinstance(quote, Quote)))
    problems = [problem for problem in results if isinstance(problem, str)]
    if finding.is_determinable:
        lacking = [
            name for name in ("cause", "layer", "fix", *GRADES) if not getattr(finding, name)
        ]
        if lacking:
            raise Refused(f"the finding lacks {', '.join(lacking)}")
        if not quotes:
            raise Refused(f"none of its quotes was found ({'; '.join(problems) or 'it has none'})")
    return CheckedFinding(finding=finding, quotes=quotes, dropped=len(problems))


def _looked_up(quote: QuoteForm, case: Case) -> Quote | str:
    """The quote as it is kept, or why it is dropped."""
    try:
        span = case.span(quote.trace_id, quote.span_id)
    except Refused as error:
        return str(error)
    if not stands_in(quote.text, span):
        return "the words do not stand in the span, or are too few"
    return Quote(
        text=one_line(quote.text), trace_id=quote.trace_id.lower(), span_id=quote.span_id.lower()
    )


def stands_in(quote: str, span: Form) -> bool:
    """Whether a text of the span holds the quote.

    >>> span = {"SpanAttributes": {"error": "Index v7\\nhas no  chunks"}}
    >>> stands_in("index v7 has no chunks", span)
    True
    >>> stands_in("index v8 has no chunks", span)
    False
    """
    words = _normalised(quote)
    if not words:
        return False
    texts = map(_normalised, texts_of(span))
    return any(words == text or (len(words) >= LEAST and words in text) for text in texts)


def texts_of(span: Form) -> Iterator[str]:
    """The texts of a span: name, status, attribute values, and the strings in JSON of those."""
    yield span.get("SpanName", "")
    yield span.get("StatusMessage", "")
    yield from span.get("Events.Name", ())
    for attributes in (span.get("SpanAttributes", {}), *span.get("Events.Attributes", ())):
        for value in attributes.values():
            yield value
            yield from _strings_in(value)


def _strings_in(value: str) -> Iterator[str]:
    if not value.lstrip().startswith(("{", "[", '"')):
        return
    try:
        stack = [json.loads(value)]
    except (ValueError, RecursionError):
        return
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            stack += item.values()
        elif isinstance(item, list):
            stack += item


def _normalised(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split()).casefold()
