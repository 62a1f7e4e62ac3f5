"""Reads a set of cases: JSONL of golden cases, or a CSV of another tool."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from clustering.golden.case import BadCase
from ragvigil.evaluation.case import Case, Expects, Perturbation
from ragvigil.evaluation.case_line import case_of
from ragvigil.evaluation.target.csv_tables import BadTable, case_rows
from scorers.golden import question_key

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
    # Not `splitlines`: a JSON string may contain U+2028, which is no end of a line here.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError) as error:
                raise BadSet(f"{path}:{number}: is not JSON: {error}") from error


def _case(place: str, number: int, row: object) -> Case:
    try:
        case = case_of(row, number)
        more: Mapping[str, Any] = row if isinstance(row, Mapping) else {}
        return replace(
            case,
            slices={**case.slices, **_slices(more.get("slices", {}))},
            # Spelling alone makes no other question.
            group=case.group or question_key(case.question),
            perturbation=_perturbation(more.get("perturbation")),
        )
    except (BadCase, ValueError) as error:
        raise BadSet(f"{place}: {error}") from error


def _slices(written: object) -> dict[str, tuple[str, ...]]:
    if not isinstance(written, Mapping):
        raise BadCase("slices: is not an object")
    slices = {}
    for name, values in written.items():
        listed = [values] if isinstance(values, str) else values
        if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
            raise BadCase(f"slices: {name}: is neither a text nor a list of texts")
        slices[str(name)] = tuple(listed)
    return slices


def _perturbation(written: object) -> Perturbation | None:
    if written is None:
        return None
    if not isinstance(written, Mapping):
        raise BadCase("perturbation: is not an object")
    try:
        return Perturbation(
            name=str(written["name"]),
            parent=str(written["parent"]),
            expects=Expects(str(written["expects"])),
            required=tuple(map(str, written.get("required", ()))),
            forbidden=tuple(map(str, written.get("forbidden", ()))),
            seed=int(written.get("seed", 0)),
        )
    except KeyError as error:
        raise BadCase(f"perturbation: has no {error.args[0]}") from error
