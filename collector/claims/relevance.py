"""Which spans can say anything of an answer, told by the names of their attributes alone.

A service sends many spans that no record needs: of its HTTP server, its database, its queues. They
are recognised before they become objects. Nothing is guessed: a span that any convention might
read, or that might carry feedback, counts as one that says something.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from enum import IntEnum
from functools import lru_cache
from itertools import chain

from collector.claims.flat import CACHED_NAMES
from collector.claims.registry import RegisteredConvention
from ragvigil.model.span import Attributes, Span

COMMON = frozenset({"db", "error"})
"""Roots that the spans of any service have, too."""
READERS_OF_COMMON = frozenset({"vector_db", "openllmetry", "spring_ai", "otel_genai"})
"""The conventions that are known to make of a common root nothing but what `IsSearch` finds, and
the reason of a failure: only a span that says something else has a use for that."""
TELLING = (
    *("db.vector", "db.chroma", "db.n_results", "db.query.result", "db.search.result"),
    *("http.request.header.x-ragvigil-", "http.request.header.x_ragvigil_"),
)
"""The beginnings of names, under roots of any service, that a search for vectors has or the mark of
an evaluation."""
FEEDBACK = frozenset({"annotations", "evaluations", "trace", "session", "gen_ai", "logfire"})
"""The roots under which feedback stands (`collector.record.feedback`)."""

Names = tuple[str, ...]
IsSearch = Callable[[Attributes, str], bool]


class _Sign(IntEnum):
    NOTHING = 0
    DATABASE = 1
    ANSWER = 2


class Relevance:
    """Tells spans that may say something of an answer from those that cannot.

    `is_search` takes the `db.*` attributes and the name of a span. Results are kept by the names of
    a span's attributes: a service sends few different sets.
    """

    def __init__(self, conventions: Sequence[RegisteredConvention], is_search: IsSearch) -> None:
        roots = frozenset(chain.from_iterable(entry.roots for entry in conventions))
        others = (entry.roots for entry in conventions if entry.name not in READERS_OF_COMMON)
        taken = frozenset(chain.from_iterable(others))
        self._reads_all = not all(entry.roots for entry in conventions)
        self._common = COMMON - taken
        self._roots = (roots | FEEDBACK) - self._common
        self._is_search = is_search
        self._cached = lru_cache(maxsize=2048)(self._sign_of)

    def of_span(self, span: Span) -> bool:
        """Whether the span may say something of an answer."""
        if span.logs:
            return True
        events = [event.name for event in span.events]
        return self.of_names(
            tuple(span.attributes), events, lambda: (_of_database(span.attributes), span.name)
        )

    def of_names(
        self,
        names: Names,
        events: Collection[str],
        database: Callable[[], tuple[Attributes, str]],
    ) -> bool:
        """Whether a span with these names of attributes and events may say something.

        `database` gives its `db.*` attributes and its name; it is called for a database only.
        """
        if self._reads_all:
            return True
        sign = self._cached(names) if len(names) <= CACHED_NAMES else self._sign_of(names)
        if events:
            sign = max(sign, self._sign_of(tuple(events)))
        if sign is not _Sign.DATABASE:
            return sign is _Sign.ANSWER
        return self._is_search(*database())

    def _sign_of(self, names: Names) -> _Sign:
        roots = {name.partition(".")[0] for name in names}
        if not roots.isdisjoint(self._roots) or any(name.startswith(TELLING) for name in names):
            return _Sign.ANSWER
        is_database = "db" in roots and "db" in self._common
        return _Sign.DATABASE if is_database else _Sign.NOTHING


def _of_database(attributes: Attributes) -> Attributes:
    return {key: value for key, value in attributes.items() if key.startswith("db.")}


def with_parents(kept: Collection[str], parents: dict[str, str]) -> frozenset[str]:
    """The ids `kept`, and those of all spans above; `parents` has the parent of each span."""
    found: set[str] = set()
    for span_id in kept:
        while span_id in parents and span_id not in found:
            found.add(span_id)
            span_id = parents[span_id]
    return frozenset(found)
