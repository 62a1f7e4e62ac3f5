"""The table `root_causes`: reports on why issues happen."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ragvigil.model.issue import Quote, RootCause
from ragvigil.model.score import Layer
from ragvigil.store.engine.batch import Batch, token_of
from ragvigil.store.records.span_rows import nanos

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

_SAME = ("issue_id", "by", "cause", "ended", "fix", "text", "transcript", "cost_usd")


def batch(one: RootCause, written_unix_nano: int, *, replica: str = "", epoch: int = 0) -> Batch:
    """A batch that stores a report."""
    row = (
        one.issue_id,
        nanos(one.time_unix_nano),
        one.by,
        one.cause,
        one.ended,
        one.layer.value if one.layer else "",
        one.fix,
        json.dumps([asdict(quote) for quote in one.quotes]),
        json.dumps(one.grades),
        one.text,
        one.transcript,
        one.turns,
        one.cost_usd,
        written_unix_nano,
        replica,
        epoch,
    )
    return Batch(rows={"root_causes": [row]}, token=token_of("root_causes", *row))


def find(store: Store, issue_id: str, *, limit: int = 10) -> list[RootCause]:
    """Reports on one issue, newest first. Raises as `Store.read` does."""
    rows = store.read("root_causes_of", {"issue_id": issue_id, "limit": limit})
    return [_root_cause(row) for row in rows]


def _root_cause(row: Mapping[str, Any]) -> RootCause:
    return RootCause(
        **{name: row[name] for name in _SAME},
        time_unix_nano=row["time_nanos"],
        layer=Layer(row["layer"]) if row["layer"] else None,
        quotes=tuple(Quote(**one) for one in json.loads(row["quotes"])),
        grades=tuple((name, int(grade), why) for name, grade, why in json.loads(row["grades"])),
        turns=int(row["turns"]),
    )
