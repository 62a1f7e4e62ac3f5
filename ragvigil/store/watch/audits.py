"""Change audits, the verdicts they rest on, and the records they may judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from ragvigil.model.audit import Audit, Pair, Side, Verdict
from ragvigil.store.engine.batch import Batch, token_of
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.table import nanos, table

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

SIDES = ("before", "after")


@dataclass(frozen=True, slots=True, kw_only=True)
class _PairVerdict:
    """A verdict on one side of a pair, with what its row repeats of the side and the pair."""

    audit_id: str
    pair: int
    side: str
    likeness: float
    trace_id: str
    record_id: str
    route: str
    verdict: Verdict


AUDITS = table("audits", Audit, parsed={"goes_with": lambda _: ()})
VERDICTS = table("audit_scores", _PairVerdict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A record that an audit may judge, with its question."""

    trace_id: str
    record_id: str
    route: str
    query: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where candidates are searched: from `since` until before `until`, seconds since the epoch.

    `since_unix_nano` has a later start for each of `routes`; no routes are all routes.
    """

    service: str
    environment: str
    since: float
    until: float
    routes: tuple[str, ...] = ()
    since_unix_nano: tuple[int, ...] = ()
    limit: int = 500


def batch(
    audit: Audit, pairs: Sequence[Pair], written: int, *, replica: str = "", epoch: int = 0
) -> Batch:
    """A batch that stores an audit and the pairs judged since it was last stored.

    A later row of an audit replaces the earlier one; `written` in nanoseconds.
    """
    stamps = {"written": nanos(written), "replica": replica, "epoch": epoch}
    verdicts = [row for pair in pairs for row in _verdict_rows(audit.audit_id, pair)]
    tables = {
        "audits": AUDITS.rows([audit], **stamps),
        "audit_scores": VERDICTS.rows(verdicts, **stamps),
    }
    rows = {name: some for name, some in tables.items() if some}
    return Batch(rows=rows, token=token_of("audits", *rows.items()))


def find(
    store: Store, *, since: int = 0, audit_id: str = "", service: str = "", limit: int = 1000
) -> list[Audit]:
    """Audits that started since a time (seconds since the epoch), newest first."""
    parameters = {"since": since, "audit_id": audit_id, "service": service, "limit": limit}
    return AUDITS.read(store, "audits_since", parameters, priority=Priority.TICK)


def pairs_of(store: Store, audit_id: str) -> list[Pair]:
    """The pairs that were judged, in the order of their numbers.

    One of which a side was erased is none any more.
    """
    rows = VERDICTS.read(store, "audit_scores_of", {"audit_id": audit_id}, priority=Priority.TICK)
    by_pair = [(number, list(rows)) for number, rows in groupby(rows, key=attrgetter("pair"))]
    return [
        _pair(number, verdicts)
        for number, verdicts in by_pair
        if {verdict.side for verdict in verdicts} == set(SIDES)
    ]


def candidates(store: Store, place: Place) -> list[Candidate]:
    """Answered questions there, in a random order that is the same at every call."""
    parameters = {
        "first": int(place.since) // 60 * 60,
        "last": int(place.until),
        "since": int(place.since * 1e9),
        "until": int(place.until * 1e9),
        "service": place.service,
        "environment": place.environment,
        "routes": list(place.routes),
        "sinces": list(place.since_unix_nano),
        "limit": place.limit,
    }
    rows = store.read("audit_candidates", parameters, priority=Priority.TICK)
    return [Candidate(**row) for row in rows]


def _verdict_rows(audit_id: str, pair: Pair) -> Iterator[_PairVerdict]:
    for name, side in zip(SIDES, (pair.before, pair.after), strict=True):
        for verdict in side.verdicts:
            yield _PairVerdict(
                audit_id=audit_id,
                pair=pair.number,
                side=name,
                likeness=pair.likeness,
                trace_id=side.trace_id,
                record_id=side.record_id,
                route=side.route,
                verdict=verdict,
            )


def _pair(number: int, rows: Sequence[_PairVerdict]) -> Pair:
    before, after = (_side([row for row in rows if row.side == name]) for name in SIDES)
    return Pair(number=number, before=before, after=after, likeness=rows[0].likeness)


def _side(rows: Sequence[_PairVerdict]) -> Side:
    return Side(
        trace_id=rows[0].trace_id,
        record_id=rows[0].record_id,
        route=rows[0].route,
        verdicts=tuple(row.verdict for row in rows),
    )
