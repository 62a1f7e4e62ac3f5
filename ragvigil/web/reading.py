"""From rows of the store to the forms of the API."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from ragvigil.web.forms import DeltaForm, RecordSummary, TraceForm
from ragvigil.web.posts import DeployForm

if TYPE_CHECKING:
    from ragvigil.store.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which records; an empty filter is none."""

    service: str
    environment: str
    route: str
    rubric: str
    below: float | None
    label: str
    since: datetime
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedDeltas:
    """Which deltas; an empty filter is none, `since` None asks for the newest tick."""

    service: str
    environment: str
    route: str
    rubric: str
    layer: str
    window: str
    moved: bool
    since: datetime | None
    limit: int


def trace(store: Store, trace_id: str) -> TraceForm | None:
    raise NotImplementedError


def records(store: Store, wanted: Wanted) -> list[RecordSummary]:
    raise NotImplementedError


def deltas(store: Store, wanted: WantedDeltas, now: datetime) -> list[DeltaForm]:
    raise NotImplementedError


def deploys(store: Store, service: str, since: datetime, limit: int) -> list[DeployForm]:
    raise NotImplementedError
