"""The way of the data through the daemon: intake and spool, scoring, store."""

from __future__ import annotations

from deploy.grafana.chart import Limits, Query, Section, Unit
from deploy.grafana.instances import NONE_YET, ON, hourly, lines, quantile, rate

INTAKE = Section(
    title="Intake and spool",
    charts=(
        lines(
            "Spans and log records acknowledged",
            "What was written to the disk and acknowledged, a second.",
            "Zero while the service is asked: look at the exporter's address and errors.",
            Query(
                expr=rate("ragvigil_items_accepted_total", "signal, encoding"),
                name="{{signal}} {{encoding}}",
            ),
            unit=Unit.A_SECOND,
        ),
        lines(
            "Time to acknowledge",
            "From the whole request received to the answer, the disk's flush included.",
            "Hundreds of milliseconds: a slow or a full disk, or too few cores.",
            Query(expr=quantile(0.5, "ragvigil_acknowledgement_seconds"), name="half"),
            Query(expr=quantile(0.99, "ragvigil_acknowledgement_seconds"), name="99 %"),
            unit=Unit.SECONDS,
            limits=Limits(orange=0.5, red=2),
        ),
        lines(
            "Refused, rejected, ignored, last hour",
            "Requests refused as a whole and spans rejected out of others, by reason, and "
            "what is taken but not kept." + NONE_YET,
            "overloaded or disk full: give room; otherwise the sender is at fault.",
            Query(
                expr=hourly("ragvigil_requests_refused_total", "reason"),
                name="requests: {{reason}}",
            ),
            Query(
                expr=hourly("ragvigil_items_rejected_total", "signal, reason"),
                name="{{signal}}: {{reason}}",
            ),
            Query(expr=hourly("ragvigil_items_ignored_total", "kind"), name="ignored: {{kind}}"),
        ),
        lines(
            "Spool: spans not read yet",
            "Acknowledged spans that wait for the core.",
            "Growing: the core does not keep up or does not run. Nothing is lost meanwhile.",
            Query(expr=f"ragvigil_spool_behind_spans{{{ON}}}", name="{{instance}}"),
            limits=Limits(orange=50_000, red=500_000),
        ),
        lines(
            "Bytes in flight",
            "Bodies held in memory until they are on the disk.",
            "Near the limit requests are told to come again: senders are too fast.",
            Query(expr=f"ragvigil_in_flight_bytes{{{ON}}}", name="{{instance}}"),
            unit=Unit.BYTES,
        ),
        lines(
            "Bytes received",
            "Bodies after decompression, a second.",
            "A jump without more requests: texts in the spans have grown.",
            Query(expr=rate("ragvigil_received_bytes_total", "encoding"), name="{{encoding}}"),
            unit=Unit.BYTES_A_SECOND,
        ),
    ),
)

PIPELINE = Section(
    title="From spans to scores",
    charts=(
        lines(
            "Traces by what became of them, last hour",
            "Every closed trace, by outcome.",
            "Mostly not_rag or unparseable: `ragvigil doctor` says what is missing.",
            Query(expr=hourly("ragvigil_trace_outcomes_total", "outcome"), name="{{outcome}}"),
        ),
        lines(
            "Why traces closed, last hour",
            "root_ended is the usual reason.",
            "Many others: roots do not arrive, or traces are larger than the limits.",
            Query(expr=hourly("ragvigil_traces_closed_total", "reason"), name="{{reason}}"),
        ),
        lines(
            "Late, twice, and cut, last hour",
            "Spans that came after their trace had closed (it is scored again), spans "
            "received again, records whose texts the sender cut, traces with a wrong clock, scores "
            "that came after their tick of five minutes had closed (it is computed again).",
            "Late: the exporter's batch delay is long. Cut: raise its attribute limit.",
            Query(expr=hourly("ragvigil_late_spans_total"), name="late spans"),
            Query(expr=hourly("ragvigil_split_traces_total", "what"), name="of several: {{what}}"),
            Query(expr=hourly("ragvigil_duplicate_spans_total"), name="spans sent twice"),
            Query(expr=hourly("ragvigil_truncated_records_total", "what"), name="cut {{what}}"),
            Query(expr=hourly("ragvigil_clock_skew_traces_total"), name="wrong clock"),
            Query(expr=hourly("ragvigil_score_late_total"), name="scores after their tick"),
        ),
        lines(
            "Open traces",
            "Traces that wait for their last span.",
            "Growing without end: spans come whose roots never do.",
            Query(expr=f"ragvigil_open_traces{{{ON}}}", name="{{instance}}"),
        ),
        lines(
            "Time to the store",
            "From the first span of a trace to its rows, and the part of it that scores.",
            "Minutes: look at the spool and at the store's writes.",
            Query(expr=quantile(0.5, "ragvigil_stored_after_seconds"), name="stored, half"),
            Query(expr=quantile(0.95, "ragvigil_stored_after_seconds"), name="stored, 95 %"),
            Query(expr=quantile(0.95, "ragvigil_scoring_seconds"), name="scored, 95 %"),
            unit=Unit.SECONDS,
            limits=Limits(orange=120),
        ),
        lines(
            "Scorers and plug-ins that failed, last hour",
            "Scorers that raised on a record or came too late for it, traces scored again because "
            "a process beside the core was lost, and plug-ins left out at the start." + NONE_YET,
            "The log names the trace. The score is missing, not 0.",
            Query(expr=hourly("ragvigil_scorer_errors_total", "scorer"), name="{{scorer}}"),
            Query(
                expr=hourly("ragvigil_scorer_too_late_total", "scorer"),
                name="took too long: {{scorer}}",
            ),
            Query(expr=hourly("ragvigil_scoring_redone_traces_total"), name="process lost"),
            Query(
                expr=f"sum by (group, name) (ragvigil_plugin_failures_total{{{ON}}})",
                name="{{group}} {{name}}",
            ),
            limits=Limits(orange=1),
        ),
        lines(
            "Share of the records that local models score",
            "100 % while the share of the CPU that they may use suffices.",
            "Lower: intervals of their rubrics widen. Give [inference] more, or a core.",
            Query(expr=f"ragvigil_local_rate{{{ON}}}", name="{{instance}}"),
            unit=Unit.SHARE,
            highest=1,
            limits=Limits(orange=0.1, low_is_bad=True),
            width=8,
        ),
        lines(
            "Redactions, last hour",
            "Values redacted before they reach the disk, by pattern." + NONE_YET,
            "A new pattern, or many: the service puts secrets into its prompts.",
            Query(expr=hourly("ragvigil_redactions_total", "pattern"), name="{{pattern}}"),
            width=8,
        ),
        lines(
            "Records without local models, last hour",
            "Records that were scored without them because too much waited, and those left over "
            "for lack of CPU. Their scores by code are complete. Beside them duties put off or "
            "still running when due again, and records that came too late or too many for change "
            "notices.",
            "Many for hours: fewer traces per daemon, or a core more.",
            Query(expr=hourly("ragvigil_records_lean_total"), name="too much waited"),
            Query(expr=hourly("ragvigil_local_records_total", "result"), name="local: {{result}}"),
            Query(expr=hourly("ragvigil_jobs_put_off_total", "job"), name="put off: {{job}}"),
            Query(expr=hourly("ragvigil_jobs_skipped_total", "job"), name="still running: {{job}}"),
            Query(
                expr=hourly("ragvigil_records_unnoticed_total", "reason"),
                name="no change notices: {{reason}}",
            ),
            width=8,
        ),
        lines(
            "Results exported, last hour",
            "Results sent on by OTLP, those dropped by reason, and answers that wait." + NONE_YET,
            "Dropped: the receiver is slow or down; scores stay here all the same.",
            Query(expr=hourly("ragvigil_exported_results_total"), name="sent"),
            Query(
                expr=hourly("ragvigil_export_dropped_total", "reason"), name="dropped: {{reason}}"
            ),
            Query(expr=f"ragvigil_export_waiting{{{ON}}}", name="waiting {{instance}}"),
            width=24,
        ),
    ),
)

