"""Golden cases as lines of a file: one JSON object each, which scorers read too.

    >>> line(GoldenCase(case_id="c1", question="How long?", tags=("edge",)))
    '{"case_id": "c1", "question": "How long?", "tags": ["edge"], "slice": "edge", ...}'
    >>> parse({"question": "How long?", "expected_facts": ["5 days"], "owner": "ada"}).more
    {'owner': 'ada'}

`slice` is the first tag. Empty values are left out; unknown keys are kept as they came. A case
without `query_type` was written by hand and counts as canonical.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ragvigil.model.golden import CaseState, ExpectedFact, GoldenCase, QueryType

TEXTS = ("case_id", "question", "gold_answer", "failure_mode", "service", "environment", "route")
SOURCES = ("trace_id", "record_id", "issue_id")
SIGNATURE = ("proposed_by", "approved_by", "content_hash")
TIMES = ("proposed_unix_nano", "approved_unix_nano")
LISTS = ("gold_chunk_ids", "gold_texts", "tags", "edited_by")
OURS = {*TEXTS, *SOURCES, *SIGNATURE, *TIMES, *LISTS} | {
    "slice", "query_type", "expected_facts", "revision", "state"
}  # fmt: skip


class BadCase(ValueError):
    """The input is not a golden case; `str(error)` names the key and what is wrong."""


def as_json(case: GoldenCase) -> dict[str, Any]:
    """The object of a case's line. It has no state: a line of the file is signed."""
    written: dict[str, Any] = {
        "case_id": case.case_id,
        "question": case.question,
        "gold_chunk_ids": list(case.gold_chunk_ids),
        "gold_texts": list(case.gold_texts),
        "gold_answer": case.gold_answer,
        "expected_facts": [_fact_json(fact) for fact in case.expected_facts],
        "tags": list(case.tags),
        "slice": case.tags[0] if case.tags else "",
        "query_type": case.query_type.value,
        **{name: getattr(case, name) for name in TEXTS[3:]},
        **{name: getattr(case, name) for name in SOURCES},
        "revision": case.revision,
        **{name: getattr(case, name) for name in ("proposed_by", "proposed_unix_nano")},
        "edited_by": list(case.edited_by),
        **{name: getattr(case, name) for name in ("approved_by", "approved_unix_nano")},
        "content_hash": case.content_hash,
    }
    return {name: value for name, value in written.items() if value} | dict(case.more)


def line(case: GoldenCase) -> str:
    """The case as one line of JSON, without the line break."""
    return json.dumps(as_json(case), ensure_ascii=False)


def parse(written: object) -> GoldenCase:
    """Reads the object of a line; the case's state is PROPOSED. Raises BadCase."""
    if not isinstance(written, Mapping):
        raise BadCase("is not a JSON object")
    tags = _texts(written, "tags")
    first = _text(written, "slice")
    if first and first not in tags:
        tags = (first, *tags)
    plain: dict[str, Any] = {name: _text(written, name) for name in (*TEXTS, *SOURCES, *SIGNATURE)}
    plain |= {name: _whole(written, name) for name in (*TIMES, "revision")}
    return GoldenCase(
        **plain,
        gold_chunk_ids=_ids(written),
        gold_texts=_texts(written, "gold_texts"),
        edited_by=_texts(written, "edited_by"),
        expected_facts=tuple(map(_fact, _list(written, "expected_facts"))),
        tags=tags,
        query_type=_query_type(_text(written, "query_type")),
        state=CaseState.PROPOSED,
        more={
            str(key): _unknown_value(key, value)
            for key, value in written.items()
            if key not in OURS
        },
    )


def _fact_json(fact: ExpectedFact) -> object:
    return fact.text if fact.is_vital else {"fact": fact.text, "importance": "okay"}


def _fact(item: object) -> ExpectedFact:
    given = item if isinstance(item, Mapping) else {"fact": item}
    text, importance = given.get("fact"), given.get("importance", "vital")
    if not isinstance(text, str) or not text.strip():
        raise BadCase(f"expected_facts: {item!r} has no fact")
    if importance not in ("vital", "okay"):
        raise BadCase(f"expected_facts: importance: {importance!r} is not vital or okay")
    return ExpectedFact(text=text, is_vital=importance == "vital")


def _query_type(name: str) -> QueryType:
    try:
        return QueryType(name or QueryType.CANONICAL)
    except ValueError as error:
        types = ", ".join(QueryType)
        raise BadCase(f"query_type: {name!r} is not one of {types}") from error


def _ids(written: Mapping[str, Any]) -> tuple[str, ...]:
    """Chunk ids as texts; whole numbers, which imported files have, are accepted."""
    ids = _list(written, "gold_chunk_ids")
    for item in ids:
        if isinstance(item, bool) or not isinstance(item, str | int) or not str(item).strip():
            raise BadCase(f"gold_chunk_ids: {item!r} is not an id")
    return tuple(str(item).strip() for item in ids)


def _texts(written: Mapping[str, Any], key: str) -> tuple[str, ...]:
    texts = _list(written, key)
    for item in texts:
        if not isinstance(item, str) or not item.strip():
            raise BadCase(f"{key}: {item!r} is not a text")
    return tuple(map(str, texts))


def _list(written: Mapping[str, Any], key: str) -> Sequence[object]:
    value = written.get(key)
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        raise BadCase(f"{key}: {value!r} is not a list")
    return value


def _text(written: Mapping[str, Any], key: str) -> str:
    value = written.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadCase(f"{key}: {value!r} is not a text")
    return value


def _whole(written: Mapping[str, Any], key: str) -> int:
    value = written.get(key, 0)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise BadCase(f"{key}: {value!r} is not a whole number")
    return value


def _unknown_value(key: object, value: object) -> object:
    """The value of an unknown key; it must come back from JSON unchanged."""
    try:
        if json.loads(json.dumps(value, allow_nan=False)) == value:
            return value
    except (TypeError, ValueError, RecursionError) as error:
        raise BadCase(f"{key}: cannot be kept: {error}") from error
    raise BadCase(f"{key}: cannot be kept as JSON")
