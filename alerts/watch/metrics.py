"""The Prometheus metrics of the watch: open incidents with their message, notices, signals, audits.

Counters live as long as the process: after a restart they begin at 0 again, as `rate()` expects.
Incidents stay exposed until another list is shown: an alert must not clear because the watch
itself has stopped, which `ragvigil_job_failures_total` shows. Signals vanish when they are old.
No label is a trace id; the message of an open incident holds up to five of them as text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from threading import Lock

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from alerts.deltas.metrics import Family, Key, RouteCap
from alerts.deltas.settings import LabelLimits
from alerts.incidents.message import Message
from alerts.signals.gauges import SignalReading
from alerts.watch.families import (
    ALERT_TEST,
    AUDIT_OPEN,
    AUDIT_UNDECIDED,
    AUDITS,
    CEILING,
    FALSE_PAGES,
    FAMILIES,
    INCIDENT_LAYER,
    INCIDENT_MESSAGE,
    INCIDENT_OPEN,
    INCIDENTS,
    INCIDENTS_HIDDEN,
    MAX_INCIDENTS,
    NOTICES,
    PARTS,
    SIGNAL,
    VISIBLE_DROP,
)
from ragvigil.model.audit import Audit, AuditState
from ragvigil.model.delta import Series
from ragvigil.model.incident import Incident, IncidentState, Severity
from ragvigil.model.notice import Notice
from ragvigil.model.text import visible

MAX_CHARACTERS = 300
"""Longest label value."""
ALL_ROUTES = "all routes"
UNDECIDED_SECONDS = 86_400.0
"""How long an audit that ended undecided is shown."""
STALE_SECONDS = 600
"""Signals older than this vanish."""
UNDETERMINED, BLIND = "undetermined", "blind"
ENDS = (AuditState.DROPPED, AuditState.STEADY, AuditState.UNDECIDED)
NONE_KNOWN: Mapping[str, float] = {}

Metric = CounterMetricFamily | GaugeMetricFamily
Samples = Mapping[Family, Mapping[Key, float]]


class WatchMetrics(Collector):
    """The collector to register in the core; other threads call its verbs.

    `clock` returns seconds since the epoch. The lock guards all fields: a scrape reads them while
    the job of the watch and the API's threads write.
    """

    def __init__(self, settings: LabelLimits, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._started = clock()
        self._cap = RouteCap(settings.max_routes)
        self._counts: dict[Family, dict[Key, float]] = {
            INCIDENTS: {(severity.value,): 0.0 for severity in Severity},
            FALSE_PAGES: {(): 0.0},
            NOTICES: {},
            AUDITS: {(end.value,): 0.0 for end in ENDS},
        }
        self._counted: set[tuple[Family, str, str]] = set()
        self._is_first = True
        self._incidents: Sequence[Incident] = ()
        self._messages: Mapping[str, Message] = {}
        self._readings: tuple[SignalReading, ...] = ()
        self._ceilings: Mapping[str, float] = {}
        self._read_at = self._started
        self._visible: Mapping[Key, float] = {}
        self._audits: Mapping[Key, float] = {}
        self._undecided: tuple[Audit, ...] = ()
        self._test_until = 0.0
        self._lock = Lock()

    def show_incidents(
        self, incidents: Sequence[Incident], messages: Mapping[str, Message]
    ) -> None:
        """Replaces the open incidents and their messages, by incident id.

        Incidents of the first list that opened before the process started are not counted: the
        earlier process counted them. Resolved ones may be in the list and count as false pages.
        """
        with self._lock:
            for incident in incidents:
                # After a restart the first list holds incidents that an earlier process counted.
                is_old = self._is_first and incident.opened_unix_nano < self._started * 1e9
                self._count_incident(incident, by=0.0 if is_old else 1.0)
            self._incidents, self._messages = tuple(incidents), dict(messages)
            self._is_first = False

    def add_false_page(self, incident_id: str) -> None:
        """Counts a false page; the same incident counts once."""
        with self._lock:
            self._count_once(FALSE_PAGES, (), incident_id, by=1.0)

    def add_notices(self, notices: Iterable[Notice]) -> None:
        """Counts new change notices."""
        with self._lock:
            for notice in notices:
                place = self._cap.labels(notice.service, notice.environment, notice.route)
                self._increase(NOTICES, (*place, notice.kind.value))

    def show_signals(
        self, readings: Iterable[SignalReading], ceilings: Mapping[str, float] = NONE_KNOWN
    ) -> None:
        """Replaces the newest values, and the ceilings over which signals count as broken.

        They vanish after STALE_SECONDS.
        """
        with self._lock:
            self._readings, self._read_at = tuple(readings), self._clock()
            self._ceilings = dict(ceilings)

    def show_visible_drops(self, drops: Mapping[Series, float]) -> None:
        """Replaces the smallest lasting drops that would show, by series."""
        smallest: dict[Key, float] = {}
        with self._lock:
            for series, drop in drops.items():
                place = self._cap.labels(series.service, series.environment, series.route)
                key = (*place, series.rubric)
                # Of versions and routes that share a key, the one that sees least speaks.
                smallest[key] = max(drop, smallest.get(key, 0.0))
            self._visible = smallest

    def show_audits(self, audits: Iterable[Audit]) -> None:
        """Replaces the running audits; those that ended since the process started count once."""
        running: Counter[Key] = Counter()
        listed = tuple(audits)
        with self._lock:
            self._undecided = tuple(
                audit for audit in listed if audit.state is AuditState.UNDECIDED
            )
            for audit in listed:
                if audit.is_running:
                    running[audit.service, audit.environment] += 1
                elif audit.ended_unix_nano >= self._started * 1e9:
                    self._count_once(AUDITS, (audit.state.value,), audit.audit_id, by=1.0)
            self._audits = {key: float(count) for key, count in running.items()}

    def test_alert(self, until: float) -> None:
        """Sets the test alert until a time, seconds since the epoch."""
        with self._lock:
            self._test_until = until

    def collect(self) -> Iterator[Metric]:
        """Yields every family with its samples."""
        with self._lock:
            samples = {**{key: dict(of) for key, of in self._counts.items()}, **self._now()}
        for family in FAMILIES:
            metric_class = CounterMetricFamily if family.kind == "counter" else GaugeMetricFamily
            metric = metric_class(family.name, family.help, labels=family.labels)
            for key, value in samples[family].items():
                metric.add_metric([_line(text) for text in key], value)
            yield metric

    def _now(self) -> Samples:
        now = self._clock()
        visible = [incident for incident in self._incidents if _is_exposed(incident, now)]
        exposed = sorted(visible, key=_urgency)[:MAX_INCIDENTS]
        return {
            INCIDENT_OPEN: {_open_key(incident): 1.0 for incident in exposed},
            INCIDENT_MESSAGE: {
                _message_key(incident.incident_id, self._messages[incident.incident_id]): 1.0
                for incident in exposed
                if incident.incident_id in self._messages
            },
            INCIDENT_LAYER: {
                (incident.incident_id, layer.cause.value, layer.part): layer.share
                for incident in exposed
                for layer in incident.verdict.likely
            },
            INCIDENTS_HIDDEN: {(): float(len(visible) - len(exposed))},
            **self._signals(now),
            VISIBLE_DROP: self._visible,
            AUDIT_OPEN: self._audits,
            AUDIT_UNDECIDED: {
                _undecided_key(audit): 1.0
                for audit in self._undecided
                if now - audit.ended_unix_nano / 1e9 < UNDECIDED_SECONDS
            },
            ALERT_TEST: {(): float(now < self._test_until)},
        }

    def _signals(self, now: float) -> Samples:
        if now - self._read_at > STALE_SECONDS:
            return {SIGNAL: {}, CEILING: {}}
        highest: dict[Key, float] = {}
        for reading in self._readings:
            key = (
                *self._cap.labels(reading.service, reading.environment, reading.route),
                reading.signal,
            )
            # Routes beyond the cap share a key: the highest value is shown.
            highest[key] = max(reading.value, highest.get(key, reading.value))
        return {SIGNAL: highest, CEILING: {(name,): of for name, of in self._ceilings.items()}}

    def _count_incident(self, incident: Incident, by: float) -> None:
        if incident.severity is Severity.PAGE or incident.paged_unix_nano:
            self._count_once(INCIDENTS, (Severity.PAGE.value,), incident.incident_id, by)
        if incident.severity is Severity.TICKET:
            self._count_once(INCIDENTS, (Severity.TICKET.value,), incident.incident_id, by)
        if incident.is_false_page:
            self._count_once(FALSE_PAGES, (), incident.incident_id, by)

    def _count_once(self, family: Family, key: Key, name: str, by: float) -> None:
        mark = (family, "".join(key), name)
        if mark not in self._counted:
            self._counted.add(mark)
            self._increase(family, key, by)

    def _increase(self, family: Family, key: Key, by: float = 1.0) -> None:
        counts = self._counts[family]
        counts[key] = counts.get(key, 0.0) + by


def _is_exposed(incident: Incident, now: float) -> bool:
    if incident.state is IncidentState.SNOOZED:
        return incident.snoozed_until_unix_nano <= now * 1e9
    return incident.state is not IncidentState.RESOLVED


def _urgency(incident: Incident) -> tuple[bool, int, str]:
    """Pages first, then the oldest: a new ticket must not push out an incident that is exposed."""
    return (incident.severity is not Severity.PAGE, incident.opened_unix_nano, incident.incident_id)


def _open_key(incident: Incident) -> Key:
    unknown = BLIND if incident.verdict.is_blind else UNDETERMINED
    layer = incident.cause.value if incident.cause else unknown
    return (
        incident.incident_id,
        incident.service,
        incident.environment,
        incident.severity.value,
        layer,
    )


def _undecided_key(audit: Audit) -> Key:
    routes = ", ".join(audit.routes) or ALL_ROUTES
    return (audit.service, audit.environment, routes, audit.reason, audit.why)


def _message_key(incident_id: str, message: Message) -> Key:
    return (incident_id, *(getattr(message, part) for part in PARTS))


def _line(text: str) -> str:
    """Makes a label value one line of bounded length, in valid UTF-8; names that differ stay apart.

    >>> print(_line("two\\nlines\\ud800"))
    two\\nlines\\ud800
    """
    flat = visible(text)
    return flat if len(flat) <= MAX_CHARACTERS else f"{flat[: MAX_CHARACTERS - 1]}…"
