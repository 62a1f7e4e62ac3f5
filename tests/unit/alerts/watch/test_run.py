"""A run of the watch: a failure in it loses nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from prometheus_client import CollectorRegistry

from alerts.settings import AlertsSettings, MetricsSettings
from alerts.watch.run import Watch
from ragvigil.model.finding import FindingKind
from ragvigil.model.notice import ChangeKind
from ragvigil.store.engine.errors import StoreError
from ragvigil.store.engine.store import Store
from scorers.judge.job import JudgeJob
from scorers.judge.settings import JudgeSettings
from tests.outcomes import SECOND
from tests.unit.alerts.notices.test_job import FEW, START, changed, offer, usual


@pytest.fixture
def watching(store: Store, tmp_path: Path) -> Watch:
    judging = JudgeJob(JudgeSettings(), store, tmp_path, {}, None, lambda _: None)
    return Watch(
        store,
        AlertsSettings(notices=FEW),
        MetricsSettings(),
        judging,
        clock=lambda: START / SECOND + 1800,
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
