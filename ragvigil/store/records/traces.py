"""Turns outcomes into batches, and looks up which traces are stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ragvigil.model.feedback import FeedbackEvent
from ragvigil.model.outcome import Outcome, ScoredRecord, TraceOutcome
from ragvigil.model.span import Closed
from ragvigil.store.engine.batch import Batch, Row, Rows, Tombstones, token_of
from ragvigil.store.engine.kept import SLOW_SECONDS
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.table import declare, nanos
from ragvigil.store.records import feedback
from ragvigil.store.records.record_rows import (
    RECORD_COLUMNS,
    SCORE_COLUMNS,
    SHAPE_COLUMNS,
    RubricFacts,
    Stamp,
    record_row,
    score_rows,
    shape_row,
)
from ragvigil.store.records.span_rows import SPAN_COLUMNS, span_rows
from ragvigil.store.records.texts import Shortener, text_hash

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store
    from ragvigil.store.settings import StoreSettings

ORDER = (
    *("documents", "spans", "records", "record_shapes", "scores", "feedback"),
    *("late_spans", "traces"),
)
"""The order in which tables are filled: a row in `traces` proves that the rest is stored."""
DAY = 86_400
LATE_COLUMNS = declare("late_spans", ("trace_id", "owner", "spans", "replica", "epoch"))
_COLUMNS = {
    "documents": declare("documents", ("hash", "content", "seen", "replica", "epoch")),
    "spans": SPAN_COLUMNS,
    "records": RECORD_COLUMNS,
    "record_shapes": SHAPE_COLUMNS,
    "scores": SCORE_COLUMNS,
    "late_spans": LATE_COLUMNS,
    "traces": declare(
        "traces",
        (
            *("trace_id", "late", "time", "received", "outcome", "closed", "service", "spans"),
            *("kept", "record_ids", "backfill", "generation", "replica", "epoch"),
        ),
    ),
}
_REMEMBERED_TEXTS = 100_000
MOST_SECONDS = 2**32 - 1
"""The last second that a DateTime holds."""
_LOOKUP_AT_ONCE = 5_000


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredTrace:
    """The newest stored generation of a trace; `received_unix_nano` is when its first one came.

    `generation` is the number of its spans; `not_kept` of them were left out by the settings.
    `replica` is the daemon that stored it; `is_joined` tells that its spans came to several.
    """

    generation: int
    time_unix_nano: int
    received_unix_nano: int = 0
    record_ids: tuple[str, ...] = ()
    not_kept: int = 0
    replica: str = ""
    is_joined: bool = False

    @property
    def minute(self) -> int:
        """The minute of its scores: Unix time of its first second."""
        seconds = _seconds(self.time_unix_nano)
        return seconds - seconds % 60

    def parted(self, spans: Sequence[int]) -> tuple[Sequence[int], Sequence[int]]:
        """Spans of this trace, told apart by number alone: those kept, and those left out."""
        left_out = min(self.not_kept, len(spans))
        return spans[left_out:], spans[:left_out]


class TraceRows:
    """Gathers the rows of outcomes until a batch is full or old enough.

    One instance per writer: it remembers which texts it wrote today, so that each is written once
    a day. `rubrics` maps a rubric to its version and failing value.
    """

    def __init__(
        self, rubrics: Mapping[str, RubricFacts], *, replica: str = "", epoch: int = 0
    ) -> None:
        self._rubrics = rubrics
        self._writer = (replica, epoch)
        self._known_texts: dict[str, int] = {}
        self._erasures = 0
        self._columns = dict(_COLUMNS)
        self._begin()

    def _begin(self) -> None:
        self._rows: dict[str, list[Row]] = {table: [] for table in ORDER}
        self._names: list[str] = []
        self._minutes: set[int] = set()
        self._gone: list[Tombstones] = []
        self._bytes = 0
        self._since: float | None = None

    def note_erasures(self, count: int) -> None:
        """Forgets which texts are stored if there were more erasures: some may be gone."""
        if count != self._erasures:
            self._known_texts.clear()
        self._erasures = count

    def add(self, outcome: Outcome, now: float = 0.0) -> None:
        """Adds the rows of an outcome; `now` is a monotonic time, which the batch's age is from."""
        trace = outcome.trace
        stamp = stamp_of(outcome, self._writer)
        texts = {
            document.content
            for scored in outcome.records
            for list_ in (scored.record.retrieved, scored.record.reranked, scored.record.context)
            for document in list_
            if document.content is not None
        }
        self._add_texts(texts, stamp.received)
        rows, size = span_rows(
            trace,
            Shortener(texts),
            self._writer,
            generation=stamp.generation,
            kept=outcome.kept,
        )
        self._rows["spans"] += rows
        self._bytes += size
        for scored in outcome.records:
            self._add_record(scored, stamp)
        kept = len(rows) + outcome.kept_before
        self._rows["traces"].append(self._trace_row(outcome, stamp, kept=kept))
        if outcome.tells is not None and self._writer[0]:  # an embedded store has one daemon
            self._rows["late_spans"].append(
                (trace.trace_id, outcome.tells, stamp.generation, *self._writer)
            )
        self._names.append(_name_of(outcome, stamp.generation))
        self._note(outcome, stamp)
        if self._since is None:
            self._since = now

    def add_feedback(self, events: Sequence[FeedbackEvent], received_unix_nano: int) -> None:
        """Adds feedback that a trace carries; `add` takes the rest of its outcome."""
        replica, epoch = self._writer
        rows = feedback.rows(events, received=received_unix_nano, replica=replica, epoch=epoch)
        self._rows["feedback"] += rows.values
        self._columns["feedback"] = rows.columns
        self._names += map(str, rows.values)

    def absorb(self, batch: Batch, now: float = 0.0) -> None:
        """Adds the rows of a batch that another instance gathered."""
        for table, rows in batch.rows.items():
            self._rows[table] += rows.values
            self._columns[table] = rows.columns
        self._names.append(batch.token)
        self._minutes |= batch.minutes
        self._gone += batch.gone
        self._bytes += batch.bytes
        if self._since is None:
            self._since = now

    @property
    def row_count(self) -> int:
        """Rows gathered, over all tables."""
        return sum(map(len, self._rows.values()))

    def is_due(
        self, now: float, settings: StoreSettings, *, times: int = 1, waits: float = 1.0
    ) -> bool:
        """Whether the batch is full, or its oldest row has waited `linger`.

        `times` multiplies the rows of a full batch, and `waits` the time; 0 makes any batch due.
        """
        if self._since is None:
            return False
        return now - self._since >= waits * settings.linger or self.is_full(settings, times)

    def is_full(self, settings: StoreSettings, times: int = 1) -> bool:
        """Whether the batch has `times` as many rows as `batch_rows`, or `batch_bytes` of text."""
        return (
            self._bytes >= settings.batch_bytes
            or len(self._rows["spans"]) >= times * settings.batch_rows
        )

    def take(self) -> Batch:
        """Returns the batch gathered so far and begins a new one. Its token names what it holds."""
        batch = Batch(
            rows={
                table: Rows(self._columns[table], rows)
                for table, rows in self._rows.items()
                if rows
            },
            token=token_of(*self._names),
            minutes=frozenset(self._minutes),
            gone=tuple(self._gone),
            bytes=self._bytes,
        )
        self._begin()
        return batch

    def _add_texts(self, texts: Iterable[str], received: int) -> None:
        today = received // DAY
        for text in texts:
            name = text_hash(text)
            if self._known_texts.get(name, -1) >= today:
                continue
            if len(self._known_texts) >= _REMEMBERED_TEXTS:
                # Bounds the memory; a forgotten text is written once more and merges by its hash.
                self._known_texts.clear()
            self._known_texts[name] = today
            self._rows["documents"].append((name, text, received, *self._writer))
            self._bytes += len(text)

    def _add_record(self, scored: ScoredRecord, stamp: Stamp) -> None:
        record = scored.record
        self._rows["records"].append(record_row(record, stamp))
        self._bytes += len(record.query or "") + len(record.answer or "")
        if scored.shape:
            self._rows["record_shapes"].append(shape_row(scored, stamp))
        self._rows["scores"] += score_rows(record, scored.scores, stamp, self._rubrics)

    def _trace_row(self, outcome: Outcome, stamp: Stamp, *, kept: int) -> Row:
        trace = outcome.trace
        return (
            trace.trace_id,
            int(outcome.outcome is TraceOutcome.LATE),
            stamp.time,
            nanos(trace.received_unix_nano),
            outcome.outcome,
            trace.closed,
            _service(outcome),
            trace.generation,
            kept,
            [scored.record.record_id for scored in outcome.records],
            trace.backfill,
            stamp.generation,
            *self._writer,
        )

    def _note(self, outcome: Outcome, stamp: Stamp) -> None:
        # Tombstones change the counts of a minute as well as new scores do.
        if outcome.records or outcome.gone:
            self._minutes.add(stamp.minute)
        if outcome.gone:
            self._gone.append(
                Tombstones(
                    trace_id=stamp.trace_id,
                    minute=stamp.minute,
                    generation=stamp.generation,
                    record_ids=outcome.gone,
                )
            )


