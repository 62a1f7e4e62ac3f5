"""The detector on what users say: more thumbs down for long pages, ordinary days do not."""

from __future__ import annotations

import pytest

from alerts.drift.job import DriftJob
from alerts.drift.settings import DriftSettings
from alerts.incidents.job import IncidentJob
from alerts.incidents.settings import IncidentSettings
from ragvigil.model.finding import Finding
from ragvigil.model.incident import Severity
from ragvigil.model.signal import THUMBS
from ragvigil.store.engine.store import Store

pytestmark = pytest.mark.slow

DAY, HOUR = 86_400, 3600
START = 1_772_323_200
NOW = START + 2 * DAY


def rated(store: Store, start: int, end: int, *, bad: float, an_hour: int = 60) -> None:
    """Stores answers that users rated, of which a share got a thumbs down, each by chance."""
    number = f"{start} * 1000 + number"
    store.change(
        f"""
        INSERT INTO records (
            minute, received, trace_id, record_id, service, environment, route, feedback.value
        )
        SELECT
            toDateTime(intDiv({start} + number * {3600 // an_hour}, 60) * 60), now(),
            hex(sipHash128({number})), hex({number}), 'desk', 'prod', '/ask',
            [toFloat64(sipHash64({number}) % 1000 >= {bad * 1000})]
        FROM numbers({(end - start) * an_hour // 3600})
        """
    )


def runs(store: Store, first: int, end: int) -> list[tuple[Finding, ...]]:
    """The findings of a run every four hours, by a job that has read the past."""
    job = DriftJob(store, DriftSettings(rates=(THUMBS,)), now=first)
    for _ in range(4):
        assert job.run(first) == ()
    assert THUMBS in {series.rubric for series in job.followed.series}
    return [job.run(float(time)) for time in range(first, end + 1, 4 * HOUR)]


def test_a_lasting_rise_of_thumbs_down_pages(store: Store) -> None:
    rated(store, START, NOW, bad=0.08)
    rated(store, NOW, NOW + 8 * HOUR, bad=0.35)
    found = runs(store, NOW, NOW + 8 * HOUR)
    (finding,) = found[-1]
    assert (finding.signal, finding.routes) == (THUMBS, ("/ask",))
    assert finding.words.startswith("sustained rise of thumbs_down by")
    assert abs(finding.since_unix_nano / 1e9 - NOW) < 2 * HOUR
    incidents = IncidentJob(store, IncidentSettings(), clock=lambda: float(NOW))
    (incident,) = incidents.run(NOW + 8 * HOUR, found[-1], ())
    assert incident.severity is Severity.PAGE


def test_a_day_of_ordinary_thumbs_stay_quiet(store: Store) -> None:
    rated(store, START, NOW + DAY, bad=0.08)
    assert [each for each in runs(store, NOW, NOW + DAY) if each] == []
