"""Change notices, and the records from which their detectors are rebuilt at start."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ragvigil.model.notice import Notice
from ragvigil.model.record import Absent, Dimensions, Document, RagRecord
from ragvigil.store.engine.batch import Batch, token_of
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.table import nanos, table

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

NOTICES = table("notices", Notice)
HASHES_AT_ONCE = 2_000
MOST_RECORDS = 50_000
SEEN = ("trace_id", "record_id", "service", "environment", "route", "query", "error")
DIMENSIONS = (
    "llm_model",
    "embedding_model",
    "reranker_model",
    "prompt_version",
    "index_epoch",
    "temperature",
    "max_tokens",
    "top_k",
    "service_version",
    "tenant",
    "locale",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Past:
    """The fields of a stored record that show its service's setup, without texts."""

    record: RagRecord
    time_unix_nano: int


def batch(
    notices: Sequence[Notice], written_unix_nano: int, *, replica: str = "", epoch: int = 0
) -> Batch:
    """A batch that stores these notices; a notice that is stored already is replaced."""
    rows = NOTICES.rows(notices, written=nanos(written_unix_nano), replica=replica, epoch=epoch)
    return Batch(rows={NOTICES.name: rows}, token=token_of("notices", rows))


def find(
    store: Store,
    *,
    service: str = "",
    route: str = "",
    since: int = 0,
    limit: int = 1000,
    priority: Priority = Priority.PAGE,
) -> list[Notice]:
    """Changes that began since a time (seconds since the epoch), newest first."""
    parameters = {"service": service, "route": route, "since": since, "limit": limit}
    return NOTICES.read(store, "notices_since", parameters, priority=priority)


def newest(store: Store, *, each: int) -> list[Notice]:
    """The newest changes of every route, at most `each` of one route, newest first."""
    return NOTICES.read(store, "notices_newest", {"each": each}, priority=Priority.TICK)


def past(store: Store, *, since: int, each: int, most: int = MOST_RECORDS) -> Iterator[Past]:
    """The newest `each` records of every route since a time (seconds), oldest first.

    At most the newest `most` of them. Records that this replica wrote in this epoch are left out.
    """
    writer = {"replica": store.replica, "epoch": store.epoch}
    parameters = {"since": since, "each": each, "limit": most, **writer}
    return map(_past, store.read("fingerprints", parameters, priority=Priority.TICK))


def elsewhere(
    store: Store, minutes: Collection[int], *, each: int, most: int = MOST_RECORDS
) -> list[Past]:
    """The records of these minutes (starts, seconds) that other daemons stored, oldest first.

    At most `each` of a minute and route, and `most` in all. Raises StoreError.
    """
    if not minutes:
        return []
    parameters = {
        "minutes": sorted(minutes),
        "first": min(minutes),
        "last": max(minutes),
        "each": each,
        "limit": most,
        "replica": store.replica,
    }
    rows = store.read("fingerprints_elsewhere", parameters, priority=Priority.TICK)
    return list(map(_past, rows))


def lengths(store: Store, hashes: Iterable[str]) -> dict[str, int]:
    """Characters of each text by its hash; texts past their retention are left out."""
    names = sorted(set(hashes) - {""})
    by_hash: dict[str, int] = {}
    for start in range(0, len(names), HASHES_AT_ONCE):
        parameters = {"hashes": names[start : start + HASHES_AT_ONCE]}
        rows = store.read("text_lengths", parameters, priority=Priority.TICK)
        by_hash |= {row["hash"]: int(row["characters"]) for row in rows}
    return by_hash


def _past(row: Mapping[str, Any]) -> Past:
    record = RagRecord(
        **{name: row[name] for name in SEEN},
        retrieved=_documents(row, "retrieved"),
        reranked=_documents(row, "reranked"),
        context=_documents(row, "context"),
        absent={field: Absent(reason) for field, reason in row["absent"].items()},
        prompt_template=tuple(row["prompt_template"]),
        instrumentors=tuple(row["instrumentors"]),
        dimensions=Dimensions(**{name: row[name] for name in DIMENSIONS}),
    )
    return Past(record=record, time_unix_nano=row["time_nanos"])


def _documents(row: Mapping[str, Any], name: str) -> tuple[Document, ...]:
    fields = ("chunk_id", "document_id", "hash", "score")
    columns = [row[f"{name}.{field}"] for field in fields]
    return tuple(
        Document(chunk_id=chunk_id, document_id=document_id, text_hash=text_hash, score=score)
        for chunk_id, document_id, text_hash, score in zip(*columns, strict=True)
    )
