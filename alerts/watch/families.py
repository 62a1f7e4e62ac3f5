"""The metric families of the watch, as the exposition and the README name them."""

from __future__ import annotations

from alerts.deltas.metrics import Family

MAX_INCIDENTS = 50
PARTS = ("worse", "since", "routes", "changed", "cause", "traces", "link")

INCIDENT_OPEN = Family(
    name="ragvigil_incident_open",
    kind="gauge",
    labels=("incident", "service", "environment", "severity", "layer"),
    help="1 for every incident that is open and not snoozed.",
)
INCIDENT_MESSAGE = Family(
    name="ragvigil_incident_message",
    kind="gauge",
    labels=("incident", *PARTS),
    help="1 for the same incidents; the labels are the parts of what a person reads.",
)
INCIDENT_LAYER = Family(
    name="ragvigil_incident_layer",
    kind="gauge",
    labels=("incident", "layer", "part"),
    help="How likely each layer is, 0 to 1, for the same incidents; none where nothing tells.",
)
INCIDENTS_HIDDEN = Family(
    name="ragvigil_incidents_hidden",
    kind="gauge",
    labels=(),
    help=f"Open incidents beyond the {MAX_INCIDENTS} that are exposed.",
)
INCIDENTS = Family(
    name="ragvigil_incidents_total",
    kind="counter",
    labels=("severity",),
    help="Incidents that reached this severity since the process started.",
)
FALSE_PAGES = Family(
    name="ragvigil_false_pages_total",
    kind="counter",
    labels=(),
    help="Pages that people called false since the process started.",
)
NOTICES = Family(
    name="ragvigil_notices_total",
    kind="counter",
    labels=("service", "environment", "route", "kind"),
    help="Changes noticed since the process started.",
)
SIGNAL = Family(
    name="ragvigil_signal",
    kind="gauge",
    labels=("service", "environment", "route", "signal"),
    help="Newest value of a rate or measure on all traffic.",
)
CEILING = Family(
    name="ragvigil_signal_ceiling",
    kind="gauge",
    labels=("signal",),
    help="Value of a signal over which it counts as broken.",
)
VISIBLE_DROP = Family(
    name="ragvigil_drift_visible_drop",
    kind="gauge",
    labels=("service", "environment", "route", "rubric"),
    help="Smallest lasting drop that a day would show, 0 to 1; no sample where none would show.",
)
AUDIT_OPEN = Family(
    name="ragvigil_audit_open",
    kind="gauge",
    labels=("service", "environment"),
    help="Audits under way.",
)
AUDIT_UNDECIDED = Family(
    name="ragvigil_audit_undecided",
    kind="gauge",
    labels=("service", "environment", "route", "change", "lacked"),
    help="1 for a day after an audit ended undecided: of which change, and what it lacked.",
)
AUDITS = Family(
    name="ragvigil_audits_total",
    kind="counter",
    labels=("result",),
    help="Audits that ended since the process started: dropped, steady (no drop) or undecided.",
)
ALERT_TEST = Family(
    name="ragvigil_alert_test",
    kind="gauge",
    labels=(),
    help="1 for five minutes after `ragvigil alert test`, else 0.",
)

FAMILIES = (
    INCIDENT_OPEN, INCIDENT_MESSAGE, INCIDENT_LAYER, INCIDENTS_HIDDEN, INCIDENTS, FALSE_PAGES,
    NOTICES, SIGNAL, CEILING, VISIBLE_DROP, AUDIT_OPEN, AUDIT_UNDECIDED, AUDITS, ALERT_TEST,
)  # fmt: skip
