"""The metrics of a watch with an open incident, as Prometheus reads them."""

from __future__ import annotations

import time

from alerts.incidents.message import Message
from alerts.settings import MetricsSettings
from alerts.signals.gauges import SignalReading
from alerts.watch.families import PARTS
from alerts.watch.metrics import WatchMetrics
from ragvigil.model.incident import Incident, IncidentState, Severity
from ragvigil.model.notice import ChangeKind, Notice


def an_open_incident(route: str) -> WatchMetrics:
    """A page, a signal over its ceiling, one under it, one without a ceiling, and a notice."""
    metrics = WatchMetrics(MetricsSettings(), time.time)
    now = time.time_ns()
    place = {"service": "helpdesk", "environment": "demo"}
    incident = Incident(
        **place,
        incident_id="i1",
        state=IncidentState.OPEN,
        severity=Severity.PAGE,
        opened_unix_nano=now,
        since_unix_nano=now,
        findings=(),
    )
    words = dict.fromkeys(PARTS, "six lines")
    metrics.show_incidents([incident], {"i1": Message(**words)})
    metrics.show_signals(
        [
            SignalReading(**place, route=route, signal="refusals", value=0.5),
            SignalReading(**place, route=route, signal="errors", value=0.1),
            SignalReading(**place, route=route, signal="answer_words", value=80.0),
        ],
        {"refusals": 0.25, "errors": 0.2},
    )
    notice = {"since_unix_nano": now, "noticed_unix_nano": now, "requests": 9}
    kind = ChangeKind.PROMPT
    metrics.add_notices([Notice(**place, **notice, route=route, notice_id="n", kind=kind)])
    return metrics
