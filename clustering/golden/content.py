"""The content of a case that a signature covers: its hash, its texts, and what it lacks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from clustering.golden.case import SIGNATURE, TIMES, as_json
from ragvigil.model.golden import GoldenCase

Normalise: TypeAlias = Callable[[str], str]
"""Removes case, spacing and punctuation of a question, as scorers do to look cases up."""
NO_ANSWER = "no_answer"
"""The failure mode of a question that the corpus does not answer; it needs no gold."""
MOST_CHARACTERS = 20_000
NOT_CONTENT = {*SIGNATURE, *TIMES, "edited_by", "revision"}


def content_of(case: GoldenCase) -> dict[str, Any]:
    """The case's line without authors, signatures and times."""
    return {name: value for name, value in as_json(case).items() if name not in NOT_CONTENT}


def content_hash(case: GoldenCase) -> str:
    """SHA-256 of the content, in hex; neither the order of keys nor their spacing changes it."""
    text = json.dumps(content_of(case), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def texts_of(case: GoldenCase) -> Iterator[str]:
    """Every text that people or services wrote into the case; ids are left out."""
    names = {"trace_id", "record_id", "issue_id", "case_id"}
    yield from _strings({key: value for key, value in content_of(case).items() if key not in names})


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)


def lacks(case: GoldenCase, normalise: Normalise) -> Iterator[str]:
    """Yields the reasons why the case cannot be signed, a sentence each."""
    if not normalise(case.question):
        yield "question: is missing or has no words"
    has_gold = case.gold_chunk_ids or case.gold_texts or case.gold_answer or case.expected_facts
    if not has_gold and case.failure_mode != NO_ANSWER:
        yield (
            "nothing says what a good answer needs: give expected facts, gold chunks or an answer, "
            f"or the failure mode {NO_ANSWER}"
        )
    for name, texts in (
        ("expected_facts", [fact.text for fact in case.expected_facts]),
        ("gold_texts", case.gold_texts),
    ):
        if any(not normalise(text) for text in texts):
            yield f"{name}: one has no words"
    yield from _unstorable(case)


def _unstorable(case: GoldenCase) -> Iterator[str]:
    for text in texts_of(case):
        if len(text) > MOST_CHARACTERS:
            yield f"{text[:40]!r}… is longer than {MOST_CHARACTERS} characters"
        if "\x00" in text or not _is_unicode(text):
            yield f"{text[:40]!r} holds what is no text"


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
