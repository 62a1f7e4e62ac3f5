"""Feedback on answers, matched to records by trace, span, session or response id."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ragvigil.model.feedback import FeedbackEvent
from ragvigil.store.engine.batch import Batch, Rows, token_of
from ragvigil.store.engine.table import table
from ragvigil.store.records.record_forms import time_of

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

FEEDBACK = table("feedback", FeedbackEvent)


def batch(
    feedback: Sequence[FeedbackEvent], received_unix_nano: int, *, replica: str = "", epoch: int = 0
) -> Batch:
    """A batch that stores this feedback."""
    stored = rows(feedback, received=received_unix_nano, replica=replica, epoch=epoch)
    return Batch(rows={FEEDBACK.name: stored}, token=token_of("feedback", stored))


def rows(feedback: Sequence[FeedbackEvent], **stamps: object) -> Rows:
    """Rows of the table; `stamps` as of `Table.rows`."""
    lower = (
        replace(event, trace_id=event.trace_id.lower(), span_id=event.span_id.lower())
        for event in feedback
    )
    return FEEDBACK.rows(lower, **stamps)


def matches(store: Store, event: FeedbackEvent) -> bool:
    """Whether an answer that the event names is stored already."""
    names = ("trace_id", "span_id", "session_id", "response_id")
    rows = store.read("feedback_matches", {name: getattr(event, name) for name in names})
    return int(rows[0]["records"]) > 0


def of_records(
    store: Store, records: Sequence[Mapping[str, Any]]
) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Feedback by (trace id, record id), oldest first, for rows of `records`.

    A span id names the record whose root or retrieval it is; a trace id names all its records.
    """
    events = _events(store, records)
    return {
        (row["trace_id"], row["record_id"]): [
            _form(event) for event in events if _is_of(event, row)
        ]
        for row in records
    }


def worst_ratings(
    store: Store, records: Sequence[Mapping[str, Any]]
) -> dict[tuple[str, str], float | None]:
    """The worst rating of each record by (trace id, record id), 0..1; None where nobody rated it.

    What was said of a session is about no single answer, as in the view `ratings`.
    """
    told = [event for event in _events(store, records) if _names_an_answer(event)]
    return {
        (row["trace_id"], row["record_id"]): min(
            (
                value
                for value in (
                    *row["feedback.value"],
                    *(event["value"] for event in told if _is_of(event, row)),
                )
                if value is not None
            ),
            default=None,
        )
        for row in records
    }


def _events(store: Store, records: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Feedback that may be about these records, oldest first."""
    parameters = {
        "trace_ids": sorted({row["trace_id"] for row in records}),
        "span_ids": sorted({span_id for row in records for span_id in _span_ids(row)}),
        "session_ids": sorted({row["session_id"] for row in records} - {""}),
        "response_ids": sorted({name for row in records for name in row["response_ids"]}),
    }
    return store.read("feedback_of", parameters)


def _names_an_answer(event: Mapping[str, Any]) -> bool:
    return bool(event["response_id"] or event["span_id"] or event["trace_id"])


def _span_ids(row: Mapping[str, Any]) -> Iterable[str]:
    return (row["record_id"], *row["span_ids"])


def _is_of(event: Mapping[str, Any], row: Mapping[str, Any]) -> bool:
    """Whether an event belongs to a record: the narrowest id that it has decides."""
    if event["response_id"]:
        return event["response_id"] in row["response_ids"]
    if event["span_id"] and event["span_id"] in _span_ids(row):
        return True
    if event["trace_id"]:
        return bool(event["trace_id"] == row["trace_id"])
    return bool(event["session_id"]) and event["session_id"] == row["session_id"]


def _form(event: Mapping[str, Any]) -> dict[str, Any]:
    names = ("kind", "value", "comment", "source")
    return {**{name: event[name] for name in names}, "time": time_of(event["time_nanos"])}
