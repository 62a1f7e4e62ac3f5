"""What Prometheus reads of the watch: open incidents with their message, notices, signals, audits.

Counters live as long as the process: after a restart they begin at 0 again, as `rate()` expects.
Incidents stay exposed until another list is shown: an alert must not clear because the watch
itself stands still, which `ragvigil_job_failures_total` tells. Signals vanish when they are old.
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
from alerts.signals.gauges import Reading
from alerts.watch.families import (
    ALERT_TEST,
    AUDIT_OPEN,
    AUDITS,
    CEILING,
    FALSE_PAGES,
    FAMILIES,
    INCIDENT_MESSAGE,
    INCIDENT_OPEN,
    INCIDENTS,
    INCIDENTS_HIDDEN,
    MAX_INCIDENTS,
    NOTICES,
    PARTS,
    SIGNAL,
)
from ragvigil.model.audit import Audit, AuditState
from ragvigil.model.incident import Incident, IncidentState, Severity
from ragvigil.model.notice import Notice

MAX_CHARACTERS = 300
STALE_SECONDS = 600
UNDETERMINED = "undetermined"
ENDS = (AuditState.DROPPED, AuditState.STEADY, AuditState.UNDECIDED)
NONE_KNOWN: Mapping[str, float] = {}

Metric = CounterMetricFamily | GaugeMetricFamily
Samples = Mapping[Family, Mapping[Key, float]]


class WatchMetrics(Collector):
    """The collector to register in the core; other threads feed it.

    `clock` tells seconds since the epoch.
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
        self._readings: tuple[Reading, ...] = ()
        self._ceilings: Mapping[str, float] = {}
        self._read_at = self._started
        self._audits: Mapping[Key, float] = {}
        self._test_until = 0.0
        self._lock = Lock()

    def show_incidents(
        self, incidents: Sequence[Incident], messages: Mapping[str, Message]
    ) -> None:
        """Takes all open incidents and their messages by incident id; they replace those before.

        Those that the first list holds from before the process started are not counted.
        Resolved ones may be among them: only what people said of them counts.
        """
        with self._lock:
            for one in incidents:
                is_old = self._is_first and one.opened_unix_nano < self._started * 1e9
                self._count_incident(one, by=0.0 if is_old else 1.0)
            self._incidents, self._messages = tuple(incidents), dict(messages)
            self._is_first = False

    def add_false_page(self, incident_id: str) -> None:
        """Counts what a person said; the same incident again changes nothing."""
        with self._lock:
            self._count_once(FALSE_PAGES, (), incident_id, by=1.0)

    def add_notices(self, notices: Iterable[Notice]) -> None:
        """Counts changes that were not told before."""
        with self._lock:
            for one in notices:
                place = self._cap.labels(one.service, one.environment, one.route)
                self._increase(NOTICES, (*place, one.kind.value))

    def show_signals(
        self, readings: Iterable[Reading], ceilings: Mapping[str, float] = NONE_KNOWN
    ) -> None:
        """Takes the newest values, and the values over which signals count as broken.

        They replace the ones before, and vanish after ten minutes.
        """
        with self._lock:
            self._readings, self._read_at = tuple(readings), self._clock()
            self._ceilings = dict(ceilings)

    def show_audits(self, audits: Iterable[Audit]) -> None:
        """Takes the newest audits; those that ended since the process started count once."""
        running: Counter[Key] = Counter()
        with self._lock:
            for one in audits:
                if one.is_running:
                    running[one.service, one.environment] += 1
                elif one.ended_unix_nano >= self._started * 1e9:
                    self._count_once(AUDITS, (one.state.value,), one.audit_id, by=1.0)
            self._audits = {key: float(count) for key, count in running.items()}

    def test_alert(self, until: float) -> None:
        """Raises the test alert until a time, seconds since the epoch."""
        with self._lock:
            self._test_until = until

    def collect(self) -> Iterator[Metric]:
        """All families with the samples that there are."""
        with self._lock:
            samples = {**{key: dict(of) for key, of in self._counts.items()}, **self._now()}
        for family in FAMILIES:
            made = CounterMetricFamily if family.kind == "counter" else GaugeMetricFamily
            metric = made(family.name, family.help, labels=family.labels)
            for key, value in samples[family].items():
                metric.add_metric([_line(text) for text in key], value)
            yield metric

    def _now(self) -> Samples:
        now = self._clock()
        shown = [one for one in self._incidents if _is_told(one, now)]
        told = sorted(shown, key=_urgency)[:MAX_INCIDENTS]
        return {
            INCIDENT_OPEN: {_open_key(one): 1.0 for one in told},
            INCIDENT_MESSAGE: {
                _message_key(one.incident_id, self._messages[one.incident_id]): 1.0
                for one in told
                if one.incident_id in self._messages
            },
            INCIDENTS_HIDDEN: {(): float(len(shown) - len(told))},
            **self._signals(now),
            AUDIT_OPEN: self._audits,
            ALERT_TEST: {(): float(now < self._test_until)},
        }

    def _signals(self, now: float) -> Samples:
        if now - self._read_at > STALE_SECONDS:
            return {SIGNAL: {}, CEILING: {}}
        highest: dict[Key, float] = {}
        for one in self._readings:
            key = (*self._cap.labels(one.service, one.environment, one.route), one.signal)
            highest[key] = max(one.value, highest.get(key, one.value))
        return {SIGNAL: highest, CEILING: {(name,): of for name, of in self._ceilings.items()}}

    def _count_incident(self, one: Incident, by: float) -> None:
        if one.severity is Severity.PAGE or one.paged_unix_nano:
            self._count_once(INCIDENTS, (Severity.PAGE.value,), one.incident_id, by)
        if one.severity is Severity.TICKET:
            self._count_once(INCIDENTS, (Severity.TICKET.value,), one.incident_id, by)
        if one.is_false_page:
            self._count_once(FALSE_PAGES, (), one.incident_id, by)

    def _count_once(self, family: Family, key: Key, name: str, by: float) -> None:
        mark = (family, "".join(key), name)
        if mark not in self._counted:
            self._counted.add(mark)
            self._increase(family, key, by)

    def _increase(self, family: Family, key: Key, by: float = 1.0) -> None:
        counts = self._counts[family]
        counts[key] = counts.get(key, 0.0) + by


def _is_told(one: Incident, now: float) -> bool:
    if one.state is IncidentState.SNOOZED:
        return one.snoozed_until_unix_nano <= now * 1e9
    return one.state is not IncidentState.RESOLVED


def _urgency(one: Incident) -> tuple[bool, int, str]:
    """Pages first, then what has lasted longest: what is exposed must not change by itself."""
    return (one.severity is not Severity.PAGE, one.opened_unix_nano, one.incident_id)


def _open_key(one: Incident) -> Key:
    layer = one.cause.value if one.cause else UNDETERMINED
    return (one.incident_id, one.service, one.environment, one.severity.value, layer)


def _message_key(incident_id: str, message: Message) -> Key:
    return (incident_id, *(getattr(message, part) for part in PARTS))


def _line(text: str) -> str:
    """One line that every reader of the exposition takes, of bounded length.

    >>> _line("two\\nlines\\ud800")
    'two lines?'
    """
    flat = " ".join(text.encode("utf-8", "replace").decode().split())
    return flat if len(flat) <= MAX_CHARACTERS else f"{flat[: MAX_CHARACTERS - 1]}…"
