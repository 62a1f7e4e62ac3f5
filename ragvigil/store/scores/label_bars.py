"""Under which value a local model's score has its label: learned from what healthy answers had.

Split conformal: the bar is set by answers of the past, and of answers like them at most
`USUAL_SHARE` lie under it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragvigil.model.incident import Incident
from ragvigil.store.engine.batch import Batch, token_of
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.table import table
from ragvigil.store.issues.spikes import ALL_ROUTES, DAY, NANOS, bar_of

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

Counts = Sequence[int]
KNOWN_SECONDS = 600
"""To count the answers, and for all daemons to read the bars, which they do each minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelBar:
    """Answers `below` have the label, from `holds_from` until the next bar of the series.

    `route` is empty for all routes of a service. `answers` healthy ones since `since` set it.
    """

    service: str
    environment: str
    route: str
    rubric: str
    segment: str
    below: float
    answers: int
    since_unix_nano: int
    holds_from_unix_nano: int


BARS = table("label_bars", LabelBar)


def write(store: Store, bars: Iterable[LabelBar], now: int) -> None:
    """Stores bars (`now` in nanoseconds); returns when they are durable."""
    rows = BARS.rows(bars, written=now, replica=store.replica, epoch=store.epoch)
    store.write(Batch(rows={BARS.name: rows}, token=token_of("label_bars", rows)))


def find(store: Store, since: int) -> list[LabelBar]:
    """The bars that hold since then (seconds) or later, the oldest first. Raises StoreError."""
    return BARS.read(store, "label_bars_find", {"since": since}, priority=Priority.TICK)


def learn(
    store: Store, rubrics: Collection[str], since: int, now: int, incidents: Iterable[Incident]
) -> list[LabelBar]:
    """The bars of all routes and services with enough answers of `since` to `now` (seconds).

    Answers of the times of incidents are left out, and series younger than a day. The bars hold
    from a full hour that is KNOWN_SECONDS away at least, so that all daemons of a fleet know them
    before. Raises StoreError.
    """
    window = {"since": since, "end": now, "rubrics": sorted(rubrics), **_ill(incidents, now)}
    rows = store.read("label_bar_counts", window, priority=Priority.SCAN)
    hold = holds_from(now) * NANOS
    return [
        LabelBar(**place, below=below, answers=sum(counts), since_unix_nano=first * NANOS,
                 holds_from_unix_nano=hold)
        for place, counts, first in _series(rows)
        if first <= now - DAY and (below := bar_of(counts)) is not None
    ]  # fmt: skip


def holds_from(now: int) -> int:
    """The full hour from which bars that are learned now hold; both in seconds."""
    return ((now + KNOWN_SECONDS) // 3600 + 1) * 3600


def _series(rows: Sequence[dict[str, Any]]) -> Iterator[tuple[dict[str, str], Counts, int]]:
    """Each route, and all routes of a service together, with their counts and first minute."""
    together: dict[tuple[str, ...], list[dict[str, Any]]] = defaultdict(list)
    names = ("service", "environment", "route", "rubric", "segment")
    for row in rows:
        for route in (row["route"], ""):
            key = {**{name: row[name] for name in names}, "route": route}
            together[tuple(key.values())].append(row)
    for values, same in sorted(together.items(), key=lambda item: item[0]):
        counts = [sum(column) for column in zip(*(row["answers"] for row in same), strict=True)]
        yield dict(zip(names, values, strict=True)), counts, min(row["first"] for row in same)


def _ill(incidents: Iterable[Incident], now: int) -> dict[str, list[Any]]:
    """When which routes were in an incident, as parameters of the query."""
    ill = [
        (each.service, each.environment, route, each.since_unix_nano // NANOS // 60 * 60,
         each.resolved_unix_nano // NANOS if each.resolved_unix_nano else now)
        for each in incidents
        for route in sorted({name for found in each.findings for name in found.routes or ("",)})
    ]  # fmt: skip
    return {
        "ill_services": [service for service, *_ in ill],
        "ill_environments": [environment for _, environment, *_ in ill],
        "ill_routes": [route or ALL_ROUTES for _, _, route, *_ in ill],
        "ill_firsts": [first for *_, first, _ in ill],
        "ill_lasts": [last for *_, last in ill],
    }
