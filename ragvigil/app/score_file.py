"""`ragvigil score FILE`: records in JSON lines to scores, without a daemon.

A line is an object with `question` (or `query`), `answer`, `chunks` (or `context`: a list of
`{"id", "text"}`), and optionally `trace_id`, `citations` (`[{"id", "quote"}]`), `finish_reason`.
Markers in the answer are read as citations where none are given.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ragvigil.app.settings import Settings
from ragvigil.model.record import Absent, Citation, ContextSource, Dimensions, Document, RagRecord
from ragvigil.model.score import Score


class BadLine(Exception):
    """A line is not a record; `str(error)` names the line and the way out."""


def score_file(path: Path, settings: Settings, *, as_json: bool) -> int:
    """Prints one line a record; returns the exit status: 1 where a line was refused."""
    from scorers.runner import Runner, load_scorers

    runner = Runner(load_scorers(settings.scorers), settings.scorers)
    refused = 0
    for number, line in enumerate(_lines(path), start=1):
        try:
            record = parse_record(line, number)
        except BadLine as error:
            print(error, file=sys.stderr)
            refused += 1
            continue
        _show(record, runner.score_all(record), as_json=as_json)
    return 1 if refused else 0


def _lines(path: Path) -> Iterator[str]:
    source = sys.stdin if str(path) == "-" else path.open(encoding="utf-8")
    with source:
        yield from (line for line in source if line.strip())


def parse_record(line: str, number: int) -> RagRecord:
    """The record of one JSON line. Raises BadLine where it is not one."""
    from collector.record.citations import Answered
    from collector.record.citations import citations as citations_of

    try:
        row = json.loads(line)
    except ValueError as error:
        raise BadLine(f"line {number}: is not JSON: {error}") from error
    if not isinstance(row, dict):
        raise BadLine(f"line {number}: is not an object with question, answer and chunks")
    listed = row.get("chunks", row.get("context"))
    documents = tuple(_document(chunk, rank, number) for rank, chunk in enumerate(listed or ()))
    answer = _text(row, number, "answer")
    given = row.get("citations")
    citations = (
        citations_of(Answered(answer=answer or "", context=documents))
        if given is None
        else tuple(_citation(one, documents) for one in given)
    )
    absent = {
        field: Absent.NOT_SENT
        for field, is_missing in (("context", listed is None), ("answer", answer is None))
        if is_missing
    }
    return RagRecord(
        record_id=str(row.get("id", number)),
        trace_id=str(row.get("trace_id", row.get("id", number))),
        query=_text(row, number, "question", "query"),
        retrieved=documents,
        context=documents,
        context_source=ContextSource.DECLARED,
        answer=answer,
        citations=citations,
        absent=absent,
        dimensions=Dimensions(finish_reason=str(row.get("finish_reason") or "")),
    )


def _text(row: Mapping[str, Any], number: int, *keys: str) -> str | None:
    for key in keys:
        value = row.get(key)
        if value is not None and not isinstance(value, str):
            raise BadLine(f"line {number}: {key} is not a string")
        if value is not None:
            return str(value)
    return None


def _document(chunk: object, rank: int, number: int) -> Document:
    if isinstance(chunk, str):
        return Document(chunk_id=f"chunk-{rank + 1}", content=chunk, rank=rank)
    if isinstance(chunk, Mapping):
        text = chunk.get("text", chunk.get("content"))
        if isinstance(text, str):
            identity = str(chunk.get("id", f"chunk-{rank + 1}"))
            return Document(chunk_id=identity, document_id=identity, content=text, rank=rank)
    raise BadLine(f'line {number}: chunk {rank + 1} is not a string or {{"id", "text"}}')


def _citation(given: object, documents: tuple[Document, ...]) -> Citation:
    quote = given.get("quote") if isinstance(given, Mapping) else None
    target = str(given.get("id") if isinstance(given, Mapping) else given)
    known = any(document.chunk_id == target for document in documents)
    return Citation(
        target=target,
        chunk_id=target if known else None,
        document_id=target if known else "",
        quote=quote if isinstance(quote, str) else None,
        style="declared",
    )


def _show(record: RagRecord, scores: tuple[Score, ...], *, as_json: bool) -> None:
    if as_json:
        print(json.dumps({"trace_id": record.trace_id, "scores": [_plain(one) for one in scores]}))
        return
    print(f"{record.trace_id}  {record.query or ''}")
    for one in scores:
        value = "    –" if one.value is None else f"{one.value:5.2f}"
        print(f"  {one.layer:<13} {one.rubric:<22} {value}  {one.label}  {one.explanation}")


def _plain(score: Score) -> dict[str, object]:
    return {
        "rubric": score.rubric,
        "layer": score.layer,
        "value": score.value,
        "label": score.label,
        "explanation": score.explanation,
        "absent": score.absent,
        "scorer": score.scorer,
        "version": score.version,
        "details": dict(score.details),
    }
