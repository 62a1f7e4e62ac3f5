"""A run of the watch: a failure in it loses nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from alerts.settings import AlertsSettings, MetricsSettings
from alerts.watch.run import Watch
from ragvigil.model.audit import Audit, AuditState
from ragvigil.model.clock import Clock
from ragvigil.model.finding import FindingKind
from ragvigil.model.notice import ChangeKind, Notice
from ragvigil.store.engine.errors import StoreError
from ragvigil.store.engine.store import Store
from ragvigil.store.watch import audits
from scorers.judge.job import JudgeJob
from scorers.judge.settings import JudgeSettings
from tests.outcomes import SECOND
from tests.unit.alerts.notices.test_job import FEW, START, changed, offer, usual

NOW = START + 1800 * SECOND


@pytest.fixture
def watching(store: Store, tmp_path: Path) -> Watch:
    return watch(store, tmp_path)


def watch(store: Store, tmp_path: Path, clock: Clock = lambda: NOW / SECOND) -> Watch:
    """A watch that knows what the store holds, half an hour after the change."""
    judging = JudgeJob(JudgeSettings(), store, tmp_path, {}, None, lambda _: None)
    return Watch(
        store,
        AlertsSettings(notices=FEW),
        MetricsSettings(),
        judging,
        clock=clock,
    )


def noticed(watching: Watch) -> float:
    registry = CollectorRegistry()
    registry.register(watching.metrics)
    labels = {"service": "helpdesk", "environment": "prod", "route": "/ask", "kind": "prompt"}
    return registry.get_sample_value("ragvigil_notices_total", labels) or 0.0


def test_a_turn_that_fails_after_a_change_was_noticed_tells_it_in_the_next(
    watching: Watch, store: Store
) -> None:
    offer(watching.noticing, [*usual(), *changed(120, 150, prompt="v2")])
    store.change("RENAME TABLE rollups TO away")
    with pytest.raises(StoreError):
        watching.run()
    store.change("RENAME TABLE away TO rollups")
    assert watching.incidents.changes() == ()
    watching.run()
    (change,) = watching.incidents.changes()
    assert change.kind is ChangeKind.PROMPT
    (incident,) = watching.incidents.open_incidents()
    assert [finding.kind for finding in incident.findings] == [FindingKind.CHANGED]
    watching.run()
    assert len(watching.incidents.open_incidents()) == 1
    assert noticed(watching) == 1


def test_what_a_first_run_notices_is_told_after_it_began(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = [START / SECOND]
    watching = watch(store, tmp_path, lambda: times[-1])
    offer(watching.noticing, [*usual(), *changed(120, 150, prompt="v2")])
    run = watching.noticing.run

    def slowly() -> tuple[Notice, ...]:
        times.append(NOW / SECOND)
        return run()

    monkeypatch.setattr(watching.noticing, "run", slowly)
    watching.run()
    (incident,) = watching.incidents.open_incidents()
    assert incident.opened_unix_nano == NOW > incident.since_unix_nano


@pytest.mark.parametrize("state", [AuditState.UNDECIDED, AuditState.STEADY])
def test_an_audit_that_could_not_decide_leaves_the_ticket_of_its_change(
    store: Store, tmp_path: Path, watching: Watch, state: AuditState
) -> None:
    offer(watching.noticing, [*usual(), *changed(120, 150, prompt="v2")])
    watching.run()
    (change,) = watching.incidents.changes()
    audit = Audit(
        audit_id="a",
        service=change.service,
        environment=change.environment,
        anchor_unix_nano=change.since_unix_nano,
        started_unix_nano=change.noticed_unix_nano,
        ended_unix_nano=NOW,
        sources=(change.notice_id,),
        state=state,
    )
    store.write(audits.batch(audit, (), NOW))
    later = watch(store, tmp_path)
    later.run()
    (incident,) = later.incidents.open_incidents()
    (finding,) = incident.findings
    assert finding.is_open == (state is AuditState.UNDECIDED)
