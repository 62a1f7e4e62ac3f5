"""Documents that stand in a model's request or reply as data, apart from its texts.

Requests: Anthropic's blocks `document` and `search_result`, Cohere's `document`. Replies: what the
provider's own search returned, in OpenAI's `file_search_call`, in Gemini's grounding, in Azure
OpenAI On Your Data.
Sources: the providers' API references of 2026-08.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from collector.claims.claim import Listing
from collector.claims.documents import Draft, draft, draft_of, listing
from collector.claims.messages import text_of
from collector.claims.recover import as_container, as_json, text

BLOCK_TYPES = ("document", "search_result")
SIGNS = ("file_search_call", "rounding", '"context"')
"""Every raw reply with documents contains at least one of these."""
CHUNK_LISTS = ("groundingChunks", "grounding_chunks")
CONTEXTS = ("retrievedContext", "retrieved_context")


def is_source_block(part: object) -> bool:
    """Whether a part of a message is a document with a visible text."""
    return isinstance(part, dict) and part.get("type") in BLOCK_TYPES and bool(_block_text(part))


def _block_text(block: Mapping[str, object]) -> str:
    source, document = block.get("source"), block.get("document")
    if isinstance(source, dict):  # Anthropic: text, or content blocks; other types are files
        return text_of(source["data"] if source.get("type") == "text" else source.get("content"))
    if isinstance(document, dict):
        data = document.get("data")
        return text_of(data.get("text") or data.get("content") if isinstance(data, dict) else data)
    return text_of(block.get("content"))


def _block_name(block: Mapping[str, object]) -> str:
    """What citations call a block: its id, its source, or its title."""
    document = block.get("document")
    inner = document if isinstance(document, dict) else block
    return next(filter(None, (text(inner.get(key)) for key in ("id", "source", "title"))), "")


def blocks_as_text(blocks: Sequence[Mapping[str, object]]) -> str:
    """The documents of blocks as JSON text; a name that several share is no id.

    >>> blocks_as_text([{"type": "search_result", "source": "a-1", "title": "A",
    ...                  "content": [{"type": "text", "text": "First."}]}])
    '[{"id": "a-1", "content": "First.", "metadata": {"source": "a-1", "title": "A"}}]'
    """
    names = [_block_name(block) for block in blocks]
    counts = Counter(names)
    documents = []
    for name, block in zip(names, blocks, strict=True):
        metadata = {key: block[key] for key in ("source", "title") if text(block.get(key))}
        own = {"id": name} if name and counts[name] == 1 else {}
        documents.append({**own, "content": _block_text(block), "metadata": metadata})
    return as_json(documents)


def searched_by_provider(raw: object) -> Listing | None:
    """The documents that a provider's own search returned; None if the reply has none.

    >>> reply = {"output": [{"type": "file_search_call", "results": [
    ...     {"file_id": "file-a", "filename": "a.md", "score": 0.5, "text": "First."}]}]}
    >>> [(d.chunk_id, d.content, d.score) for d in searched_by_provider(reply).documents]
    [('file-a', 'First.', 0.5)]
    """
    if isinstance(raw, str) and not any(sign in raw for sign in SIGNS):
        return None
    body = as_container(raw).value
    if isinstance(body, list):  # the items of a reply without the reply around them
        body = {"output": body}
    if not isinstance(body, dict):
        return None
    drafts = list(_file_search(body)) or list(_grounding(body)) or list(_azure(body))
    found = listing(drafts) if drafts else None
    return found if isinstance(found, Listing) else None


def _rows(value: object, *names: str) -> Iterator[Mapping[str, object]]:
    """The mappings in the first of these members that is a list."""
    members = (value.get(name) for name in names) if isinstance(value, dict) else ()
    entries: list[object] = next((member for member in members if isinstance(member, list)), [])
    return (entry for entry in entries if isinstance(entry, dict))


def _file_search(body: Mapping[str, object]) -> Iterator[Draft]:
    for call in _rows(body, "output"):
        if call.get("type") == "file_search_call":
            yield from filter(None, map(draft_of, _rows(call, "results")))


def _grounding(body: Mapping[str, object]) -> Iterator[Draft]:
    for candidate in _rows(body, "candidates"):
        metadata = candidate.get("groundingMetadata", candidate.get("grounding_metadata"))
        for chunk in _rows(metadata, *CHUNK_LISTS):
            context = next((chunk[name] for name in CONTEXTS if name in chunk), None)
            if isinstance(context, dict) and text(context.get("text")):
                origin = {key: value for key, value in context.items() if key != "text"}
                yield draft(None, text(context["text"]), None, origin)


def _azure(body: Mapping[str, object]) -> Iterator[Draft]:
    for choice in _rows(body, "choices"):
        message = choice.get("message")
        context = message.get("context") if isinstance(message, dict) else None
        yield from filter(None, map(draft_of, _rows(context, "citations")))