def _seconds(unix_nano: int) -> int:
    """The nearest second that a DateTime holds."""
    return min(max(unix_nano // 10**9, 0), MOST_SECONDS)


def stamp_of(outcome: Outcome, writer: tuple[str, int]) -> Stamp:
    """The values that all rows of an outcome share; `writer` is the replica and its epoch."""
    trace = outcome.trace
    seconds = _seconds(outcome.time_unix_nano)
    return Stamp(
        minute=seconds - seconds % 60,
        time=nanos(outcome.time_unix_nano),
        received=_seconds(trace.received_unix_nano),
        trace_id=trace.trace_id,
        generation=trace.generation,
        backfill=trace.backfill,
        writer=writer,
    )


def _name_of(outcome: Outcome, generation: int) -> str:
    """Names an outcome in the token of its batch.

    Scores are part of it, and how much its spans say: the same trace with other scores, or with a
    late log record, must not count as stored already.
    """
    scores = [
        (score.rubric, score.version, score.value, score.label)
        for scored in outcome.records
        for score in scored.scores
    ]
    weight = sum(len(span.attributes) + len(span.logs) for span in outcome.trace.spans)
    return f"{outcome.trace.trace_id} {generation} {weight} {outcome.outcome} {scores}"


def _service(outcome: Outcome) -> str:
    if outcome.records:
        return outcome.records[0].record.service
    if outcome.trace.plain:
        return outcome.trace.plain.service
    spans = outcome.trace.spans
    name = spans[0].resource.attributes.get("service.name", "") if spans else ""
    return name if isinstance(name, str) else ""


def lookup(store: Store, trace_ids: Iterable[str]) -> dict[str, StoredTrace]:
    """The newest generation of each of these traces; those that are not stored are left out."""
    ids = sorted(set(trace_ids))
    stored: dict[str, StoredTrace] = {}
    for first in range(0, len(ids), _LOOKUP_AT_ONCE):
        some = ids[first : first + _LOOKUP_AT_ONCE]
        rows = store.read("traces_by_id", {"trace_ids": some}, priority=Priority.TICK)
        stored |= {str(row["trace_id"]): _stored(row) for row in rows}
    return stored


def stored_since(store: Store, received: float) -> dict[str, StoredTrace]:
    """All traces first received since a time (seconds since the epoch): a replay may skip them.

    Raises QueryFailed if there are more than `store.query_rows`; use `lookup` then.
    """
    rows = store.read("traces_since", {"received": int(received)}, priority=Priority.TICK)
    return {str(row["trace_id"]): _stored(row) for row in rows}


def counts(store: Store) -> dict[str, int]:
    """How many closed traces are kept, by outcome; kept a while where counting them takes long."""
    rows = store.kept.of(
        "traces by outcome",
        lambda: store.read("traces_by_outcome"),
        lasts=True,
        most_seconds=SLOW_SECONDS,
    )
    return {str(row["outcome"]): int(row["traces"]) for row in rows}


def _stored(row: Mapping[str, object]) -> StoredTrace:
    ids = row["record_ids"]
    assert isinstance(ids, list)
    generation = int(str(row["generation"]))
    return StoredTrace(
        generation=generation,
        time_unix_nano=int(str(row["time_nanos"])),
        received_unix_nano=int(str(row["received_nanos"])),
        record_ids=tuple(ids),
        not_kept=max(0, generation - int(str(row["kept"]))),
        replica=str(row.get("writer", "")),
        is_joined=row.get("closed") == Closed.JOINED,
    )


__all__ = ["RubricFacts", "StoredTrace", "TraceRows", "counts", "lookup", "stored_since"]
