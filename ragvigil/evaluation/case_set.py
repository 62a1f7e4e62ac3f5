"""Reads a set of cases: JSONL of golden cases, or a CSV of another tool."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from clustering.golden.case import BadCase
from ragvigil.evaluation.case import Case
from ragvigil.evaluation.case_line import case_of
from ragvigil.evaluation.target.csv_tables import BadTable, case_rows
from scorers.golden import numbered_lines, question_key

HASH_LETTERS = 16


class BadSet(ValueError):
    """A set cannot be read; `str(error)` names the file, the line and what is wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseSet:
    """The cases of a file in their order; the hash is that of its bytes."""

    name: str
    hash: str
    cases: tuple[Case, ...]


def read_set(path: Path) -> CaseSet:
    """Reads every case of a file. Raises BadSet for a line that is none, and for an empty file."""
    try:
        content = path.read_bytes()
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadSet(f"{path}: is not UTF-8") from error
    except OSError as error:
        raise BadSet(f"{path}: cannot be read: {error.strerror or error}") from error
    cases: dict[str, Case] = {}
    for number, row in _rows(path, text):
        case = _case(f"{path}:{number}", number, row)
        if case.case_id in cases:
            raise BadSet(f"{path}:{number}: {case.case_id} is there twice")
        cases[case.case_id] = case
    if not cases:
        raise BadSet(f"{path}: holds no case")
    digest = sha256(content).hexdigest()[:HASH_LETTERS]
    return CaseSet(name=path.name, hash=digest, cases=tuple(cases.values()))


def _rows(path: Path, text: str) -> Iterator[tuple[int, object]]:
    if path.suffix == ".csv":
        try:
            yield from case_rows(text)
        except BadTable as error:
            raise BadSet(f"{path}: {error}") from error
        return
    for number, line in numbered_lines(text):
        try:
            yield number, json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BadSet(f"{path}:{number}: is not JSON: {error}") from error


def _case(place: str, number: int, row: object) -> Case:
    try:
        case = case_of(row, number)
    except BadCase as error:
        raise BadSet(f"{place}: {error}") from error
    # Spelling alone makes no other question.
    return replace(case, group=case.group or question_key(case.question))
