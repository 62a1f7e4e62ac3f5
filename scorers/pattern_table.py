"""The `[pattern]` table of a rubric file: a pattern by which code fails an answer.

[pattern]
in = "answer"                         # or question, context
matches = '(?i)as\\s+an\\s+ai'          # RE2's syntax: no look-around, no back-references
fails = "matches"                     # or "lacks": an answer without it fails
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any

from ragvigil.model.record import RagRecord
from scorers.text.patterns import compile_pattern, encodable

MOST_CHARACTERS = 2000


class BadPattern(ValueError):
    """A `[pattern]` table is wrong; `str(error)` names the key and what is allowed."""


class PatternField(StrEnum):
    """The text that is searched."""

    ANSWER = "answer"
    QUESTION = "question"
    CONTEXT = "context"


class FailsWhere(StrEnum):
    """Whether a match fails a record, or the lack of one. Also the label of those that fail."""

    MATCHES = "matches"
    LACKS = "lacks"


NEEDS: Mapping[PatternField, tuple[str, ...]] = {
    PatternField.ANSWER: ("answer",),
    PatternField.QUESTION: ("query",),
    PatternField.CONTEXT: ("context", "document_texts"),
}
"""The fields of a record that a pattern in each of the texts needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternTable:
    """A pattern in RE2's syntax, the text that it searches, and when a record fails by it."""

    field: PatternField
    matches: str
    fails: FailsWhere = FailsWhere.MATCHES

    def fails_on(self, text: str) -> bool:
        """Whether a record with this text fails."""
        found = bool(_compiled(self.matches).search(encodable(text)))
        return found is (self.fails is FailsWhere.MATCHES)


def parse_pattern_table(raw: object) -> PatternTable:
    """Parses and checks a `[pattern]` table.

    >>> parse_pattern_table({"in": "answer", "matches": "(a)\\\\1"})
    Traceback (most recent call last):
    ...
    scorers.pattern_table.BadPattern: matches: is not RE2: invalid escape sequence: \\1

    Raises BadPattern.
    """
    if not isinstance(raw, dict):
        raise BadPattern(f"{raw!r} is not a table")
    for key in raw:
        if key not in ("in", "matches", "fails"):
            raise BadPattern(f"{key}: there is no such key; allowed: in, matches, fails")
    for key in ("in", "matches"):
        if key not in raw:
            raise BadPattern(f"{key} is missing")
    field = _one_of(PatternField, "in", raw["in"])
    fails = _one_of(FailsWhere, "fails", raw.get("fails", FailsWhere.MATCHES))
    pattern = raw["matches"]
    if not isinstance(pattern, str) or not 0 < len(pattern) <= MOST_CHARACTERS:
        raise BadPattern(f"matches: is not a text of 1 to {MOST_CHARACTERS} characters")
    table = PatternTable(field=PatternField(field), matches=pattern, fails=FailsWhere(fails))
    if _matches_nothing(pattern):
        raise BadPattern("matches: finds the empty text, so it would match every text")
    return table


def text_of(record: RagRecord, field: PatternField) -> str | None:
    """The text of a record that a pattern searches; chunks are joined by line breaks.

    None where there is none: the request failed, or nothing was asked or answered.
    """
    if record.error is not None:
        return None
    if field is PatternField.ANSWER:
        return record.answer
    if field is PatternField.QUESTION:
        return record.query
    texts = [chunk.content for chunk in record.context if chunk.content]
    return "\n".join(texts) if texts else None


@lru_cache(maxsize=256)  # bounded: the search for a guard tries patterns that nobody keeps
def _compiled(pattern: str) -> Any:
    return compile_pattern(pattern)


def _matches_nothing(pattern: str) -> bool:
    """Whether a pattern finds the empty text. Raises BadPattern where RE2 does not know it."""
    import re2

    try:
        return bool(_compiled(pattern).search(""))
    except re2.error as error:
        words = error.args[0] if error.args else ""
        said = words.decode("utf-8", "replace") if isinstance(words, bytes) else str(words)
        raise BadPattern(f"matches: is not RE2: {said}") from error


def _one_of(kind: type[StrEnum], key: str, value: object) -> str:
    if not isinstance(value, str) or value not in set(kind):
        raise BadPattern(f"{key}: {value} is not one of {', '.join(kind)}")
    return value
