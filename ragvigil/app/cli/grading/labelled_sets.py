"""Labelled sets for `ragvigil judge measure`: answers with what people said of them, by rubric.

A set is a file `*.jsonl` or `*.jsonl.gz`. A line has the keys of `ragvigil score`, and `labels`: an
object of a rubric and true, false or a value from 0 to 1. The fields of public sets are read too:
`hallucinated` (true fails groundedness) and `supported` (false fails it). `group` is equal for rows
that belong together, such as the answers to one question.
"""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from ragvigil.app.cli.input.record_line import BadLine, parse_record
from ragvigil.model.record import RagRecord

PUBLIC = {"hallucinated": ("groundedness", False), "supported": ("groundedness", True)}
"""Fields of public sets: the rubric, and the value that passes it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledAnswer:
    """An answer and what people said of it, 1 good to 0 bad, by rubric; `group` as in the set."""

    record: RagRecord
    group: str
    labels: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledSet:
    """The labelled answers of a file, in the order of a hash; `refused` names bad lines."""

    name: str
    answers: tuple[LabelledAnswer, ...]
    refused: tuple[str, ...] = ()


def read_sets(folder: Path) -> list[LabelledSet]:
    """Every set of a folder, by name; those without a label have no answers.

    Raises OSError where the folder or a file cannot be read.
    """
    files = sorted(path for path in folder.iterdir() if path.name.endswith((".jsonl", ".jsonl.gz")))
    return [_read(path) for path in files]


def _read(path: Path) -> LabelledSet:
    answers, refused = [], []
    for number, line in enumerate(_lines(path), start=1):
        try:
            answer = _answer(line, number, path.name)
        except BadLine as error:
            refused.append(f"{path.name}: {error}")
            continue
        if answer.labels:
            answers.append(answer)
    return LabelledSet(
        name=path.name.removesuffix(".gz").removesuffix(".jsonl"),
        answers=tuple(sorted(answers, key=_order)),
        refused=tuple(refused),
    )


def _lines(path: Path) -> Iterator[str]:
    opened = gzip.open if path.name.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8") as lines:
        yield from (line for line in lines if line.strip())


def _answer(line: str, number: int, file: str) -> LabelledAnswer:
    record = parse_record(line, number)
    row = json.loads(line)
    given = row.get("labels")
    if not isinstance(given, Mapping | None):
        raise BadLine(f"line {number}: labels is not an object of rubrics")
    labels = {
        rubric: float(value is passes)
        for key, (rubric, passes) in PUBLIC.items()
        if isinstance(value := row.get(key), bool)
    }
    for rubric, value in (given or {}).items():
        if not isinstance(value, bool | int | float) or not 0 <= value <= 1:
            raise BadLine(f"line {number}: the label of {rubric} is not true, false or 0 to 1")
        labels[rubric] = float(value)
    # The names of records are their numbers where a line has none: files must not share them.
    named = replace(record, trace_id=f"{file} {record.trace_id}")
    return LabelledAnswer(
        record=named, group=str(row.get("group") or record.query or number), labels=labels
    )


def _order(answer: LabelledAnswer) -> bytes:
    return hashlib.blake2b(answer.record.trace_id.encode(), digest_size=8).digest()