STORE = Section(
    title="Store",
    charts=(
        lines(
            "Rows stored",
            "Rows written durably, a second, by table.",
            "Zero while spans are acknowledged: look at the writer and at the retries.",
            Query(expr=rate("ragvigil_store_rows_written_total", "table"), name="{{table}}"),
            unit=Unit.A_SECOND,
        ),
        lines(
            "Writes repeated, rows quarantined, last hour",
            "Attempts that failed and are repeated, and rows refused for good." + NONE_YET,
            "unreachable: the database; rows refused: read the log, then report it.",
            Query(
                expr=hourly("ragvigil_store_write_retries_total", "reason"),
                name="repeated: {{reason}}",
            ),
            Query(
                expr=hourly("ragvigil_store_rows_quarantined_total", "table"),
                name="quarantined: {{table}}",
            ),
            limits=Limits(orange=1),
        ),
        lines(
            "Batches waiting",
            "Batches that wait to be written.",
            "Growing: the database is slower than the traffic.",
            Query(expr=f"ragvigil_store_writes_waiting{{{ON}}}", name="{{instance}}"),
        ),
        lines(
            "Size on disk",
            "Bytes of the store's tables and of the spool, what is free beside them, and the part "
            "of it that only the store uses.",
            "Set [store] max_bytes, and retention days, to what the disk has. A spool that "
            "grows: the store does not take what arrives.",
            Query(expr=f"ragvigil_store_bytes{{{ON}}} > 0", name="store {{instance}}"),
            Query(expr=f"ragvigil_spool_bytes{{{ON}}}", name="spool {{instance}}"),
            Query(expr=f"ragvigil_disk_free_bytes{{{ON}}}", name="free {{instance}}"),
            Query(expr=f"ragvigil_disk_reserve_bytes{{{ON}}}", name="reserve {{instance}}"),
            unit=Unit.BYTES,
        ),
        lines(
            "Time of a write",
            "Of one batch in the database.",
            "Seconds: a slow disk, or a busy server.",
            Query(expr=quantile(0.5, "ragvigil_store_write_seconds"), name="half"),
            Query(expr=quantile(0.95, "ragvigil_store_write_seconds"), name="95 %"),
            unit=Unit.SECONDS,
            limits=Limits(orange=5),
        ),
        lines(
            "Time of a read, and reads that failed",
            "95 % of the reads of each query are faster; failures of the last hour.",
            "Seconds on every query: something reads a lot; see the slowest one.",
            Query(
                expr=f"topk(5, {quantile(0.95, 'ragvigil_store_query_seconds', 'query')})",
                name="{{query}}",
            ),
            Query(
                expr=hourly("ragvigil_store_query_failures_total", "query, reason"),
                name="failed: {{query}} {{reason}}",
            ),
            unit=Unit.SECONDS,
        ),
    ),
)
