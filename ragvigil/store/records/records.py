"""Stored records as the API shows them: one trace, or those that match."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from ragvigil.store.engine.kept import SLOW_SECONDS
from ragvigil.store.engine.together import together
from ragvigil.store.records import feedback, traces
from ragvigil.store.records.record_counts import newest_minutes, newest_part
from ragvigil.store.records.record_filter import RecordFilter, RecordPlace
from ragvigil.store.records.record_forms import full, score_form, summary, texts_needed
from ragvigil.store.records.texts import hashes_in, restore

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

CANDIDATES = 4
"""Rows that are looked at for each key of a page: some of them may have been replaced."""
MOST_CANDIDATES = 1000
"""Rows whose traces are named in one query."""
Form: TypeAlias = dict[str, Any]
Key: TypeAlias = tuple[str, str]


def trace(store: Store, trace_id: str) -> Form | None:
    """A trace with its records in full, None where no such trace is stored.

    `{"trace_id", "records": [...]}`; a trace without a RAG answer has no records.
    """
    stored = traces.lookup(store, [trace_id]).get(trace_id)
    if stored is None:
        return None
    return {"trace_id": trace_id, "records": list(_whole(store, {trace_id: stored}).values())}


def several(store: Store, keys: Iterable[Key]) -> dict[Key, Form]:
    """Whole records by (trace id, record id), in the order of `keys`, with as many queries as one.

    A record that is not stored is left out.
    """
    keys = list(dict.fromkeys(keys))
    stored = traces.lookup(store, {trace_id for trace_id, _ in keys})
    if not stored:
        return {}
    whole = _whole(store, stored, {record_id for _, record_id in keys})
    return {key: whole[key] for key in keys if key in whole}


def of_traces(store: Store, trace_ids: Iterable[str]) -> list[Form]:
    """Whole records of these traces, with as many queries as one, in the order of the ids."""
    ids = list(dict.fromkeys(trace_ids))
    stored = traces.lookup(store, set(ids)) if ids else {}
    if not stored:
        return []
    return sorted(_whole(store, stored).values(), key=lambda record: ids.index(record["trace_id"]))


def _whole(
    store: Store, stored: Mapping[str, traces.StoredTrace], record_ids: Iterable[str] = ()
) -> dict[Key, Form]:
    """The records of these traces with all that is stored of them; no `record_ids` are all."""
    seconds = {trace.time_unix_nano // 10**9 for trace in stored.values()}
    place = _Places(
        sorted({second - second % 60 for second in seconds}),
        sorted(stored),
        min(trace.received_unix_nano for trace in stored.values()) // 10**9,
    )
    rows, scored, shaped = together(
        lambda: place.read(store, "record_rows", record_ids=sorted(record_ids)),
        lambda: place.read(store, "record_scores"),
        lambda: place.read(store, "record_shapes"),
    )
    if not rows:
        return {}
    scores, shapes = _by_record(scored), {_key(row): row["measures"] for row in shaped}
    events, texts = together(
        lambda: feedback.of_records(store, rows), lambda: document_texts(store, texts_needed(rows))
    )
    return {
        (key := _key(row)): full(row, scores.get(key, []), shapes.get(key, {}), events[key], texts)
        for row in rows
    }


def find(store: Store, filter_: RecordFilter) -> list[Form]:
    """Records that match, without their chunks: newest first, by score the lowest first."""
    forms, _ = find_page(store, filter_)
    return forms


def find_page(store: Store, filter_: RecordFilter) -> tuple[list[Form], RecordPlace | None]:
    """Records as `find` gives them, and where this page ends; None if it is the last."""
    keys = _lowest(store, filter_) if filter_.asks_for_a_score else _newest(store, filter_)
    end = _place(keys[filter_.limit - 1]) if len(keys) > filter_.limit else None
    return summaries(store, keys[: filter_.limit]), end


def _lowest(store: Store, filter_: RecordFilter) -> list[Form]:
    """Keys from the traces of the lowest scores, from all only where those do not fill a page."""
    parameters = filter_.parameters()
    most = CANDIDATES * (filter_.limit + 1)
    if not filter_.asks_for_a_record and most <= MOST_CANDIDATES:
        rows = store.read("score_candidates", {**parameters, "most": most})
        places = {
            "minutes": sorted({row["minute_seconds"] for row in rows}),
            "trace_ids": sorted({row["trace_id"] for row in rows}),
        }
        keys = store.read("record_keys_by_score", {**parameters, **places}) if rows else []
        # Before the last row nothing is missing; after it, and beside it, there may be others.
        if len(rows) < most or (len(keys) > filter_.limit and _order(keys[-1]) < _order(rows[-1])):
            return keys
    return store.read("record_keys_by_score", parameters)


def _order(row: Mapping[str, Any]) -> tuple[float, int]:
    return row["place"], -row["time_nanos"]


def _newest(store: Store, filter_: RecordFilter) -> list[Form]:
    """Keys from the newest time, from all of it only where those do not fill a page."""
    for part in _newest_parts(store, filter_):
        keys = store.read("record_keys", part.parameters())
        if len(keys) > filter_.limit or part == filter_:
            return keys
    return store.read("record_keys", filter_.parameters())


def _newest_parts(store: Store, filter_: RecordFilter) -> Iterator[RecordFilter]:
    """The filter over the newest time, over a longer one next."""
    if not filter_.asks_for_a_record:
        yield newest_minutes(store, filter_, least=CANDIDATES * (filter_.limit + 1))
    yield newest_part(store, filter_)


def summaries(store: Store, keys: Sequence[Form]) -> list[Form]:
    """The records of these keys, as `find` gives them, in this order.

    A key has `trace_id`, `record_id`, `minute_seconds` and `received_seconds`.
    """
    if not keys:
        return []
    place = _Places(
        sorted({row["minute_seconds"] for row in keys}),
        sorted({row["trace_id"] for row in keys}),
        min(row["received_seconds"] for row in keys),
    )
    ids = sorted({row["record_id"] for row in keys})
    read, scored = together(
        lambda: place.read(store, "record_summaries", record_ids=ids),
        lambda: place.read(store, "record_scores"),
    )
    rows, scores = {_key(row): row for row in read}, _by_record(scored)
    ratings = feedback.worst_ratings(store, list(rows.values()))
    return [
        {**summary(rows[key], scores.get(key, [])), "rating": ratings[key]}
        for key in map(_key, keys)
        if key in rows
    ]


def absences(store: Store, since: int) -> list[Form]:
    """Counts of records with the same origin and the same missing fields, since a time (seconds).

    Each has `service, instrumentors, has_llm_span, lacks (field, reason), truncated, records`.
    """
    key = ("absences", store.kept.moving(since))
    return store.kept.of(
        key,
        lambda: store.read("record_absences", {"since": since}),
        lasts=True,
        most_seconds=SLOW_SECONDS,
    )


def spans(store: Store, trace_id: str) -> list[Form]:
    """The spans of a trace, columns as in `otel_traces`, with the document texts put back."""
    return kept_spans(store, trace_id)[0]


def kept_spans(store: Store, trace_id: str) -> tuple[list[Form], int]:
    """The spans of a trace, and how many the setting `store.spans` left out when they came."""
    stored = traces.lookup(store, [trace_id]).get(trace_id)
    if stored is None:
        return [], 0
    received = stored.received_unix_nano // 10**9
    rows = store.read("trace_spans", {"trace_id": trace_id, "received": received})
    return restored(store, rows), stored.not_kept


def restored(store: Store, rows: Sequence[Form]) -> list[Form]:
    """Rows of spans with the document texts put back."""
    hashes = {name for row in rows for value in _values(row) for name in hashes_in(value)}
    texts = document_texts(store, hashes)
    return [_restored(row, texts) for row in rows]


def document_texts(store: Store, hashes: Iterable[str]) -> dict[str, str]:
    """Texts by hash; those that are past their retention are left out."""
    names = sorted(set(hashes) - {""})
    if not names:
        return {}
    rows = store.read("document_texts", {"hashes": names})
    return {str(row["hash"]): str(row["content"]) for row in rows}


@dataclass(frozen=True, slots=True)
class _Places:
    """Where rows lie: their minutes, their traces, and the earliest time of receipt (seconds).

    Minutes and trace ids are a prefix of the tables' keys, and the time of receipt names their
    partitions: a read touches few blocks.
    """

    minutes: list[int]
    trace_ids: list[str]
    received: int

    def read(self, store: Store, name: str, **more: object) -> list[Form]:
        place = {"minutes": self.minutes, "trace_ids": self.trace_ids, "received": self.received}
        return store.read(name, {**place, **more})


def _place(row: Mapping[str, Any]) -> RecordPlace:
    return RecordPlace(row.get("place", 0.0), row["time_nanos"], *_key(row))


def _key(row: Mapping[str, Any]) -> Key:
    return row["trace_id"], row["record_id"]


def _by_record(rows: Iterable[Form]) -> dict[Key, list[Form]]:
    by_record: dict[Key, list[Form]] = {}
    for row in rows:
        by_record.setdefault(_key(row), []).append(score_form(row))
    return by_record


def _values(row: Form) -> Iterable[str]:
    yield row["StatusMessage"]
    yield from row["SpanAttributes"].values()
    for attributes in row["Events.Attributes"]:
        yield from attributes.values()


def _restored(row: Form, texts: Mapping[str, str]) -> Form:
    def whole(attributes: Mapping[str, str]) -> dict[str, str]:
        return {key: restore(value, texts) for key, value in attributes.items()}

    return {
        **row,
        "StatusMessage": restore(row["StatusMessage"], texts),
        "SpanAttributes": whole(row["SpanAttributes"]),
        "Events.Attributes": [whole(attributes) for attributes in row["Events.Attributes"]],
    }
