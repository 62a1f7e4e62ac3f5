"""A file of recorded answers as a target: nothing is asked, what was answered is scored.

A line of JSONL is what a URL would reply, with `case_id` or `question` beside it. A CSV has the
columns of open-rag-eval, Ragas or DeepEval.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ragvigil.evaluation.target.csv_tables import BadTable, recorded_rows
from ragvigil.evaluation.target.reply import Asked, NoAnswer, plain_paths, record_of
from ragvigil.evaluation.target.wrong import BadTarget
from ragvigil.model.record import RagRecord
from scorers.golden import numbered_lines, question_key


class RecordedTarget:
    """Answers a case by its id, else by its question. Raises BadTarget where the file is wrong."""

    takes_context, is_recorded = False, True

    def __init__(self, path: Path) -> None:
        self.name = str(path)
        self._replies: dict[str, Any] = {}
        for place, row in _rows(path):
            self._take(f"{path}:{place}", row)

    def reply(self, asked: Asked, context: Sequence[str] | None) -> Any:
        """The recorded reply. Raises NoAnswer where the file has none."""
        del context  # what was recorded took none
        for key in (_id_key(asked.case_id), question_key(asked.question)):
            if key in self._replies:
                return self._replies[key]
        raise NoAnswer("the file has no answer to it")

    def record(self, asked: Asked, reply: object) -> RagRecord:
        """What the reply shows. Raises NoAnswer."""
        return record_of(asked, reply, plain_paths(reply))

    def _take(self, place: str, row: Mapping[str, Any]) -> None:
        name, question = row.get("case_id"), row.get("question")
        keys = [
            *([_id_key(name)] if isinstance(name, str) and name else []),
            *([question_key(question)] if isinstance(question, str) and question else []),
        ]
        if not keys:
            raise BadTarget(f"{place}: has neither case_id nor question")
        if keys[0] in self._replies:
            raise BadTarget(f"{place}: {name or question!r} is answered twice")
        for key in keys:
            self._replies.setdefault(key, row)


def _id_key(case_id: str) -> str:
    return f"id {case_id}"


def _rows(path: Path) -> list[tuple[int, Mapping[str, Any]]]:
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise BadTarget(
            f"{path} is neither a URL, module:function, nor a file that can be read"
        ) from error
    try:
        return recorded_rows(text) if path.suffix == ".csv" else _lines(path, text)
    except BadTable as error:
        raise BadTarget(f"{path}: {error}") from error


def _lines(path: Path, text: str) -> list[tuple[int, Mapping[str, Any]]]:
    rows: list[tuple[int, Mapping[str, Any]]] = []
    for number, line in numbered_lines(text):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BadTarget(f"{path}:{number}: is not JSON: {error}") from error
        if not isinstance(row, dict):
            raise BadTarget(f"{path}:{number}: is not a JSON object")
        rows.append((number, row))
    return rows
