"""Rubrics that people made live while the daemon ran, and the records that they have not scored."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragvigil.store.engine.batch import Batch, token_of
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.table import table

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store
    from ragvigil.store.scores.judged import Key


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptedRubric:
    """A rubric that a person accepted; `text` is its file.

    `issue_id` is the issue that it guards, empty for none; `sentence` is what it was drafted from.
    """

    name: str
    text: str
    accepted_by: str
    accepted_unix_nano: int
    issue_id: str = ""
    sentence: str = ""
    is_removed: bool = False
    removed_by: str = ""


ACCEPTED = table("accepted_rubrics", AcceptedRubric)


def write(store: Store, rubric: AcceptedRubric, now: int) -> None:
    """Stores an accepted rubric (`now` in nanoseconds); returns when it is durable."""
    rows = ACCEPTED.rows([rubric], written=now, replica=store.replica, epoch=store.epoch)
    store.write(Batch(rows={ACCEPTED.name: rows}, token=token_of("accepted_rubrics", rows)))


def find(
    store: Store, *, with_removed: bool = False, priority: Priority = Priority.PAGE
) -> list[AcceptedRubric]:
    """The accepted rubrics, the newest first. Raises as `Store.read` does."""
    parameters = {"with_removed": int(with_removed)}
    return ACCEPTED.read(store, "accepted_rubrics_find", parameters, priority=priority)


def written_before(store: Store, before: int) -> list[AcceptedRubric]:
    """The live rubrics whose rows are older than that (seconds). Raises as `Store.read` does."""
    return ACCEPTED.read(store, "accepted_rubrics_old", {"before": before})


def unscored(
    store: Store, minutes: Collection[int], rubrics: Sequence[str], limit: int
) -> list[Key]:
    """Live records of these minutes (seconds) that lack a score by one of the rubrics.

    Oldest first, at most `limit`. Raises as `Store.read` does.
    """
    if not minutes or not rubrics:
        return []
    parameters = {"minutes": sorted(minutes), "rubrics": sorted(rubrics), "limit": limit}
    rows = store.read("records_unscored", parameters, priority=Priority.TICK)
    return [(row["trace_id"], row["record_id"]) for row in rows]
