"""Reads the text of a reply strictly: an answer in the form that was asked for, or a setback."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

from pydantic import ValidationError

from ragvigil.llm.outcome import Answer, FailureKind, Setback

FENCED = re.compile(r"\s*```(?:json)?[ \t]*\r?\n(.*)\n[ \t]*```\s*", re.DOTALL | re.IGNORECASE)
"""A reply that is one code block and nothing else."""
OUT_OF_RANGE = {
    "finite_number", "greater_than", "greater_than_equal", "less_than", "less_than_equal",
    "multiple_of",
}  # fmt: skip
MOST_PROBLEMS = 5
"""Problems that a repair prompt names; the others usually follow from the first."""


class _NotFinite(ValueError):
    pass


class _Twice(ValueError):
    pass


def unfenced(text: str) -> str:
    r"""The reply without the code block around it, if there is one.

    >>> unfenced("```json\n{}\n```")
    '{}'
    """
    fenced = FENCED.fullmatch(text)
    return fenced.group(1) if fenced else text.strip()


def read_reply(text: str, form: type[Answer]) -> Answer | Setback:
    """The answer in `form`, or a setback: UNPARSEABLE and OTHER_WORDS ask for a repair.

    The reply must be one JSON value with each key once; types are not coerced. A number that is
    out of range or not finite is INVALID. The detail of a setback names places and rules, never
    values of the reply.
    """
    bare = unfenced(text)
    try:
        json.loads(bare, object_pairs_hook=_once, parse_constant=_refused, parse_float=_finite)
        return form.model_validate_json(bare, strict=True)
    except _NotFinite:
        return Setback(kind=FailureKind.INVALID, detail="a number is not finite")
    except _Twice:
        return _unparseable("a key stands twice in an object")
    except ValidationError as error:
        return _misreading(error)
    except (ValueError, RecursionError):
        return _unparseable("the reply is not one JSON value")


def _misreading(error: ValidationError) -> Setback:
    problems = error.errors(include_input=False, include_url=False, include_context=False)
    invalid = [problem for problem in problems if problem["type"] in OUT_OF_RANGE]
    named = "; ".join(
        f"{'.'.join(map(str, problem['loc']))[:80] or 'the reply'}: {problem['type']}"
        for problem in (invalid or problems)[:MOST_PROBLEMS]
    )
    if invalid:
        return Setback(kind=FailureKind.INVALID, detail=named)
    if all(problem["type"] == "literal_error" for problem in problems):
        return Setback(kind=FailureKind.OTHER_WORDS, detail=named, passes=True)
    return _unparseable(named)


def _unparseable(detail: str) -> Setback:
    return Setback(kind=FailureKind.UNPARSEABLE, detail=detail, passes=True)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    mapping = dict(pairs)
    if len(mapping) < len(pairs):
        raise _Twice
    return mapping


def _refused(_: str) -> NoReturn:
    raise _NotFinite


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise _NotFinite
    return number
