"""Change audits: what is known of each, the verdicts it rests on, and records it may judge."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from ragvigil.model.audit import Audit, AuditResult, AuditState, Pair, Side, Verdict
from ragvigil.model.notice import Cause
from ragvigil.model.score import Layer
from ragvigil.store.engine.batch import Batch, token_of
from ragvigil.store.engine.priority import Priority
from ragvigil.store.records.span_rows import nanos

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

SIDES = ("before", "after")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A record that an audit may judge, and what was asked."""

    trace_id: str
    record_id: str
    route: str
    query: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where candidates are looked for: seconds since the epoch, `until` excluded.

    `since_unix_nano` stands beside `routes`, each where later than `since`; no routes are all.
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
    """A batch that stores an audit as it stands, with pairs that were judged since; durable as one.

    What is written later replaces what was written before; `written` in nanoseconds.
    """
    writer = (nanos(written), replica, epoch)
    rows = {
        "audits": [(*_row(audit), *writer)],
        "audit_scores": [
            (audit.audit_id, *row, *writer) for pair in pairs for row in _score_rows(pair)
        ],
    }
    return Batch(
        rows={table: found for table, found in rows.items() if found},
        token=token_of("audits", *rows["audits"], *rows["audit_scores"]),
    )


def find(
    store: Store, *, since: int = 0, audit_id: str = "", service: str = "", limit: int = 1000
) -> list[Audit]:
    """Audits that started since then (seconds since the epoch), newest first."""
    asked = {"since": since, "audit_id": audit_id, "service": service, "limit": limit}
    return [_audit(row) for row in store.read("audits_since", asked, priority=Priority.TICK)]


def pairs_of(store: Store, audit_id: str) -> list[Pair]:
    """The pairs that were judged, in the order of their numbers."""
    rows = store.read("audit_scores_of", {"audit_id": audit_id}, priority=Priority.TICK)
    return [_pair(number, list(found)) for number, found in groupby(rows, key=itemgetter("pair"))]


def candidates(store: Store, place: Place) -> list[Candidate]:
    """Answered questions there, in an order by chance that is the same at every call."""
    asked = {
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
    rows = store.read("audit_candidates", asked, priority=Priority.TICK)
    return [Candidate(**row) for row in rows]


def _row(one: Audit) -> tuple[object, ...]:
    return (
        one.audit_id,
        one.service,
        one.environment,
        nanos(one.anchor_unix_nano),
        nanos(one.started_unix_nano),
        nanos(one.ended_unix_nano),
        list(one.routes),
        list(one.since_unix_nano),
        list(one.sources),
        one.reason,
        [str(cause) for cause in one.causes],
        str(one.state),
        one.pairs,
        json.dumps([asdict(result) for result in one.results]),
        one.progress,
        one.why,
    )


def _audit(row: dict[str, Any]) -> Audit:
    known = ("audit_id", "service", "environment", "reason", "pairs", "progress", "why")
    return Audit(
        **{name: row[name] for name in known},
        anchor_unix_nano=row["anchor_nanos"],
        started_unix_nano=row["started_nanos"],
        ended_unix_nano=row["ended_nanos"],
        routes=tuple(row["routes"]),
        since_unix_nano=tuple(row["since"]),
        sources=tuple(row["sources"]),
        causes=tuple(map(Cause, row["causes"])),
        state=AuditState(row["state"]),
        results=tuple(map(_result, json.loads(row["results"]))),
    )


def _result(row: dict[str, Any]) -> AuditResult:
    return AuditResult(
        **row | {"layer": Layer(row["layer"]), "state": AuditState(row["state"])},
    )


def _score_rows(pair: Pair) -> list[tuple[object, ...]]:
    return [
        (
            pair.number,
            name,
            pair.likeness,
            side.trace_id,
            side.record_id,
            side.route,
            one.rubric,
            str(one.layer),
            one.value,
            one.label,
            one.scorer,
            one.version,
        )
        for name, side in zip(SIDES, (pair.before, pair.after), strict=True)
        for one in side.verdicts
    ]


def _pair(number: int, rows: list[dict[str, Any]]) -> Pair:
    before, after = (_side([row for row in rows if row["side"] == name]) for name in SIDES)
    return Pair(number=number, before=before, after=after, likeness=rows[0]["likeness"])


def _side(rows: list[dict[str, Any]]) -> Side:
    named = ("rubric", "value", "label", "scorer", "version")
    return Side(
        trace_id=rows[0]["trace_id"],
        record_id=rows[0]["record_id"],
        route=rows[0]["route"],
        verdicts=tuple(
            Verdict(layer=Layer(row["layer"]), **{name: row[name] for name in named})
            for row in rows
        ),
    )
