"""Golden cases as CSV in open-rag-eval's layout: `query_id,query,expected_answer`.

Source: https://github.com/vectara/open-rag-eval, `config_examples/eval_config_golden_answer.yaml`.
The layout has no columns for facts, chunks, tags and signatures.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Any

from clustering.golden.case import BadCase
from ragvigil.model.golden import GoldenCase

# A byte order mark, which spreadsheets write, would be part of the first column's name.
BOM = "\ufeff"
COLUMNS = {"query_id": "case_id", "query": "question", "expected_answer": "gold_answer"}


def to_csv(cases: Iterable[GoldenCase]) -> str:
    """Writes the cases as CSV with a heading; a case without an answer has an empty cell."""
    sheet = io.StringIO()
    writer = csv.writer(sheet, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows([case.case_id, case.question, case.gold_answer] for case in cases)
    return sheet.getvalue()


def from_csv(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yields line number and object of every row, with a case's keys; other columns stay as is.

    The number of a row of several lines is that of its last. Raises BadCase for any other table.
    """
    reader = csv.DictReader(io.StringIO(text.removeprefix(BOM), newline=""), strict=True)
    try:
        names = [name.strip() for name in reader.fieldnames or ()]
        if "query" not in names:
            raise BadCase("line 1: the heading has no column query")
        reader.fieldnames = names
        for row in reader:
            if None in row:
                raise BadCase(f"line {reader.line_num}: has more cells than the heading")
            cells = {COLUMNS.get(name, name): cell for name, cell in row.items() if cell}
            if cells:
                yield reader.line_num, cells
    except csv.Error as error:
        raise BadCase(f"line {reader.line_num}: is not CSV: {error}") from error
