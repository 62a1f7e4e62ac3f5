"""The job of the watch: changes, signals, audits and incidents, one run after another."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from alerts.audits.job import AuditJob
from alerts.drift.job import DriftJob
from alerts.incidents.job import IncidentJob
from alerts.incidents.message import Message
from alerts.incidents.suspects import is_good
from alerts.incidents.undeclared import undeclared
from alerts.limits.job import LimitJob
from alerts.limits.trial import Trial
from alerts.notices.blind import NO_MENDING, Mending
from alerts.notices.job import NoticeJob
from alerts.settings import AlertsSettings, MetricsSettings
from alerts.signals.ceilings import by_signal
from alerts.signals.gauges import readings
from alerts.signals.job import SignalJob
from alerts.slices.tickets import SliceTickets
from alerts.verdict.job import DimensionJob
from alerts.watch.metrics import WatchMetrics
from alerts.watch.untrusted import marked
from ragvigil.llm.judge import JudgeAccess
from ragvigil.llm.outcome import Purpose
from ragvigil.model.clock import Clock
from ragvigil.model.finding import FindingKind
from ragvigil.model.incident import Incident
from ragvigil.model.notice import Notice
from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score
from ragvigil.store.engine.store import Store

NANOS = 10**9


class Watch:
    """Runs the jobs of notices, signals, audits and incidents in this order, in one thread."""

    def __init__(
        self,
        store: Store,
        alerts: AlertsSettings,
        metrics: MetricsSettings,
        judging: JudgeAccess,
        *,
        external_url: str = "",
        clock: Clock,
        mending: Mending = NO_MENDING,
        judged_until: Callable[[float], float] = lambda now: now,
        judged: Collection[str] = (),
        retired: Callable[[], Collection[str]] = frozenset,
    ) -> None:
        self._alerts, self._judging, self._clock = alerts, judging, clock
        self._retired = retired
        self._fresh: list[Notice] = []
        self.incidents = IncidentJob(
            store, alerts.incidents, external_url, clock, on_change=self._on_incident
        )
        self.noticing = NoticeJob(
            store, alerts.notices, clock, mending, self.incidents.open_findings()
        )
        self.metrics = WatchMetrics(metrics, clock)
        self._signals = SignalJob(store, alerts, self.incidents.findings)
        self._limits = LimitJob(store, alerts.limits, self.incidents.open_findings())
        self.slices = SliceTickets(store, alerts, alerts.slices, self.incidents.open_findings())
        self._dimensions = DimensionJob(store)
        self._auditing = AuditJob(
            store, alerts.audit, self._ask, clock, page_drop=alerts.incidents.page_drop
        )
        self._drift = DriftJob(
            store,
            alerts.drift,
            self.incidents.open_findings(),
            judged_until=judged_until,
            judged=judged,
            now=clock(),
        )

    def run(self) -> None:
        """Runs every job once. Raises StoreError; the next run goes on from the store."""
        # Kept until the incidents have them: a failure below must not lose a notice.
        self._fresh += self.noticing.run()
        # Read now: a first run takes a while, and nothing is told before it began.
        now, retired = self._clock(), self._retired()
        signals = self._signals.run(now, self.incidents.accepted())
        moved = [finding for finding in signals if finding.kind is FindingKind.MOVED]
        changes = {notice.notice_id: notice for notice in (*self.incidents.changes(), *self._fresh)}
        # Recent notices are offered again: one that waited for an audit when the core stopped
        # would otherwise be lost.
        noticed = [notice for notice in changes.values() if not notice.is_marked]
        audited = self._auditing.run(now, noticed, self.incidents.deploys, moved)
        changed = undeclared(
            tuple(changes.values()),
            self._auditing.audits,
            int(now * NANOS),
            self._alerts.incidents,
        )
        drops = self._drift.run(now, tuple(changes.values()))
        self.metrics.show_visible_drops(self._drift.visible_drops())
        accepted = self.incidents.accepted()
        crossed = (*self._limits.run(now, accepted), *self.slices.run(now, accepted))
        worse = [finding for finding in (*signals, *drops, *crossed) if not is_good(finding)]
        judged = self._drift.judged_places()
        findings = [marked(finding, retired, judged) for finding in (*worse, *audited)]
        opened = self.incidents.run(
            now,
            (*findings, *changed, *self.noticing.blind()),
            self._fresh,
            self._dimensions.run(self._auditing.audits),
            self._signals.held,
        )
        self.metrics.add_notices(self._fresh)
        self._fresh = []
        self.metrics.show_signals(readings(self._signals.table), by_signal(self._alerts.broken))
        self.metrics.show_audits(self._auditing.audits)
        self._show(opened)

    @property
    def trials(self) -> tuple[Trial, ...]:
        """What each limit of one's own would have told in the past; empty before the first run."""
        return self._limits.trials

    def stop(self, seconds: float = 5.0) -> None:
        """Waits at most `seconds` for the audit steps under way."""
        self._auditing.wait(seconds)

    def _on_incident(self, incident: Incident) -> None:
        if incident.is_false_page:
            self.metrics.add_false_page(incident.incident_id)
        self._show(self.incidents.open_incidents())

    def _show(self, opened: Sequence[Incident]) -> None:
        messages: dict[str, Message] = {
            incident.incident_id: self.incidents.message(incident) for incident in opened
        }
        self.metrics.show_incidents(opened, messages)

    def _ask(
        self, records: Sequence[RagRecord], rubrics: Sequence[str]
    ) -> list[tuple[Score, ...]] | None:
        return self._judging.judge_now(records, Purpose.AUDIT, rubrics)
