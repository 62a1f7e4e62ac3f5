"""Metrics of the pipeline, from a frame to a stored record."""

from __future__ import annotations

from prometheus_client import Counter, Gauge, Histogram

TRACES_CLOSED = Counter(
    "ragvigil_traces_closed", "Traces closed, by the reason that closed them.", ["reason"]
)
RECORDS = Counter("ragvigil_trace_outcomes", "Closed traces, by outcome.", ["outcome"])
LATE_SPANS = Counter(
    "ragvigil_late_spans", "Spans that arrived after their trace had closed and re-scored it."
)
SPLIT_TRACES = Counter(
    "ragvigil_split_traces",
    "Traces whose spans came to several daemons, by what this one did with them: joined, handed to "
    "the daemon that has their answer, or given up because the rest did not come.",
    ["what"],
)
DUPLICATE_SPANS = Counter("ragvigil_duplicate_spans", "Spans received again and not counted twice.")
TRUNCATED = Counter(
    "ragvigil_truncated_records", "Records whose spans were cut before they were sent.", ["what"]
)
CLOCK_SKEW = Counter(
    "ragvigil_clock_skew_traces", "Traces whose own time was not believable; receive time counts."
)
FEEDBACK = Counter("ragvigil_span_feedback", "Pieces of feedback that arrived on spans or logs.")
REPLAYED = Counter(
    "ragvigil_replayed_traces", "Traces read again after a restart and found already stored."
)
ERASED_SPANS = Counter(
    "ragvigil_erased_spans", "Spans of erased traces that came again and were left out."
)
OPEN_TRACES = Gauge("ragvigil_open_traces", "Traces waiting for their last span.")
LEAN = Counter(
    "ragvigil_records_lean",
    "Records scored without local models, because the core was behind.",
)
SPOOL_BEHIND = Gauge("ragvigil_spool_behind_spans", "Spans acknowledged and not read yet.")
SCORING_PROCESSES = Gauge(
    "ragvigil_scoring_processes", "Processes that score beside the core while it is behind."
)
REDONE = Counter(
    "ragvigil_scoring_redone_traces",
    "Traces scored again in the core, because a process beside it was lost or failed.",
)
SCORING = Histogram(
    "ragvigil_scoring_seconds",
    "Time to turn one closed trace into records and scores, the mean of those scored together.",
    buckets=(0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.25, 1),
)
STORED_AFTER = Histogram(
    "ragvigil_stored_after_seconds",
    "Time from the first span of a trace to its rows in the store.",
    buckets=(1, 2, 3, 5, 10, 30, 60, 120, 600),
)
LOST_SPANS = Gauge(
    "ragvigil_lost_spans",
    "Acknowledged spans that vanished from the spool before they were stored, of the days that "
    "the ledger keeps.",
)
LEDGER_MISMATCH = Gauge(
    "ragvigil_ledger_mismatch_spans", "Acknowledged spans that the ledger cannot place; 0 is right."
)


def observe_scoring(seconds: float, traces: int) -> None:
    """Counts every trace of a batch at the batch's mean time."""
    for _ in range(traces):
        SCORING.observe(seconds / traces)
