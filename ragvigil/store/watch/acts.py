"""The log of acts: what people did, when, and whether on a page or by the API."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

from ragvigil.model.identity import identity
from ragvigil.store.engine.batch import Batch, token_of
from ragvigil.store.engine.table import MOST_NANOS, table

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """A person, under the role they had, did `verb` to `thing`, a path such as `issues/ID`.

    `place` is `page` or `api`; `act_id` is made when it is stored.
    """

    time_unix_nano: int
    act_id: str = ""
    person: str
    role: str
    verb: str
    thing: str
    place: str


ACTS = table("acts", Act)


@dataclass(frozen=True, slots=True, kw_only=True)
class ActFilter:
    """Which acts; an empty name matches all, `thing` all that begin so.

    `since` in seconds since the epoch; `before`, in nanoseconds, and `before_id` are the time and
    id of an act: only older ones match.
    """

    person: str = ""
    verb: str = ""
    thing: str = ""
    since: int = 0
    before: int = MOST_NANOS
    before_id: str = ""
    limit: int = 100


def write(store: Store, act: Act) -> None:
    """Stores an act; returns when it is durable."""
    stamps = {"written": act.time_unix_nano, "replica": store.replica, "epoch": store.epoch}
    act_id = identity(*asdict(act).values())
    rows = ACTS.rows([replace(act, act_id=act_id)], **stamps)
    store.write(Batch(rows={ACTS.name: rows}, token=token_of("acts", rows)))


def find(store: Store, filter_: ActFilter) -> list[Act]:
    """Acts that match, the newest first."""
    return ACTS.read(store, "acts_find", asdict(filter_))
