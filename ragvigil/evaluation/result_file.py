"""Results in a file: a line that says what was run, then a line of JSON for each result.

A file is written beside its name and moved there when it is complete.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, TypeVar

from ragvigil.evaluation.result import Condition, Reading, Result

FORMAT = 1
KEYS = frozenset(field.name for field in fields(Result))
Known = TypeVar("Known", Condition, Reading)


class BadResults(ValueError):
    """A file of results cannot be read; `str(error)` names the file, the line and what is wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What was run: the set and its hash, the target and its release, and when.

    `versions` are those of ragvigil, the rubrics and the judge. Times are in seconds since the
    epoch.
    """

    set_name: str
    set_hash: str
    target: str
    release: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0
    time_unix: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Results:
    """The results of one run, in the order of its cases."""

    header: Header
    results: tuple[Result, ...]


def write_results(path: Path, results: Results) -> None:
    """Writes a file, in place of an older one. Raises OSError."""
    part = path.with_name(f".{path.name}.part")
    with part.open("w", encoding="utf-8") as file:
        for row in ({"ragvigil_results": FORMAT, **asdict(results.header)}, *_rows(results)):
            file.write(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n")
    part.replace(path)


def as_row(result: Result) -> dict[str, Any]:
    """The object of a result's line."""
    return asdict(result)


def read_results(path: Path) -> Results:
    """Reads a file that `write_results` wrote. Raises BadResults, OSError."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise BadResults(f"{path}: is not UTF-8") from error
    header = _header(path, lines[0])
    results = [
        _result(f"{path}:{number}", line)
        for number, line in enumerate(lines[1:], start=2)
        if line.strip()
    ]
    _refuse_repeats(path, results)
    return Results(header=header, results=tuple(results))


def _rows(results: Results) -> Iterable[dict[str, Any]]:
    return map(as_row, results.results)


def _header(path: Path, line: str) -> Header:
    row = _object(f"{path}:1", line) if line.strip() else {}
    version = row.pop("ragvigil_results", None)
    if version is None:
        raise BadResults(f"{path}: is not a file of results: `ragvigil evaluate --out` writes one")
    if version != FORMAT:
        raise BadResults(f"{path}: has format {version!r}, and this ragvigil reads {FORMAT}")
    known = {name.name for name in fields(Header)}
    try:
        return Header(**{key: value for key, value in row.items() if key in known})
    except TypeError as error:
        raise BadResults(f"{path}:1: lacks the set, its hash or the target") from error


def _result(place: str, line: str) -> Result:
    row = _object(place, line)
    if not isinstance(row.get("case_id"), str):
        raise BadResults(f"{place}: case_id is missing or no text")
    # Keys of a later version say more than this one needs.
    values = {key: value for key, value in row.items() if key in KEYS}
    reading = row.get("reading")
    values["condition"] = _named(place, "condition", Condition, row.get("condition", "retrieved"))
    values["reading"] = None if reading is None else _named(place, "reading", Reading, reading)
    values["values"] = _numbers(place, row.get("values", {}))
    values["failing"] = tuple(map(str, row.get("failing", ())))
    values["slices"] = _slices(place, row.get("slices", {}))
    return Result(**values)


def _object(place: str, line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadResults(f"{place}: is not JSON: {error}") from error
    if not isinstance(row, dict):
        raise BadResults(f"{place}: is not a JSON object")
    return row


def _named(place: str, key: str, names: type[Known], value: object) -> Known:
    try:
        return names(str(value))
    except ValueError as error:
        raise BadResults(f"{place}: {key}: {value!r} is not one of {', '.join(names)}") from error


def _numbers(place: str, values: object) -> dict[str, float | None]:
    if not isinstance(values, Mapping):
        raise BadResults(f"{place}: values is not an object")
    for name, value in values.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if value is not None and not (is_number and math.isfinite(value)):
            raise BadResults(f"{place}: values: {name}: {value!r} is not a number")
    return dict(values)


def _slices(place: str, slices: object) -> dict[str, tuple[str, ...]]:
    if not isinstance(slices, Mapping) or not all(
        isinstance(each, list) for each in slices.values()
    ):
        raise BadResults(f"{place}: slices is not an object of lists")
    return {str(name): tuple(map(str, values)) for name, values in slices.items()}


def _refuse_repeats(path: Path, results: Sequence[Result]) -> None:
    keys = set()
    for number, result in enumerate(results, start=2):
        if result.key in keys:
            raise BadResults(f"{path}:{number}: {result.case_id} is there twice")
        keys.add(result.key)
