"""A line of JSON as a record: what `ragvigil score` and labelled sets hold."""

from __future__ import annotations

import json
from collections.abc import Mapping

from ragvigil.app.cli.output.console import JsonObject
from ragvigil.model.record import Absent, Citation, ContextSource, Dimensions, Document, RagRecord

RECORD_KEYS = {
    "question": "what was asked; also `query`",
    "answer": "the answer's text; an empty text is an empty answer, none is an answer not sent",
    "chunks": "the context, in order: texts, or objects with `id` and `text`; also `context`",
    "citations": "chunk ids, or objects with `id` and `quote`; without, markers in the answer are "
    "read, as in `[refund-02]`",
    "finish_reason": "why the model stopped, as in `stop` or `length`",
    "trace_id": "shown beside the scores; without, `id`, else the number of the line",
    "id": "the record's name",
}
"""The keys of a line, and what each holds."""
OTHER_NAMES = {"query", "context"}


class BadLine(Exception):
    """A line is not a record; `str(error)` names the line and what is wrong."""


def parse_record(line: bytes | str, number: int) -> RagRecord:
    """The record of one JSON line. Raises BadLine where it is not one."""
    return record_of(object_of(line, number), number)


def record_of(row: JsonObject, number: int) -> RagRecord:
    """The record of an object, the line `number` of its file. Raises BadLine where it is none."""
    listed = _list(row, number, "chunks", "context")
    documents = tuple(_document(chunk, rank, number) for rank, chunk in enumerate(listed or ()))
    answer = _text(row, number, "answer")
    absent = {
        field: Absent.NOT_SENT
        for field, is_missing in (("context", listed is None), ("answer", answer is None))
        if is_missing
    }
    identity = _name(row, "id") or str(number)
    return RagRecord(
        record_id=identity,
        trace_id=_name(row, "trace_id") or identity,
        query=_text(row, number, "question", "query"),
        retrieved=documents,
        context=documents,
        context_source=ContextSource.DECLARED,
        answer=answer,
        citations=_citations(row, number, answer or "", documents),
        absent=absent,
        dimensions=Dimensions(finish_reason=_name(row, "finish_reason")),
    )


def object_of(line: bytes | str, number: int) -> JsonObject:
    """The object of a JSON line. Raises BadLine where it holds none."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadLine(f"line {number}: is not JSON: {error}") from error
    if not isinstance(row, dict):
        raise BadLine(f"line {number}: is not an object with question, answer and chunks")
    return row


def _name(row: JsonObject, key: str) -> str:
    """A name or number as text; empty where there is none."""
    value = row.get(key)
    return str(value) if isinstance(value, str | int | float) else ""


def _text(row: JsonObject, number: int, *keys: str) -> str | None:
    for key in keys:
        value = row.get(key)
        if value is not None and not isinstance(value, str):
            raise BadLine(f"line {number}: {key} is not a string")
        if value is not None:
            return str(value)
    return None


def _list(row: JsonObject, number: int, *keys: str) -> list[object] | None:
    for key in keys:
        value = row.get(key)
        if value is not None and not isinstance(value, list):
            raise BadLine(f"line {number}: {key} is not a list")
        if value is not None:
            return list(value)
    return None


def _document(chunk: object, rank: int, number: int) -> Document:
    if isinstance(chunk, str):
        return Document(chunk_id=f"chunk-{rank + 1}", content=chunk, rank=rank)
    if isinstance(chunk, Mapping):
        text = chunk.get("text", chunk.get("content"))
        if isinstance(text, str):
            identity = _name(chunk, "id") or f"chunk-{rank + 1}"
            return Document(chunk_id=identity, document_id=identity, content=text, rank=rank)
    raise BadLine(f'line {number}: chunk {rank + 1} is not a string or {{"id", "text"}}')


def _citations(
    row: JsonObject, number: int, answer: str, documents: tuple[Document, ...]
) -> tuple[Citation, ...]:
    from collector.record.citations import CitationSource, citations

    listed = _list(row, number, "citations")
    if listed is None:
        return citations(CitationSource(answer=answer, context=documents))
    return tuple(_citation(value, place, number, documents) for place, value in enumerate(listed))


def _citation(value: object, place: int, number: int, documents: tuple[Document, ...]) -> Citation:
    fields = value if isinstance(value, Mapping) else {"id": value}
    quote, target = fields.get("quote"), _name(fields, "id")
    if not target:
        raise BadLine(f'line {number}: citation {place + 1} is not an id or {{"id", "quote"}}')
    is_known = any(document.chunk_id == target for document in documents)
    return Citation(
        target=target,
        chunk_id=target if is_known else None,
        document_id=target if is_known else "",
        quote=quote if isinstance(quote, str) else None,
        style="declared",
    )
