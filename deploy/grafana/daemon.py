"""The daemon itself: is anything lost, late, full or failing."""

from __future__ import annotations

from typing import Any

from deploy.grafana.board import board, from_labels
from deploy.grafana.chart import Limits, Query, Section, Unit
from deploy.grafana.daemon_data import INTAKE, PIPELINE, STORE
from deploy.grafana.instances import NONE_YET, ON, hourly, lines, number, quantile, rate
from deploy.grafana.issues import GROUPING

HEALTH = Section(
    title="Is data at risk?",
    charts=(
        number(
            "Core answers",
            "Whether the process that scores and stores runs. The intake acknowledges "
            "without it: what it takes waits in the spool.",
            "It is restarted by itself; if not, read the daemon's log.",
            f"min(ragvigil_core_up{{{ON}}})",
            Limits(red=1, low_is_bad=True),
            states={0: "no", 1: "yes"},
        ),
        number(
            "Ledger mismatch",
            "Acknowledged spans that are neither stored, duplicate, quarantined nor in the "
            "spool. 0 is right.",
            "Any other number for more than minutes is a defect: `ragvigil status`, and "
            "report it with the log.",
            f"max(abs(ragvigil_ledger_mismatch_spans{{{ON}}}))",
            Limits(red=1),
        ),
        number(
            "Store's writer stands still",
            "Whether writing stopped because the database refused too many rows.",
            "The spool keeps what arrives. Read the log for the refusal; then restart.",
            f"max(ragvigil_store_writer_stopped{{{ON}}})",
            Limits(red=1),
            states={0: "no", 1: "yes"},
        ),
        number(
            "Core restarts, 24 h",
            "Starts of the core process, the first one of a daemon not counted.",
            "More than one: look for memory limits and for the reason in the log.",
            f"sum(increase(ragvigil_core_starts_total{{{ON}}}[24h]))",
            Limits(orange=1, red=3),
        ),
        number(
            "Rows dropped, 24 h",
            "Rows deleted early to stay under [store] max_bytes." + NONE_YET,
            "Give the store more room, or keep data for fewer days.",
            f"sum(increase(ragvigil_store_rows_dropped_total{{{ON}}}[24h]))",
            Limits(orange=1),
        ),
        number(
            "Disk free",
            "Share of the file system under data_dir that is free.",
            "Under 5 % somebody is paged; when it is full nothing more is acknowledged. Lower "
            "[store] max_bytes or the days kept, or give it more.",
            f"min(ragvigil_disk_free_bytes{{{ON}}} / ragvigil_disk_total_bytes{{{ON}}})",
            Limits(orange=0.1, red=0.05, low_is_bad=True),
            unit=Unit.SHARE,
        ),
        number(
            "Exports failed, 24 h",
            "Requests with results that the OTLP receiver of [export] did not accept." + NONE_YET,
            "Look at its address and token, and at the log; docs/export.md.",
            f"sum(increase(ragvigil_export_failures_total{{{ON}}}[24h]))",
            Limits(orange=1),
        ),
        number(
            "Alert test",
            "Whether `ragvigil alert test` is under way: the alert must reach somebody.",
            "No alert arrived: follow RagvigilTestAlert in docs/runbook.md.",
            f"max(ragvigil_alert_test{{{ON}}})",
            Limits(orange=1),
            states={0: "no", 1: "under way"},
        ),
    ),
)

SET_ASIDE = Section(
    title="Lost, damaged, set aside",
    charts=(
        lines(
            "Spans lost",
            "Acknowledged spans that vanished from the spool before they were stored." + NONE_YET,
            "A disk or a hand removed them: the log says from where, docs/runbook.md what to do.",
            Query(expr=f"ragvigil_lost_spans{{{ON}}}", name="{{instance}}"),
            limits=Limits(red=1),
        ),
        lines(
            "Parts of the store set aside",
            "Damaged parts that were detached, and tables that were begun anew." + NONE_YET,
            "Check the disk; docs/runbook.md says how to look at what was set aside.",
            Query(expr=f"ragvigil_store_parts_set_aside{{{ON}}}", name="parts {{instance}}"),
            Query(expr=f"ragvigil_store_emptied{{{ON}}}", name="anew {{instance}}"),
            limits=Limits(orange=1),
        ),
        lines(
            "Ends of the core, frames and traces quarantined, last hour",
            "How the core ended, and what was left out because it ended the core twice." + NONE_YET,
            "stalled or crashed: the log names the trace that was in work.",
            Query(expr=hourly("ragvigil_core_restarts_total", "reason"), name="ended: {{reason}}"),
            Query(
                expr=hourly("ragvigil_core_quarantined_total", "kind, reason"),
                name="quarantined {{kind}}: {{reason}}",
            ),
            Query(expr=hourly("ragvigil_inference_given_up_total"), name="not embedded any more"),
            limits=Limits(orange=1),
        ),
    ),
)

