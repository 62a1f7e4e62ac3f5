"""The watch over a real store: a sustained drop that only a retired judge sees pages nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

from alerts.settings import AlertsSettings, MetricsSettings
from alerts.watch.run import Watch
from ragvigil.model.incident import Severity
from ragvigil.store.engine.store import Store
from scorers.judge.job import JudgeJob
from scorers.judge.settings import JudgeSettings
from tests.unit.alerts.drift.stored_scores import write
from tests.unit.alerts.drift.test_job import HEALTHY, HOUR, NOW, START, WORSE

RETIRED = frozenset({"groundedness"})
END = NOW + 6 * HOUR


def watch(store: Store, folder: Path, retired: frozenset[str], times: list[float]) -> Watch:
    judging = JudgeJob(JudgeSettings(), store, folder, {}, None, lambda _: None)
    return Watch(
        store,
        AlertsSettings(),
        MetricsSettings(),
        judging,
        clock=lambda: times[-1],
        retired=lambda: retired,
    )


def run(store: Store, folder: Path, retired: frozenset[str]) -> Watch:
    """Runs a watch over two healthy days and six hours of a drop, one run an hour of the drop."""
    times = [float(NOW)]
    write(store, HEALTHY, START, NOW)
    running = watch(store, folder, retired, times)
    for _ in range(6):
        running.run()
    assert running.incidents.open_incidents() == ()
    write(store, WORSE, NOW, END)
    for time in range(NOW, END + 1, HOUR):
        times.append(float(time))
        running.run()
    return running


@pytest.mark.parametrize(
    ("retired", "severity"), [(frozenset(), Severity.PAGE), (RETIRED, Severity.TICKET)]
)
def test_the_drop_is_shown_and_pages_only_by_a_judge_that_is_not_retired(
    store: Store, tmp_path: Path, retired: frozenset[str], severity: Severity
) -> None:
    running = run(store, tmp_path, retired)
    (incident,) = running.incidents.open_incidents()
    assert incident.severity is severity
    message = running.incidents.message(incident)
    assert message.worse.startswith("sustained drop of groundedness")
    assert ("its judge is retired" in message.worse) == bool(retired)


@pytest.mark.slow
def test_a_restart_pages_nobody(store: Store, tmp_path: Path) -> None:
    run(store, tmp_path, RETIRED)
    again = watch(store, tmp_path, RETIRED, [float(END + 60)])
    (stored,) = again.incidents.open_incidents()
    assert [finding.is_untrusted for finding in stored.findings] == [True]
    for _ in range(3):
        again.run()
    (incident,) = again.incidents.open_incidents()
    assert (incident.severity, incident.paged_unix_nano) == (Severity.TICKET, 0)
    assert incident.findings[0].words.count("its judge is retired") == 1
