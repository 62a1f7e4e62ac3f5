"""Finds documents in the results of tools: agents retrieve through tools."""

from __future__ import annotations

from collector.claims.claim import Listing
from collector.claims.documents import draft, find_documents, listing
from collector.claims.prompt_chunks import as_id, marked_blocks


def tool_documents(result: object) -> Listing | None:
    """Documents in a tool's result, as data or as marked text; None if it is no retrieval.

    >>> [document.chunk_id for document in tool_documents("[a-1] First.\\n[b-2] Second.").documents]
    ['a-1', 'b-2']
    >>> tool_documents("It is 20 degrees in Lisbon.") is None
    True
    """
    data = find_documents(result)
    if isinstance(data, Listing):
        return data if any(document.content for document in data.documents) else None
    shown = marked_blocks(result) if isinstance(result, str) else ()
    marked = listing([draft(as_id(block.label), block.text) for block in shown])
    return marked if shown and isinstance(marked, Listing) else None
