"""Merges the claims of all conventions on a span; per field the lowest precedence wins."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import lru_cache, partial
from typing import Any

from collector.claims.claim import NO_TEXT, Claim, Field, Listing, SpanRole, Withheld
from collector.claims.flat import CACHED_NAMES
from collector.claims.registry import RegisteredConvention
from collector.claims.search_tools import nothing_found, searches_documents
from ragvigil.model.span import Span

log = logging.getLogger(__name__)

RERANKING = ("rerank", "contextualcompression", "crossencoder")
"""Parts of class names of rerankers that frameworks trace as retrievers: what they return is what
was kept, in another order, and not what was retrieved."""


class SpanReading:
    """A span as the conventions read it. Lazy values are evaluated at their first use."""

    __slots__ = ("_claims", "_values", "conventions", "role", "span")

    def __init__(self, span: Span, claims: dict[Field, list[Claim]], conventions: list[str]):
        self.span = span
        self.conventions = conventions
        self._claims = claims
        self._values: dict[Field, Any] = {}
        role = self.get(Field.ROLE)
        self.role: SpanRole | None = role if isinstance(role, SpanRole) else None
        if self.role is SpanRole.RETRIEVER and names_reranker(span.name):
            self.role = SpanRole.RERANKER
        if self.role is SpanRole.TOOL:  # documents that a convention reads are stronger
            inferred = Claim(Field.RETRIEVED, self._inferred_search, 80)
            self._claims.setdefault(Field.RETRIEVED, []).append(inferred)

    @property
    def searches_documents(self) -> bool:
        """Whether the span is a tool that searches documents, by its name."""
        name = self.get(Field.TOOL_NAME) or self.span.name
        return self.role is SpanRole.TOOL and searches_documents(name)

    def _inferred_search(self) -> Listing | Withheld | None:
        """What a tool without visible documents retrieved, if its name says that it searches."""
        if not self.searches_documents:
            return None
        if Field.OUTPUT not in self._claims:
            return Withheld.HIDDEN
        output = self.raw(Field.OUTPUT)
        return output if isinstance(output, Withheld) else nothing_found(output)

    def raw(self, field: Field) -> Any:
        """The strongest value, else why there is none (`Withheld`, NO_TEXT), else None."""
        if field in self._values:
            return self._values[field]
        value = self._strongest(self._claims[field]) if field in self._claims else None
        self._values[field] = value
        return value

    def get(self, field: Field) -> Any:
        """The strongest value; None if there is none, or it is withheld or empty."""
        if field not in self._claims:
            return None
        value = self.raw(field)
        return None if isinstance(value, Withheld) or value == NO_TEXT else value

    def claims(self, field: Field) -> bool:
        """Whether any convention claims this field, withheld or not."""
        return field in self._claims

    @property
    def fields(self) -> Collection[Field]:
        """The fields that any convention claims."""
        return self._claims.keys()

    @staticmethod
    def _strongest(claims: list[Claim]) -> Any:
        if len(claims) > 1:
            claims.sort(key=lambda claim: claim.precedence)  # stable: ties go to the first name
        reason = None
        for claim in claims:
            value = _guarded(claim.value) if callable(claim.value) else claim.value
            if isinstance(value, Withheld) or value == NO_TEXT:
                reason = value if reason is None else reason
            elif value is not None and value != "":
                return value
        return reason


def names_reranker(name: str) -> bool:
    """Whether the name of a retriever is that of a reranker.

    >>> names_reranker("vector_db_retrieve ContextualCompressionRetriever")
    True
    """
    lowered = name.lower()
    return any(part in lowered for part in RERANKING)


def read(span: Span, conventions: Sequence[RegisteredConvention]) -> SpanReading:
    """Calls every convention that knows a name of the span, and merges their claims.

    A convention that raises is left out for this span and logged; under pytest the error is raised.
    """
    roots = _roots(span)
    merged: dict[Field, list[Claim]] = {}
    names: list[str] = []
    for name, convention, its_roots in conventions:
        if its_roots and its_roots.isdisjoint(roots):
            continue
        claims = _guarded(partial(_list_claims, convention, span), name, span.trace_id)
        if claims:
            names.append(name)
        for claim in claims or ():
            field = claim.field
            if field in merged:
                merged[field].append(claim)
            else:
                merged[field] = [claim]
    return SpanReading(span, merged, names)


def _list_claims(convention: Any, span: Span) -> list[Claim]:
    return list(convention.claims(span))


def _guarded(code: Callable[[], Any], name: str = "", trace_id: str = "") -> Any:
    """Calls plug-in code; returns None if it raises. Under pytest the error is raised."""
    try:
        return code()
    except Exception:
        if "PYTEST_CURRENT_TEST" in os.environ:
            raise
        log.exception("convention %s failed on a span of trace %s", name, trace_id)
        return None


def _roots(span: Span) -> frozenset[str]:
    names = tuple(span.attributes)
    roots = _roots_cached(names) if len(names) <= CACHED_NAMES else _roots_of(names)
    if not span.events and not span.logs:
        return roots
    names_ = [event.name for event in span.events]
    for log_record in span.logs:
        names_ += (log_record.event_name, *log_record.attributes)
    return roots | _roots_of(names_)


def _roots_of(names: Iterable[str]) -> frozenset[str]:
    return frozenset([name.partition(".")[0] for name in names])


_roots_cached = lru_cache(maxsize=512)(_roots_of)
