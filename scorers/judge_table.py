"""The `[judge]` table of a rubric file: what a language model is asked, and what grades are worth.

[judge]
about = "chunks"                      # one verdict for each: chunks, claims, citations, nuggets
shows = ["question", "retrieved"]     # ... or one for the whole answer
instruction = "How well does each passage answer the question?"
aggregation = "mean"
failure_types = ["off_topic"]

[[judge.grades]]                      # the best first
name = "relevant"
means = "the passage answers the question"
value = 1.0

[[judge.grades]]
name = "unrelated"
means = "the passage has nothing to do with it"
value = 0.0
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class About(StrEnum):
    """What each verdict is about."""

    CHUNKS = "chunks"
    CLAIMS = "claims"
    CITATIONS = "citations"
    NUGGETS = "nuggets"
    ANSWER = "answer"


class PromptField(StrEnum):
    """What the model sees beside the items that it judges."""

    QUESTION = "question"
    CONTEXT = "context"
    RETRIEVED = "retrieved"
    ANSWER = "answer"
    REFERENCE = "reference"


class QuoteFrom(StrEnum):
    """Where a quote must be found: in the judged (or cited) chunk, in any chunk shown, ..."""

    ITEM = "item"
    CONTEXT = "context"
    ANSWER = "answer"
    REFERENCE = "reference"


class OnlyWhen(StrEnum):
    """Limits a rubric to records whose answer did not refuse, or that hold an instruction."""

    ANSWERED = "answered"
    INJECTED = "injected"


PLAIN = ("mean", "top_mean")
"""Aggregations of any rubric."""
OF_NUGGETS = ("vital_strict", "vital_lenient", "all", "weighted")
"""Aggregations of nuggets only; all of them are in the details."""
NO_FAILURE = "none"
"""The failure type of a reply without a failure."""


class BadTable(ValueError):
    """A `[judge]` table is wrong; `str(error)` names the key and what is allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """A grade of the scale. `value` (0..1) is None where a verdict with this grade does not count.

    `quote`: a verdict needs a quote as proof. `label`: the grade's name is a label of the score.
    """

    name: str
    means: str
    value: float | None = None
    quote: bool = False
    label: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeTable:
    """What the model is asked, and how its verdicts become a score.

    `grades` are ordered from best to worst: of several verdicts on one item, each from another part
    of the context, the best counts. A verdict whose quote is not found gets the grade
    `without_quote`. `top` is the number of best grades that `top_mean` averages; of retrieved
    chunks no more than reached the prompt.
    `scores_injected`: instructions in chunks are the subject, so they do not withhold the score.
    """

    about: About
    shows: tuple[PromptField, ...]
    instruction: str
    grades: tuple[Grade, ...]
    aggregation: str
    failure_types: tuple[str, ...] = ()
    top: int = 0
    quote_from: QuoteFrom | None = None
    without_quote: str = ""
    reasons: bool = False
    only_when: OnlyWhen | None = None
    empty_context: bool = False
    scores_injected: bool = False

    @property
    def is_numeric(self) -> bool:
        """Whether the grades are whole numbers, such as 1 to 5."""
        return all(grade.name.isdecimal() for grade in self.grades)

    def grade(self, name: str) -> Grade:
        """The grade of this name. Raises KeyError."""
        return {grade.name: grade for grade in self.grades}[name]


def parse_judge_table(raw: object) -> JudgeTable:
    """Parses and checks a `[judge]` table. Raises BadTable."""
    entries = _check_keys(raw, KEYS, REQUIRED)
    grades = tuple(
        Grade(**_check_keys(row, GRADE_KEYS, GRADE_REQUIRED, f"grades[{place}]."))
        for place, row in enumerate(entries["grades"])
    )
    plain: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in entries.items()
    }
    quote_from, only_when = entries.get("quote_from"), entries.get("only_when")
    table = JudgeTable(
        **plain
        | {
            "grades": grades,
            "about": About(entries["about"]),
            "shows": tuple(map(PromptField, entries["shows"])),
            "quote_from": None if quote_from is None else QuoteFrom(quote_from),
            "only_when": None if only_when is None else OnlyWhen(only_when),
        }
    )
    for problem in _contradictions(table):
        raise BadTable(problem)
    return table


