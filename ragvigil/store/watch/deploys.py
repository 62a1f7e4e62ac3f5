"""Marks of what changed and when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragvigil.store.engine.batch import Batch, token_of
from ragvigil.store.engine.priority import Priority
from ragvigil.store.records.record_forms import time_of
from ragvigil.store.records.span_rows import nanos

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

MOST_MARKS = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Deploy:
    """A change of a service; the same `deploy_id` again replaces the first.

    `kind` says what changed: deploy, prompt, index, model.
    """

    deploy_id: str
    service: str
    time_unix_nano: int
    environment: str = ""
    version: str = ""
    kind: str = "deploy"
    description: str = ""
    source: str = "api"


def batch(
    deploys: Sequence[Deploy], received_unix_nano: int, *, replica: str = "", epoch: int = 0
) -> Batch:
    """A batch that stores these marks."""
    rows = [
        (
            one.deploy_id,
            nanos(one.time_unix_nano),
            received_unix_nano,
            one.service,
            one.environment,
            one.version,
            one.kind,
            one.description,
            one.source,
            replica,
            epoch,
        )
        for one in deploys
    ]
    return Batch(rows={"deploys": rows}, token=token_of("deploys", *rows))


def find(
    store: Store, *, service: str = "", since: int = 0, limit: int = 1000
) -> list[dict[str, Any]]:
    """`id, service, environment, version, kind, description, source, time`; newest first."""
    rows = store.read("deploys", {"service": service, "since": since, "limit": limit})
    return [{"time": time_of(row.pop("time_nanos")), **row} for row in rows]


def marks(store: Store, *, since: int) -> list[Deploy]:
    """The marks of all services since then, newest first."""
    asked = {"service": "", "since": since, "limit": MOST_MARKS}
    return [
        Deploy(deploy_id=row.pop("id"), time_unix_nano=row.pop("time_nanos"), **row)
        for row in store.read("deploys", asked, priority=Priority.TICK)
    ]
