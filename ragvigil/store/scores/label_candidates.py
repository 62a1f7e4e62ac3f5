"""Answers that people may be asked to label, in the order of a salted hash."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from ragvigil.store.engine.kept import SLOW_SECONDS

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

ROWS_EACH = 30
"""More rows than an answer has: of each rubric, scorer and judge one."""

Key: TypeAlias = tuple[str, str]
"""Trace id and record id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateFilter:
    """Which answers, since a time in seconds since the epoch; an empty filter is none.

    `judged`: those that a judge of `rubric` judged in its uniform sample. `suspicious`: those that
    failed any rubric, or were judged because they looked wrong. `label`: one of these scores has
    it, or where all are drawn from, any score. `share` (0..1) of them is drawn: a smaller share
    lies inside a larger one. Another `salt` draws others.
    """

    drawn_from: Literal["judged", "suspicious", "all"]
    rubric: str = ""
    service: str = ""
    route: str = ""
    label: str = ""
    since: int = 0
    share: float = 1.0
    salt: str = ""
    limit: int = 100


def find(store: Store, filter_: CandidateFilter) -> list[Key]:
    """The answers drawn, always in the same order."""
    key = ("candidates", replace(filter_, since=store.kept.moving(filter_.since)))
    return store.kept.of(key, lambda: _find(store, filter_), lasts=True, new_seconds=SLOW_SECONDS)


def _find(store: Store, filter_: CandidateFilter) -> list[Key]:
    parameters = {**asdict(filter_), "rows": filter_.limit * ROWS_EACH}
    if filter_.drawn_from == "all":
        name = "label_candidates" if filter_.label else "label_candidates_all"
        rows = store.read(name, {**parameters, "drawn_from": "scored"})
    else:
        rows = store.read("label_candidates", parameters)
    return [(row["trace_id"], row["record_id"]) for row in rows]
