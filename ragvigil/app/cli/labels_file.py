"""Labels from a file to the daemon: JSON lines, or CSV with a heading."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ragvigil.app.cli.output.console import print_text
from ragvigil.app.client.api import Refused, post
from ragvigil.app.settings import Settings
from ragvigil.web.views.posts import LabelPost

AT_ONCE = 200
"""Labels in one request; the API takes up to 1,000."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of the file: its values, or in `wrong` why it has none."""

    number: int
    row: Mapping[str, Any] = field(default_factory=dict)
    wrong: str = ""


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What became of the lines; `matched` counts labels whose answer is stored."""

    accepted: int = 0
    matched: int = 0
    refused: list[tuple[int, str]] = field(default_factory=list)


def import_labels(path: Path, settings: Settings, *, labeller: str = "", as_json: bool) -> int:
    """Sends every line; returns the exit status: 1 where a line was refused, 2 for no file.

    Raises Unreachable where no daemon answers; what was sent before is stored, and the same
    file may be sent again.
    """
    done = Outcome()
    try:
        lines = _csv_lines(path) if path.suffix.lower() == ".csv" else _json_lines(path)
        for chunk in _chunks(_checked(lines, labeller, done)):
            _send(settings, chunk, done)
    except OSError as error:
        print(f"{path}: cannot be read: {error.strerror or error}", file=sys.stderr)
        return 2
    except UnicodeDecodeError as error:
        print(f"{path}: is not UTF-8: {error.reason}", file=sys.stderr)
        return 2
    _report(done, as_json=as_json)
    return 1 if done.refused else 0


def _json_lines(path: Path) -> Iterator[Line]:
    source = sys.stdin.buffer if str(path) == "-" else path.open("rb")
    with source:
        for number, text in enumerate(source, start=1):
            if text.strip():
                yield _json_line(number, text)


def _json_line(number: int, text: bytes) -> Line:
    try:
        row = json.loads(text)
    except (ValueError, RecursionError) as error:
        return Line(number=number, wrong=f"is not JSON: {error}")
    if not isinstance(row, dict):
        return Line(number=number, wrong="is not an object with rubric, trace_id and value")
    return Line(number=number, row={key: value for key, value in row.items() if value is not None})


def _csv_lines(path: Path) -> Iterator[Line]:
    """Empty cells are left out; a line that spans several is named by its last."""
    with path.open(encoding="utf-8-sig", newline="") as source:
        reader = csv.DictReader(source, strict=True)
        while True:
            try:
                row = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                yield Line(number=reader.line_num, wrong=f"is not CSV: {error}")
                continue
            yield _csv_line(reader.line_num, row)


def _csv_line(number: int, row: Mapping[str | None, Any]) -> Line:
    if None in row:
        return Line(number=number, wrong="has more cells than the heading")
    cells = {str(key).strip(): cell.strip() for key, cell in row.items() if cell and cell.strip()}
    return Line(number=number, row=cells)


def _checked(
    lines: Iterable[Line], labeller: str, done: Outcome
) -> Iterator[tuple[int, LabelPost]]:
    """The lines that are labels; the others are refused with the reason."""
    for line in lines:
        if line.wrong:
            _refuse(done, line.number, line.wrong)
            continue
        try:
            row = {"source": "file", "labeller": labeller, **line.row}
            yield line.number, LabelPost.model_validate(row)
        except ValidationError as error:
            _refuse(done, line.number, _sentence(error))


def _sentence(error: ValidationError) -> str:
    """Every wrong value with its name."""
    problems = [(".".join(map(str, each["loc"])), each["msg"]) for each in error.errors()]
    return "; ".join(f"{where}: {text}" if where else text for where, text in problems)


def _chunks(
    labels: Iterable[tuple[int, LabelPost]],
) -> Iterator[list[tuple[int, LabelPost]]]:
    source = iter(labels)
    while chunk := list(islice(source, AT_ONCE)):
        yield chunk


def _send(settings: Settings, chunk: Sequence[tuple[int, LabelPost]], done: Outcome) -> None:
    """Sends labels together. A refused chunk is halved until the wrong line is alone.

    The API stores all labels of a request or none.
    """
    body = [label.model_dump(mode="json", exclude_unset=True) for _, label in chunk]
    try:
        reply = post(settings, "labels", body, role="triager")
    except Refused as error:
        if len(chunk) == 1:
            _refuse(done, chunk[0][0], str(error))
            return
        middle = len(chunk) // 2
        _send(settings, chunk[:middle], done)
        _send(settings, chunk[middle:], done)
        return
    done.accepted += len(reply["labels"])
    done.matched += sum(bool(label["matched"]) for label in reply["labels"])


def _refuse(done: Outcome, number: int, reason: str) -> None:
    print_text(f"line {number}: {reason}", to=sys.stderr)
    done.refused.append((number, reason))


def _report(done: Outcome, *, as_json: bool) -> None:
    if as_json:
        refused = [{"line": number, "reason": reason} for number, reason in done.refused]
        print(json.dumps({"accepted": done.accepted, "matched": done.matched, "refused": refused}))
        return
    unmatched = done.accepted - done.matched
    waiting = f", {unmatched} of answers that are not stored (yet)" if unmatched else ""
    print(f"{done.accepted} labels stored{waiting}; {len(done.refused)} lines refused")
