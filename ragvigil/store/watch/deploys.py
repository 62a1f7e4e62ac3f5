"""Marks of what changed and when: the table `deploys`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ragvigil.model.deploy import Deploy
from ragvigil.store.engine.batch import Batch, token_of
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.table import table

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

MOST_MARKS = 1000
DEPLOYS = table("deploys", Deploy)


def batch(
    deploys: Sequence[Deploy], received_unix_nano: int, *, replica: str = "", epoch: int = 0
) -> Batch:
    """A batch that stores these marks."""
    rows = DEPLOYS.rows(deploys, received=received_unix_nano, replica=replica, epoch=epoch)
    return Batch(rows={DEPLOYS.name: rows}, token=token_of("deploys", rows))


def find(
    store: Store,
    *,
    service: str = "",
    since: int = 0,
    limit: int = 1000,
    priority: Priority = Priority.PAGE,
) -> list[Deploy]:
    """Marks since a time (seconds since the epoch), newest first; an empty service is all."""
    parameters = {"service": service, "since": since, "limit": limit}
    return DEPLOYS.read(store, "deploys", parameters, priority=priority)


def marks(store: Store, *, since: int) -> list[Deploy]:
    """The newest marks of all services since a time (seconds since the epoch)."""
    return find(store, since=since, limit=MOST_MARKS, priority=Priority.TICK)