def _contradictions(table: JudgeTable) -> list[str]:
    """What is wrong between keys that are valid by themselves."""
    names = [grade.name for grade in table.grades]
    values = [grade.value for grade in table.grades if grade.value is not None]
    unproven = [grade.name for grade in table.grades if not grade.quote]
    quotes = len(unproven) < len(names)
    ways = (*PLAIN, *OF_NUGGETS) if table.about is About.NUGGETS else PLAIN
    per_text = table.about in (About.CHUNKS, About.CLAIMS, About.CITATIONS)
    texts = {PromptField.CONTEXT, PromptField.RETRIEVED} & set(table.shows)
    checks = {
        "grades: two have the same name": len(set(names)) < len(names),
        "grades: at least two need a value": len(values) < 2,
        # Of two verdicts on one item, the grade that comes first counts.
        "grades: the best must stand first": values != sorted(values, reverse=True),
        "grades: whole numbers must follow one another": table.is_numeric and _has_gaps(names),
        f"aggregation: {table.aggregation} is not one of {', '.join(ways)}": (
            table.aggregation not in ways
        ),
        "top: goes with top_mean, and with nothing else": (table.top > 0)
        is not (table.aggregation == "top_mean"),
        "quote_from: goes with grades that have quote = true": (table.quote_from is not None)
        is not quotes,
        f"without_quote: {table.without_quote!r} is not one of {', '.join(unproven)}": quotes
        and table.without_quote not in unproven,
        f"shows: verdicts on {table.about} need context, retrieved or reference": per_text
        and not texts
        and (table.about is not About.CLAIMS or PromptField.REFERENCE not in table.shows),
        "shows: context and retrieved do not go together": len(texts) > 1,
    }
    return [problem for problem, is_so in checks.items() if is_so]


def _has_gaps(names: Sequence[str]) -> bool:
    numbers = sorted(map(int, names))
    return numbers != list(range(numbers[0], numbers[0] + len(numbers)))


Check = Callable[[Any], str | None]


def _anything(_: object) -> str | None:
    return None


def _text(value: object) -> str | None:
    return None if isinstance(value, str) and value.strip() else "is not a text"


def _flag(value: object) -> str | None:
    return None if isinstance(value, bool) else "is not true or false"


def _share(value: object) -> str | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)  # bool is an int
    return None if is_number and 0 <= value <= 1 else "is not between 0 and 1"  # type: ignore[operator]


def _count(value: object) -> str | None:
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 1
    return None if is_count else "is not a whole number of at least 1"


def _name(value: object) -> str | None:
    is_name = isinstance(value, str) and value.isascii() and value.replace("_", "a").isalnum()
    return None if is_name else "is not letters, digits and _ alone"


def _one_of(allowed: type[StrEnum]) -> Check:
    def check(value: object) -> str | None:
        is_one = isinstance(value, str) and value in set(allowed)
        return None if is_one else f"is not one of {', '.join(allowed)}"

    return check


def _list_of(check: Check, *, least: int = 0) -> Check:
    def every(value: object) -> str | None:
        if not isinstance(value, list) or len(value) < least:
            return "is not a list" + (f" of at least {least}" if least else "")
        return next((f"{item!r} {problem}" for item in value if (problem := check(item))), None)

    return every


def _failure(value: object) -> str | None:
    return f"{NO_FAILURE} is always allowed" if value == NO_FAILURE else _name(value)


KEYS: dict[str, Check] = {
    "about": _one_of(About),
    "shows": _list_of(_one_of(PromptField)),
    "instruction": _text,
    "grades": _list_of(_anything, least=2),
    "aggregation": _text,
    "failure_types": _list_of(_failure),
    "top": _count,
    "quote_from": _one_of(QuoteFrom),
    "without_quote": _text,
    "reasons": _flag,
    "only_when": _one_of(OnlyWhen),
    "empty_context": _flag,
    "scores_injected": _flag,
}
REQUIRED = ("about", "shows", "instruction", "grades", "aggregation")
GRADE_KEYS: dict[str, Check] = {
    "name": _name, "means": _text, "value": _share, "quote": _flag, "label": _flag,
}  # fmt: skip
GRADE_REQUIRED = ("name", "means")


def _check_keys(
    raw: object, keys: Mapping[str, Check], required: tuple[str, ...], place: str = ""
) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise BadTable(f"{place.rstrip('.') or 'judge'}: {raw!r} is not a table")
    for key, value in raw.items():
        if key not in keys:
            raise BadTable(f"{place}{key}: there is no such key; allowed: {', '.join(keys)}")
        problem = keys[key](value)
        if problem is not None:
            shown = repr(value)[:80]
            raise BadTable(f"{place}{key}: {shown} {problem}")
    for key in required:
        if key not in raw:
            raise BadTable(f"{place}{key} is missing")
    return raw
