"""Tables of other evaluation tools: their columns, read as keys of a golden case or of a reply.

| tool | question | expected answer | gold texts | recorded answer | retrieved texts |
|---|---|---|---|---|---|
| open-rag-eval | `query` | `expected_answer` | | `generated_answer` | `passage`, a row each |
| Ragas | `user_input` | `reference` | `reference_contexts` | `response` | `retrieved_contexts` |
| Ragas until 0.1 | `question` | `ground_truth` | | `answer` | `contexts` |
| DeepEval | `input` | `expected_output` | `context` | `actual_output` | `retrieval_context` |

Sources: open-rag-eval's `config_examples` and `RAGResultsLoader`, Ragas' `SingleTurnSample`,
DeepEval's `EvaluationDataset.add_test_cases_from_csv_file`. A list of texts is a list in JSON or
Python, or texts joined by `|` or `;`.
"""

from __future__ import annotations

import ast
import csv
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any

IDS = ("query_id", "case_id", "id")
QUESTIONS = ("query", "user_input", "question", "input")
EXPECTED = ("expected_answer", "reference", "ground_truth", "expected_output", "gold_answer")
GOLD = ("reference_contexts", "context", "gold_texts")
RECORDED = ("generated_answer", "response", "actual_output", "answer")
RETRIEVED = ("retrieved_contexts", "contexts", "retrieval_context")
TAGS = ("tags",)


class BadTable(ValueError):
    """A table cannot be read; `str(error)` names the line and what is wrong."""


def case_rows(text: str) -> list[tuple[int, dict[str, Any]]]:
    """Line number and object of every row, with the keys of a golden case. Raises BadTable."""
    return [
        (
            number,
            _known(
                case_id=_first(row, IDS),
                question=_question(number, row),
                gold_answer=_first(row, EXPECTED),
                gold_texts=_texts(_first(row, GOLD)),
                tags=_texts(_first(row, TAGS)),
            ),
        )
        for number, row in _rows(text)
    ]


def recorded_rows(text: str) -> list[tuple[int, Mapping[str, Any]]]:
    """Line number and object of every recorded reply. Raises BadTable.

    In open-rag-eval's layout a reply has a row for each of its passages, which stand together.
    """
    replies: list[tuple[int, dict[str, Any]]] = []
    for number, row in _rows(text):
        name, question = _first(row, IDS), _question(number, row)
        if "passage" in row and replies and _is_same(replies[-1][1], name, question):
            _add_passage(replies[-1][1], row)
            continue
        answer = _first(row, RECORDED)
        if not answer:
            raise BadTable(f"line {number}: has no answer in {', '.join(RECORDED)}")
        reply = _known(case_id=name, question=question, answer=answer)
        if "passage" in row:
            _add_passage(reply, row)
        elif any(column in row for column in RETRIEVED):
            reply["chunk_texts"] = _texts(_first(row, RETRIEVED))
        replies.append((number, reply))
    return [*replies]


def _is_same(reply: Mapping[str, Any], name: str, question: str) -> bool:
    return (reply.get("case_id", ""), reply["question"]) == (name, question)


def _add_passage(reply: dict[str, Any], row: Mapping[str, str]) -> None:
    if row["passage"]:
        reply.setdefault("chunk_texts", []).append(row["passage"])
        reply.setdefault("chunk_ids", []).append(row.get("passage_id", ""))


def _rows(text: str) -> Iterator[tuple[int, Mapping[str, str]]]:
    reader = csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline=""), strict=True)
    try:
        reader.fieldnames = [name.strip() for name in reader.fieldnames or ()]
        if not set(reader.fieldnames) & set(QUESTIONS):
            raise BadTable(f"line 1: the heading has no column {', '.join(QUESTIONS)}")
        for row in reader:
            if None in row:
                raise BadTable(f"line {reader.line_num}: has more cells than the heading")
            if any(row.values()):
                yield reader.line_num, {name: cell or "" for name, cell in row.items()}
    except csv.Error as error:
        raise BadTable(f"line {reader.line_num}: is not CSV: {error}") from error


def _first(row: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((row[name] for name in names if row.get(name)), "")


def _question(number: int, row: Mapping[str, str]) -> str:
    question = _first(row, QUESTIONS)
    if not question.strip():
        raise BadTable(f"line {number}: has no question")
    return question


def _known(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value}


def _texts(cell: str) -> list[str]:
    """The texts of a cell.

    >>> _texts('["a; b", "c"]'), _texts("['a', 'c']"), _texts("a|c"), _texts("")
    (['a; b', 'c'], ['a', 'c'], ['a', 'c'], [])
    """
    cell = cell.strip()
    if cell.startswith("["):
        for parse in (json.loads, ast.literal_eval):
            try:
                return [str(each) for each in parse(cell) if str(each).strip()]
            except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
                continue
    mark = "|" if "|" in cell else ";"
    return [part.strip() for part in cell.split(mark) if part.strip()]
