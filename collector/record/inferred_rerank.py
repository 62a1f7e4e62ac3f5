"""Infers a reranker without a span from the order in which the prompt shows what was retrieved.

Only an order that nothing else explains counts. The order of the retrieval, also with chunks left
out, is none. Neither are usual orders of a context: reversed (the best last), the best at both ends
(LangChain's LongContextReorder, Haystack's LostInTheMiddleRanker), grouped by document, in the
order of the ids, or by a page, a place or a date in the metadata. So two chunks never tell, three
in a third of the orders at most, and six nearly always. Several retrievals have no order between
them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from collector.claims.recover import number
from ragvigil.model.record import Document

LEAST = 3
PLACE = re.compile(
    r"page|index|chunk|start|offset|position|order|number|line|seq|row|date|time|created|updated"
    r"|modified|published|version|year",
    re.IGNORECASE,
)
"""In the names of what chunks are sorted by, so that a text reads on, or the newest is first."""


def is_reranked(retrieved: Sequence[Document], shown: Sequence[Document]) -> bool:
    """Whether the order of the shown documents, which are all retrieved, is a reranker's.

    >>> chunks = [Document(chunk_id=name) for name in "fbdace"]
    >>> is_reranked(chunks, [chunks[at] for at in (3, 0, 4, 1)])
    True
    >>> is_reranked(chunks, [chunks[at] for at in (0, 2, 4, 5)])
    False
    """
    ranks = {_key(document): rank for rank, document in enumerate(retrieved)}
    order = [ranks.get(_key(document), -1) for document in shown]
    if len(shown) < LEAST or len(ranks) < len(retrieved) or -1 in order:
        return False
    by_rank = sorted(order)
    usual = (by_rank, _best_at_both_ends(by_rank), _grouped(by_rank, retrieved))
    if any(order in (ranking, ranking[::-1]) for ranking in usual):
        return False
    ids = [document.chunk_id for document in shown]
    return ids != sorted(ids) and not any(map(_is_sorted, _places(shown)))


def _key(document: Document) -> tuple[str, str]:
    return document.chunk_id, document.text_hash


def _best_at_both_ends(by_rank: Sequence[int]) -> list[int]:
    """The first, third, fifth …, and back to the second."""
    return [*by_rank[::2], *by_rank[1::2][::-1]]


def _grouped(by_rank: Sequence[int], retrieved: Sequence[Document]) -> list[int]:
    """Chunks of a document side by side, documents in the order of their best chunks."""
    first: dict[str, int] = {}
    for rank in by_rank:
        first.setdefault(retrieved[rank].document_id, rank)
    return sorted(by_rank, key=lambda rank: (first[retrieved[rank].document_id], rank))


def _places(shown: Sequence[Document]) -> list[list[object]]:
    """By name of a place or date that all documents have in their metadata, its values."""
    names = set.intersection(*(set(document.metadata) for document in shown))
    return [[document.metadata[name] for document in shown]
            for name in sorted(names) if PLACE.search(name)]  # fmt: skip


def _is_sorted(values: Sequence[object]) -> bool:
    """Whether values go up, or down, numbers as numbers; not if all are the same."""
    numbers = [value for value in map(number, values) if value is not None]
    if len(numbers) == len(values):
        return len(set(numbers)) > 1 and numbers in (sorted(numbers), sorted(numbers)[::-1])
    texts = [str(value) for value in values]
    return len(set(texts)) > 1 and texts in (sorted(texts), sorted(texts)[::-1])
