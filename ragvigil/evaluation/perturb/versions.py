"""Two dated versions of a gold chunk in one context, which differ in one fact. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, timedelta
from random import Random

from ragvigil.evaluation.perturb.counterfactual import Change, change_of
from ragvigil.evaluation.perturb.facts import is_gone
from ragvigil.evaluation.perturb.source import NotPossible, Source
from scorers.golden import Gold

FIRST_DAY, DAYS = date(2015, 1, 1), 1500
APART = 400
"""Days between two versions: nobody takes them for one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Versions:
    """The context with both versions of one chunk, and what tells them apart."""

    context: tuple[Gold, ...]
    change: Change
    older: Gold
    newer: Gold


def two_versions(source: Source, chance: Random, *, is_newer_changed: bool) -> Versions:
    """Puts a dated second version of a gold chunk into the context. Raises NotPossible.

    The fact that differs is in no other chunk, so that the dates alone say what holds.
    """
    change = change_of(source, chance)
    if change is None:
        raise NotPossible(
            "no number or name that an answer cannot leave out can be changed everywhere"
        )
    having = [chunk for chunk in source.context if not is_gone(change.new, chunk.text)]
    if len(having) != 1:
        raise NotPossible("several chunks state the fact that would differ")
    chunk = having[0]
    day = FIRST_DAY + timedelta(days=chance.randrange(DAYS))
    texts = (chunk.text, change.of(chunk.text))
    old_text, new_text = texts if is_newer_changed else reversed(texts)
    older = _dated(chunk, old_text, day)
    newer = _dated(chunk, new_text, day + timedelta(days=APART + chance.randrange(DAYS)))
    pair = [older, newer]
    chance.shuffle(pair)
    place = source.context.index(chunk)
    context = (*source.context[:place], *pair, *source.context[place + 1 :])
    return Versions(context=context, change=change, older=older, newer=newer)


def _dated(chunk: Gold, text: str, day: date) -> Gold:
    return replace(
        chunk,
        chunk_id=f"{chunk.chunk_id}@{day:%Y-%m-%d}" if chunk.chunk_id else "",
        text=f"Last updated: {day:%Y-%m-%d}\n{text}",
    )
