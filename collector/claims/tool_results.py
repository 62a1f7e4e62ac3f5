"""Documents in what a tool returned: agents retrieve through tools."""

from __future__ import annotations

from collector.claims.claim import Listing
from collector.claims.documents import draft, find, listing
from collector.claims.prompt_chunks import marked_blocks, named


def documents_of(result: object) -> Listing | None:
    """Documents in a tool's result, as data or as marked text; None where it is no retrieval.

    >>> [one.chunk_id for one in documents_of("[a-1] First.\\n[b-2] Second.").documents]
    ['a-1', 'b-2']
    >>> documents_of("It is 20 degrees in Lisbon.") is None
    True
    """
    found = find(result)
    if isinstance(found, Listing):
        with_text = any(document.content for document in found.documents)
        return found if with_text else None
    shown = marked_blocks(result) if isinstance(result, str) else ()
    marked = listing([draft(named(one.label), one.text) for one in shown])
    return marked if shown and isinstance(marked, Listing) else None
