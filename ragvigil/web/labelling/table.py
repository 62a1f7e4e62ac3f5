"""Labels as files: CSV with a heading, or JSON lines, in and out.

In CSV a cell that a spreadsheet would calculate begins with an apostrophe, which is taken off when
the cell is read.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import ValidationError

from ragvigil.model.text import is_same_name
from ragvigil.web.views.labels import LabelForm
from ragvigil.web.views.posts import LabelPost

COLUMNS = (
    "rubric", "trace_id", "record_id", "value", "label", "labeller", "comment", "time", "label_id",
    "source",
)  # fmt: skip
CALCULATED = ("=", "+", "-", "@", "\t", "\r", "\n")
"""First characters of cells that spreadsheets calculate, or look behind for one that they do."""
APOSTROPHE = "'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line of a file: its values, or in `wrong` why it has none."""

    number: int
    row: Mapping[str, Any] = field(default_factory=dict)
    wrong: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadLabel:
    """A line as a label, or in `wrong` why it is none."""

    number: int
    post: LabelPost | None = None
    wrong: str = ""


def labels_of(lines: Iterable[Line], labeller: str) -> Iterator[ReadLabel]:
    """The lines as labels of this labeller; a line that names somebody else is theirs to send."""
    for line in lines:
        if line.wrong:
            yield ReadLabel(number=line.number, wrong=line.wrong)
            continue
        row = {"source": "file", **line.row}
        if not is_same_name(str(row.pop("labeller", labeller)), labeller):
            wrong = f"is a label of somebody else, and you are {labeller}: they import their own"
            yield ReadLabel(number=line.number, wrong=wrong)
            continue
        try:
            yield ReadLabel(number=line.number, post=LabelPost.model_validate(row))
        except ValidationError as error:
            yield ReadLabel(number=line.number, wrong=_sentence(error))


def json_lines(lines: Iterable[bytes]) -> Iterator[Line]:
    """Lines that are JSON objects; empty ones are left out."""
    for number, text in enumerate(lines, start=1):
        if text.strip():
            yield _json_line(number, text)


def csv_lines(text: Iterable[str]) -> Iterator[Line]:
    """Rows under their heading, without empty cells; a row of several lines is named by its last.

    A byte order mark must be off already; `text` has its line ends as they are in the file.
    """
    reader = csv.DictReader(text, strict=True)
    while True:
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield Line(number=reader.line_num, wrong=f"is not CSV: {error}")
            continue
        yield _csv_line(reader.line_num, row)


def to_csv(labels: Iterable[LabelForm]) -> Iterator[str]:
    """The labels as lines of CSV, a heading first; `csv_lines` reads them as they were."""
    sheet = io.StringIO()
    writer = csv.writer(sheet, lineterminator="\r\n")
    writer.writerow(COLUMNS)
    for label in labels:
        writer.writerow([_cell(value) for value in _values(label).values()])
    sheet.seek(0)
    return iter(sheet)


def to_json_lines(labels: Iterable[LabelForm]) -> Iterator[str]:
    """The labels as lines of JSON; `json_lines` reads them as they were."""
    for label in labels:
        row = {name: value for name, value in _values(label).items() if value not in (None, "")}
        yield json.dumps(row, ensure_ascii=False) + "\n"


def _values(label: LabelForm) -> dict[str, Any]:
    written = label.model_dump(mode="json")
    return {name: written["id" if name == "label_id" else name] for name in COLUMNS}


def _cell(value: object) -> str:
    text = "" if value is None else str(value)
    return f"{APOSTROPHE}{text}" if _is_calculated(text) else text


def _read_cell(cell: str) -> str:
    return cell[1:] if cell.startswith(APOSTROPHE) and _is_calculated(cell[1:]) else cell


def _is_calculated(text: str) -> bool:
    """Whether a cell needs an apostrophe, or has lost one that it needs."""
    return text.lstrip(APOSTROPHE).startswith(CALCULATED)


def _json_line(number: int, text: bytes) -> Line:
    try:
        row = json.loads(text)
    except (ValueError, RecursionError) as error:
        return Line(number=number, wrong=f"is not JSON: {error}")
    if not isinstance(row, dict):
        return Line(number=number, wrong="is not an object with rubric, trace_id and value")
    return Line(number=number, row={key: value for key, value in row.items() if value is not None})


def _csv_line(number: int, row: Mapping[str | None, Any]) -> Line:
    if None in row:
        return Line(number=number, wrong="has more cells than the heading")
    cells = {str(name).strip(): cell for name, cell in row.items() if cell and cell.strip()}
    return Line(
        number=number,
        row={
            name: _read_cell(cell if name == "comment" else cell.strip())
            for name, cell in cells.items()
        },
    )


def _sentence(error: ValidationError) -> str:
    """Every wrong value with its name."""
    problems = [(".".join(map(str, each["loc"])), each["msg"]) for each in error.errors()]
    return "; ".join(f"{where}: {text}" if where else text for where, text in problems)
