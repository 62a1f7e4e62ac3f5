"""Reads structured citations in providers' raw responses, each provider's by its own function.

Anthropic, OpenAI (Responses, Chat, Assistants), Azure OpenAI On Your Data, Cohere (v1, v2),
Bedrock, Gemini and Vertex, Vectara. Offsets become character offsets of the answer.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from collector.citing.markers import LONGEST
from collector.claims.recover import as_container, text, whole

SIGNS = ("itation", "annotations", "ounding", "References")
"""Every raw response with citations contains at least one of these."""
DEPTH = 12
AZURE = re.compile(r"\[doc(\d{1,6})\]")


class ProviderCitation(NamedTuple):
    """A structured citation; `names` are all names of its source, the best first.

    `start` and `end` are the offsets of the text in the answer that the citation supports; `place`
    is the source's 0-based position in the list that went to the model.
    """

    names: tuple[str, ...]
    place: int | None = None
    start: int | None = None
    end: int | None = None
    quote: str | None = None
    style: str = ""
    marker: str = ""


def find(raw: object, answer: str) -> list[ProviderCitation]:
    """All structured citations of a raw response; cheap if it has none."""
    if isinstance(raw, str) and not any(sign in raw for sign in SIGNS):
        return []
    container = as_container(raw).value
    return list(_walk(container, answer, DEPTH))


def _walk(value: object, answer: str, depth: int) -> Iterator[ProviderCitation]:
    if depth == 0:
        return
    if isinstance(value, list):
        if any(map(_is_text_block, value)):
            yield from _text_blocks(value, answer)
            return
        for entry in value:
            yield from _walk(entry, answer, depth - 1)
    elif isinstance(value, dict):
        # The first reader that finds citations wins: a response is of one provider.
        for reader in (_grounding, _bedrock, _cohere, _openai, _azure):
            citations = list(reader(value, answer))
            if citations:
                yield from citations
                return
        for inner in value.values():
            if isinstance(inner, (dict, list)):
                yield from _walk(inner, answer, depth - 1)


def _is_text_block(entry: object) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("citations"), list) and "text" in entry


def _rows(value: Mapping[str, object], key: str) -> list[Mapping[str, object]]:
    rows = value.get(key)
    return [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []


def _names(source: Mapping[str, object], *keys: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for key in keys if (name := text(source.get(key)))))


Bounds = tuple[int | None, int | None]


def _place(answer: str, part: str, start: int | None, end: int | None) -> Bounds:
    """The offsets of a part in the answer: those given if they fit, else where the part occurs."""
    if start is not None and end is not None and answer[start:end] == part:
        return start, end
    at = answer.find(part, 0, LONGEST) if part else -1
    return (at, at + len(part)) if at >= 0 else (start, end)


def _text_blocks(blocks: Sequence[object], answer: str) -> Iterator[ProviderCitation]:
    """Anthropic: text blocks, which joined are the answer, each with its citations."""
    cursor = 0
    for block in blocks:
        if not isinstance(block, dict) or block.get("type", "text") != "text":
            continue
        body = text(block.get("text"))
        # From the end of the previous block on: the same text may occur twice.
        at = answer.find(body, cursor, cursor + len(body) + LONGEST) if body else -1
        start = at if at >= 0 else None
        end = at + len(body) if at >= 0 else None
        cursor = end or cursor
        for citation in _rows(block, "citations"):
            index = whole(citation.get("document_index"))
            if index is None:
                index = whole(citation.get("search_result_index"))
            names = _names(
                citation, "document_id", "source", "file_id", "document_title", "title", "url"
            )
            quote = citation.get("cited_text")
            quote = quote.strip() if isinstance(quote, str) else None
            yield ProviderCitation(names, index, start, end, quote, "anthropic")


def _openai(value: Mapping[str, object], answer: str) -> Iterator[ProviderCitation]:
    """OpenAI: annotations of the Responses, Chat and Assistants APIs."""
    for citation in _rows(value, "annotations"):
        kind = text(citation.get("type"))
        # Chat nests the fields under the type (`url_citation`), the other APIs do not.
        inner = citation.get(kind) if isinstance(citation.get(kind), dict) else citation
        assert isinstance(inner, dict)
        names = _names(inner, "file_id", "filename", "url", "title", "id", "cited_text")
        start, end = whole(citation.get("start_index")), whole(citation.get("end_index"))
        if start is None:
            start, end = whole(inner.get("start_index")), whole(inner.get("end_index"))
        marker = text(citation.get("text"))
        if marker:
            start, end = _place(answer, marker, start, end)
        quote = inner.get("quote") or (inner.get("cited_text") if kind == "citation" else None)
        if names and kind.endswith("citation"):
            yield ProviderCitation(names, None, start, end, text(quote) or None, "openai", marker)


def _azure(value: Mapping[str, object], answer: str) -> Iterator[ProviderCitation]:
    """Azure OpenAI On Your Data: `[docN]` in the answer, N counts the citations of the context."""
    context = value.get("context")
    if not isinstance(context, dict):
        return
    places: dict[str, list[int]] = defaultdict(list)
    for match in AZURE.finditer(answer):
        places[match[0]].append(match.start())
    for number, citation in enumerate(_rows(context, "citations"), start=1):
        marker = f"[doc{number}]"
        names = _names(citation, "chunk_id", "filepath", "url", "title")
        for at in places.get(marker, ()):
            yield ProviderCitation(names, None, at, at + len(marker), None, "azure", marker)


def _cohere(value: Mapping[str, object], answer: str) -> Iterator[ProviderCitation]:
    """Cohere: v1 has `document_ids`, v2 `sources`; offsets count characters of the answer."""
    for citation in _rows(value, "citations"):
        part = text(citation.get("text"))
        start, end = whole(citation.get("start")), whole(citation.get("end"))
        if "document_ids" not in citation and "sources" not in citation:
            continue
        place = _place(answer, part, start, end)
        ids = citation.get("document_ids")
        for name in ids if isinstance(ids, list) else ():
            yield ProviderCitation((text(name),), _doc_index(text(name)), *place, None, "cohere")
        for source in _rows(citation, "sources"):
            document = source.get("document")
            inner = document if isinstance(document, dict) else {}
            names = (*_names(source, "id"), *_names(inner, "id", "title"))
            yield ProviderCitation(
                names, _doc_index(names[0]) if names else None, *place, None, "cohere"
            )


def _doc_index(name: str) -> int | None:
    """Cohere names documents without an id `doc_0`, `doc_1` or `doc:0`."""
    head, number = name[:4], name[4:]
    return int(number) if head in ("doc_", "doc:") and number.isdecimal() else None


def _bedrock(value: Mapping[str, object], answer: str) -> Iterator[ProviderCitation]:
    """Bedrock RetrieveAndGenerate and InvokeAgent: parts of the response with their references."""
    for citation in _rows(value, "citations"):
        part = citation.get("generatedResponsePart")
        response = part.get("textResponsePart") if isinstance(part, dict) else None
        inner = response if isinstance(response, dict) else {}
        span = inner.get("span")
        bounds = span if isinstance(span, dict) else citation
        start = whole(bounds.get("start", bounds.get("startIndex")))
        end = whole(bounds.get("end", bounds.get("endIndex")))
        place = _place(answer, text(inner.get("text")), start, end)
        for reference in _rows(citation, "retrievedReferences") or _rows(citation, "references"):
            yield ProviderCitation(_bedrock_names(reference), None, *place, None, "bedrock")


def _bedrock_names(reference: Mapping[str, object]) -> tuple[str, ...]:
    metadata = reference.get("metadata")
    names = _names(metadata, "x-amz-bedrock-kb-chunk-id", "id", "chunk_id",
                   "x-amz-bedrock-kb-source-uri") if isinstance(metadata, dict) else ()  # fmt: skip
    location = reference.get("location")
    places = location.values() if isinstance(location, dict) else ()
    uris = [
        text(place.get("uri") or place.get("url")) for place in places if isinstance(place, dict)
    ]
    content = reference.get("content")
    body = text(content.get("text")) if isinstance(content, dict) else ""
    return (*names, *(uri for uri in uris if uri), *((body,) if body else ()))


def _grounding(value: Mapping[str, object], answer: str) -> Iterator[ProviderCitation]:
    """Gemini and Vertex: segments with byte offsets, each with the indices of its chunks."""
    for key in ("groundingMetadata", "grounding_metadata"):
        metadata = value.get(key)
        if not isinstance(metadata, dict):
            continue
        chunks = _rows(metadata, "groundingChunks") or _rows(metadata, "grounding_chunks")
        supports = _rows(metadata, "groundingSupports") or _rows(metadata, "grounding_supports")
        for support in supports:
            yield from _support(support, chunks, answer)


def _support(
    support: Mapping[str, object], chunks: Sequence[Mapping[str, object]], answer: str
) -> Iterator[ProviderCitation]:
    segment = support.get("segment")
    bounds = segment if isinstance(segment, dict) else {}
    # Gemini leaves out a start of 0.
    first = whole(bounds.get("startIndex", bounds.get("start_index"))) or 0
    last = whole(bounds.get("endIndex", bounds.get("end_index")))
    part = text(bounds.get("text"))
    start, end = _from_bytes(answer, first, last)
    place = _place(answer, part, start, end) if part else (start, end)
    indices = support.get("groundingChunkIndices", support.get("grounding_chunk_indices"))
    for number in indices if isinstance(indices, list) else ():
        index = whole(number)
        if index is not None and index < len(chunks):
            inner = next(
                (source for source in chunks[index].values() if isinstance(source, dict)), {}
            )
            names = _names(inner, "documentName", "document_name", "uri", "title", "text")
            yield ProviderCitation(names, None, *place, None, "gemini")


def _from_bytes(answer: str, first: int, last: int | None) -> tuple[int | None, int | None]:
    """Converts offsets in UTF-8 bytes to offsets in characters.

    >>> _from_bytes("né ok", 3, 6)
    (2, 5)
    """
    boundaries = _boundaries(answer)
    if last is None or first > last or last > boundaries[-1]:
        return None, None
    start = bisect_right(boundaries, first) - 1
    # A character that begins before `first` is not of the part.
    length = bisect_right(boundaries, last) - 1 - bisect_left(boundaries, first)
    return start, start + max(0, length)


@lru_cache(maxsize=4)
def _boundaries(answer: str) -> Sequence[int]:
    """The offset in UTF-8 bytes of each character and of the end; kept, since every support asks.

    >>> _boundaries("né")
    (0, 1, 3)
    """
    if answer.isascii():
        return range(len(answer) + 1)
    sizes = (len(character.encode("utf-8", "surrogatepass")) for character in answer)
    return tuple(accumulate(sizes, initial=0))
