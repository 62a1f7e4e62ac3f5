"""Answers that people may be asked to label, in the order of a salted hash."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

Key: TypeAlias = tuple[str, str]
"""Trace id and record id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateFilter:
    """Which answers, since a time in seconds since the epoch; an empty filter is none.

    `judged`: those that a judge of `rubric` judged in its uniform sample. `suspicious`: those that
    failed any rubric, or were judged because they looked wrong. `share` (0..1) of them is drawn:
    a smaller share lies inside a larger one. Another `salt` draws others.
    """

    drawn_from: Literal["judged", "suspicious", "all"]
    rubric: str = ""
    service: str = ""
    route: str = ""
    label: str = ""
    since: int = 0
    share: float = 1.0
    salt: str = ""
    limit: int = 2000


def find(store: Store, filter_: CandidateFilter) -> list[Key]:
    """The answers drawn, always in the same order."""
    rows = store.read("label_candidates", asdict(filter_))
    return [(row["trace_id"], row["record_id"]) for row in rows]
