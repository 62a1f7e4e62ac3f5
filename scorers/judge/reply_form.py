"""The schema of a reply, built for each question: one verdict for each item.

Verdicts are keys of an object, not members of a list: a provider's strict schema then demands each
by name, a duplicate key is refused, and a missing or unknown one triggers the repair (ADR 10).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model, field_validator

from scorers.judge.prompt import MOST_NUGGETS
from scorers.judge_table import NO_FAILURE, JudgeTable
from scorers.text.normalise import key, words


class ReplyForm(BaseModel):
    """Base of all reply schemas: refuses unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class NuggetReply(ReplyForm):
    """A reply with nuggets that the model found itself; refuses empty and duplicate ones."""

    @field_validator("nuggets", check_fields=False)
    @classmethod
    def _each_once(cls, nuggets: list[Any]) -> list[Any]:
        keys = [key(words(nugget.nugget)) for nugget in nuggets]
        if len(set(keys)) < len(keys) or key(()) in keys:
            raise ValueError("a nugget stands twice or is empty")
        return nuggets


@lru_cache(maxsize=256)
def form_of(table: JudgeTable, names: tuple[str, ...]) -> type[BaseModel]:
    """The schema of a reply about items of these names; without names, with nuggets to find."""
    failure = Literal[(NO_FAILURE, *table.failure_types)]  # type: ignore[valid-type]
    ending: dict[str, Any] = {"failure_type": (failure, ...), "failure_mode": (str, ...)}
    if not names:
        nugget = _verdict(table, nugget=(str, ...), importance=(Literal["vital", "okay"], ...))
        listed = Annotated[list[nugget], Field(min_length=1, max_length=MOST_NUGGETS)]  # type: ignore[valid-type]
        return create_model("Reply", __base__=NuggetReply, nuggets=(listed, ...), **ending)
    verdict = _verdict(table)
    each: dict[str, Any] = dict.fromkeys(names, (verdict, ...))
    verdicts = create_model("Verdicts", __base__=ReplyForm, **each)
    return create_model("Reply", __base__=ReplyForm, verdicts=(verdicts, ...), **ending)


def _verdict(table: JudgeTable, **before: Any) -> type[BaseModel]:
    """The schema of one verdict; the grade comes last, so that the model reasons before it."""
    fields: dict[str, Any] = dict(before)
    if table.quote_from is not None:
        fields["quote"] = (str, ...)
    if table.reasons:
        fields["reason"] = (str, ...)
    fields["grade"] = (_grade([grade.name for grade in table.grades], table.is_numeric), ...)
    return create_model("Verdict", __base__=ReplyForm, **fields)


def _grade(names: Sequence[str], is_numeric: bool) -> Any:
    """The type of a grade: a number in its range, or one of the words.

    A number out of range is invalid; it is not clipped.
    """
    if is_numeric:
        numbers = [int(name) for name in names]
        return Annotated[int, Field(ge=min(numbers), le=max(numbers))]
    return Literal[tuple(names)]
