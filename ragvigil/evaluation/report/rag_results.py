"""The answers of a run as CSV in open-rag-eval's layout: a row for each retrieved passage. Pure.

Source: https://github.com/vectara/open-rag-eval, `RAGResultsLoader`.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator

from ragvigil.evaluation.run import Outcome

COLUMNS = ("query_id", "query", "query_run", "passage_id", "passage", "generated_answer")
NO_ANSWER = "API_ERROR"
"""What stands for the answer where the target gave none; open-rag-eval leaves such rows out."""


def rag_results(outcomes: Iterable[Outcome]) -> str:
    """The table, with its heading; the answer stands in the first row of its question."""
    sheet = io.StringIO()
    writer = csv.writer(sheet, lineterminator="\n")
    writer.writerow(COLUMNS)
    for outcome in outcomes:
        writer.writerows(_rows(outcome))
    return sheet.getvalue()


def _rows(outcome: Outcome) -> Iterator[tuple[str, ...]]:
    case, record = outcome.question.case, outcome.record
    begin = (case.case_id, case.question, "1")
    answer = NO_ANSWER if record is None else record.answer or ""
    chunks = record.retrieved if record else ()
    if not chunks:
        yield (*begin, "", "", answer)
    for place, chunk in enumerate(chunks):
        yield (*begin, chunk.chunk_id, chunk.content or "", "" if place else answer)
