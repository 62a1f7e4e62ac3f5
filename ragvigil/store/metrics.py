"""What the store counts."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

ROWS_WRITTEN = Counter("ragvigil_store_rows_written", "Rows stored durably.", ["table"])
WRITE_RETRIES = Counter(
    "ragvigil_store_write_retries", "Attempts to write that failed and are repeated.", ["reason"]
)
ROWS_QUARANTINED = Counter(
    "ragvigil_store_rows_quarantined", "Rows that the database refused for good.", ["table"]
)
ROWS_DROPPED = Counter(
    "ragvigil_store_rows_dropped", "Rows dropped to stay under store.max_bytes.", ["table"]
)
ERASED_ROWS = Counter(
    "ragvigil_store_erased_rows", "Rows that were not written, because their trace was erased."
)
WRITER_STOPPED = Gauge(
    "ragvigil_store_writer_stopped", "1 while the writer stands still because of too many refusals."
)
WRITES_WAITING = Gauge("ragvigil_store_writes_waiting", "Batches that wait to be written.")
PARTS_SET_ASIDE = Gauge(
    "ragvigil_store_parts_set_aside",
    "Damaged parts of the embedded store whose rows are in no answer any more.",
)
EMPTIED = Gauge(
    "ragvigil_store_emptied",
    "1 if the store was found empty at the start although spans had been stored, else 0.",
)
BYTES = Gauge("ragvigil_store_bytes", "Size of the store's tables on disk.")
WRITE_SECONDS = Histogram(
    "ragvigil_store_write_seconds",
    "Time of one batch in the engine.",
    buckets=(0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
QUERY_SECONDS = Histogram(
    "ragvigil_store_query_seconds",
    "Time of a read, its wait included.",
    ["query"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
QUERY_FAILURES = Counter(
    "ragvigil_store_query_failures", "Reads that ended in an error.", ["query", "reason"]
)
