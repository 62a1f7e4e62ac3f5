"""The table `root_causes`: reports on why issues happen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragvigil.model.issue import RootCause
from ragvigil.store.engine.batch import Batch, token_of
from ragvigil.store.engine.table import table

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

ROOT_CAUSES = table("root_causes", RootCause)


def batch(report: RootCause, written_unix_nano: int, *, replica: str = "", epoch: int = 0) -> Batch:
    """A batch that stores a report."""
    rows = ROOT_CAUSES.rows([report], written=written_unix_nano, replica=replica, epoch=epoch)
    return Batch(rows={ROOT_CAUSES.name: rows}, token=token_of("root_causes", rows))


def find(store: Store, issue_id: str, *, limit: int = 10) -> list[RootCause]:
    """Reports on one issue, newest first. Raises as `Store.read` does."""
    parameters = {"issue_id": issue_id, "limit": limit}
    return ROOT_CAUSES.read(store, "root_causes_of", parameters)
