"""Golden cases: questions with the chunks that contain their answers, one JSON object per line.

    >>> case = parse_case({"question": "How long?", "gold_chunk_ids": ["a", 7]})
    >>> [gold.chunk_id for gold in case.gold]
    ['a', '7']

Keys: `question`, and optionally `gold_chunk_ids`, `gold_texts`, `gold_answer`, `expected_facts`,
`slice` and `query_type`; other keys are ignored. An expected fact is a text, which is vital, or
`{"fact": "...", "importance": "vital" | "okay"}`. If there are as many texts as ids, they are the
texts of these ids, in order; otherwise each id and each text is a gold chunk of its own. A case
without ids and texts has no answer in the corpus.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from scorers.text.normalise import words


class BadGolden(ValueError):
    """A golden file is wrong; `str(error)` names the file, the line and what is wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """A chunk that contains the answer, by its id, its text or both; what is unknown is empty."""

    chunk_id: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A fact that a good answer states; an answer without an `is_vital` fact is wrong."""

    text: str
    is_vital: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question, the chunks that answer it and, where known, the answer and its facts."""

    question: str
    gold: tuple[Gold, ...] = ()
    gold_answer: str = ""
    facts: tuple[Fact, ...] = ()
    slice: str = ""
    query_type: str = ""


def question_key(question: str) -> str:
    """The lookup key of a question: its words, without case, spacing and punctuation.

    >>> question_key("How long  does a REFUND take?") == question_key("how long does a refund take")
    True
    """
    return " ".join(words(question))


def read_golden(path: Path) -> Mapping[str, Case]:
    """Reads the cases of a JSONL file, by `question_key`; skips empty lines. Raises BadGolden."""
    cases: dict[str, Case] = {}
    lines: dict[str, int] = {}
    for number, line in numbered_lines(_text(path)):
        try:
            case = parse_case(_json(line))
            key = question_key(case.question)
            if key in cases:
                raise ValueError(f"question: line {lines[key]} asks the same")
        except ValueError as error:
            raise BadGolden(f"{path}:{number}: {error}") from error
        cases[key], lines[key] = case, number
    if not cases:
        raise BadGolden(f"{path}: holds no case")
    return cases


def numbered_lines(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a JSONL text that are not empty, with their numbers from 1."""
    # Not `splitlines`: a JSON string may contain U+2028, which is no end of a line here.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, line


def parse_case(row: object) -> Case:
    """Parses a case from a line's JSON. Raises ValueError with the key and what is wrong."""
    if not isinstance(row, dict):
        raise ValueError("is not a JSON object")
    question = _optional(row, "question")
    if not question_key(question):
        raise ValueError("question: is missing or has no words")
    return Case(
        question=question,
        gold=_gold(_ids(row), _texts(row)),
        gold_answer=_optional(row, "gold_answer"),
        facts=tuple(map(_fact, _listed(row, "expected_facts"))),
        slice=_optional(row, "slice"),
        query_type=_optional(row, "query_type"),
    )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")  # some editors write a byte order mark
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise BadGolden(f"{path}:{line}: is not UTF-8") from error
    except (OSError, ValueError) as error:
        raise BadGolden(f"{path} is not a file that can be read") from error


def _json(line: str) -> object:
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise ValueError(f"is not JSON: {error}") from error


def _gold(ids: list[str], texts: list[str]) -> tuple[Gold, ...]:
    if len(ids) == len(texts):
        pairs = zip(ids, texts, strict=True)
        gold = [Gold(chunk_id=name, text=text) for name, text in pairs]
    else:
        gold = [*(Gold(chunk_id=name) for name in ids), *(Gold(text=text) for text in texts)]
    return tuple(dict.fromkeys(gold))


def _ids(row: Mapping[str, Any]) -> list[str]:
    ids = []
    for item in _listed(row, "gold_chunk_ids"):
        if isinstance(item, bool) or not isinstance(item, str | int) or not str(item).strip():
            raise ValueError(f"gold_chunk_ids: {item!r} is not an id, a text or a whole number")
        ids.append(str(item).strip())
    return ids


def _texts(row: Mapping[str, Any]) -> list[str]:
    texts = []
    for item in _listed(row, "gold_texts"):
        if not isinstance(item, str) or not words(item):
            raise ValueError(f"gold_texts: {item!r} is not a text with words")
        texts.append(item)
    return texts


def _fact(item: object) -> Fact:
    fields = item if isinstance(item, dict) else {"fact": item}
    text, importance = fields.get("fact"), fields.get("importance", "vital")
    if not isinstance(text, str) or not words(text):
        raise ValueError(f"expected_facts: {item!r} has no fact with words")
    if importance not in ("vital", "okay"):
        raise ValueError(f"expected_facts: importance: {importance!r} is not vital or okay")
    return Fact(text=text, is_vital=importance == "vital")


def _listed(row: Mapping[str, Any], key: str) -> list[object]:
    value = row.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise ValueError(f"{key}: {value!r} is not a list")
    return value


def _optional(row: Mapping[str, Any], key: str) -> str:
    value = row.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise ValueError(f"{key}: {value!r} is not a text")
    return value