CLIENTS = Section(
    title="Connections and the API",
    charts=(
        lines(
            "Open connections",
            "Connections that each listener holds open.",
            "At its max_connections: silent ones are closed so that others get in.",
            Query(expr=f"ragvigil_connections{{{ON}}}", name="{{listener}}"),
            Query(expr=f"ragvigil_web_connections{{{ON}}}", name="web"),
        ),
        lines(
            "Connections closed by us, last hour",
            "By listener and reason." + NONE_YET,
            "slow or made_room in numbers: somebody opens connections and sends nothing.",
            Query(
                expr=hourly("ragvigil_connections_closed_total", "listener, reason"),
                name="{{listener}}: {{reason}}",
            ),
            Query(
                expr=hourly("ragvigil_web_connections_closed_total", "reason"),
                name="web: {{reason}}",
            ),
        ),
        lines(
            "Answers of the API, last hour",
            "Made, shared with others who asked at the same time, or kept from just before; "
            "refused as too busy, and given up by the client." + NONE_YET,
            "Refused for hours: fewer dashboards on the API, or a core more.",
            Query(expr=hourly("ragvigil_api_answers_total", "source"), name="{{source}}"),
            Query(expr=hourly("ragvigil_api_refused_total", "route"), name="refused: {{route}}"),
            Query(expr=hourly("ragvigil_api_abandoned_total", "route"), name="given up: {{route}}"),
        ),
    ),
)

PROCESS = Section(
    title="Processes and jobs",
    charts=(
        lines(
            "Memory",
            "Resident memory of intake, core and model process.",
            "Near the container's limit: raise it. The core closes traces early before.",
            # Of the processes that Prometheus scrapes, those that are ragvigil's.
            Query(
                expr=f"process_resident_memory_bytes{{{ON}}} "
                "and on (job, instance) ragvigil_core_up",
                name="intake {{instance}}",
            ),
            Query(
                expr=f"ragvigil_core_process_resident_memory_bytes{{{ON}}}",
                name="core {{instance}}",
            ),
            Query(expr=f"ragvigil_inference_memory_bytes{{{ON}}} > 0", name="models {{instance}}"),
            unit=Unit.BYTES,
        ),
        lines(
            "CPU",
            "Cores used by intake, core and model process.",
            "At the number of cores: acknowledgements slow down; give it one more.",
            Query(
                expr=f"rate(process_cpu_seconds_total{{{ON}}}[$__rate_interval]) "
                "and on (job, instance) ragvigil_core_up",
                name="intake {{instance}}",
            ),
            Query(
                expr=rate("ragvigil_core_process_cpu_seconds_total", "instance"),
                name="core {{instance}}",
            ),
            Query(
                expr=rate("ragvigil_inference_cpu_seconds_total", "instance"),
                name="models {{instance}}",
            ),
        ),
        lines(
            "Ends of the model process and calls without answer, last hour",
            "Of the local models, by reason." + NONE_YET,
            "memory: raise [inference]'s limit; without it scores go on, less often.",
            Query(
                expr=hourly("ragvigil_inference_restarts_total", "reason"),
                name="ended: {{reason}}",
            ),
            Query(
                expr=hourly("ragvigil_inference_unavailable_total", "reason"),
                name="no answer: {{reason}}",
            ),
        ),
        lines(
            "Jobs that failed, last hour",
            "Runs of periodic jobs that raised; they are run again." + NONE_YET,
            "The log has the reason. Deltas: means stand still meanwhile.",
            Query(expr=hourly("ragvigil_job_failures_total", "job"), name="{{job}}"),
            limits=Limits(orange=1),
            width=12,
        ),
        lines(
            "Time of a job",
            "95 % of the runs of each periodic job are faster.",
            "Longer than its period: the store is slow or series are many.",
            Query(expr=quantile(0.95, "ragvigil_job_seconds", "job"), name="{{job}}"),
            unit=Unit.SECONDS,
            width=12,
        ),
    ),
)


def dashboard() -> dict[str, Any]:
    """Ledger, intake, pipeline, store, jobs, memory."""
    return board(
        uid="ragvigil-daemon",
        title="ragvigil: the daemon",
        says="Is acknowledged data safe, and does the daemon keep up: ledger, spool, store, "
        "acknowledgement, memory, jobs, late spans.",
        variables=(from_labels("instance", "instance", "ragvigil_core_up", several=True),),
        sections=(HEALTH, SET_ASIDE, INTAKE, PIPELINE, STORE, GROUPING, CLIENTS, PROCESS),
        since="now-6h",
    )
