"""The job of the detector over a real store: finds, stores, goes on, ends, accepts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from alerts.drift.job import DriftJob
from alerts.drift.settings import DriftSettings
from alerts.drift.sources import Scores
from alerts.drift.state import DriftState
from alerts.incidents.job import IncidentJob
from alerts.incidents.message import lines
from alerts.incidents.settings import IncidentSettings
from ragvigil.model.delta import TICK_SECONDS
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.incident import Severity, Verb
from ragvigil.model.notice import Cause
from ragvigil.model.score import Layer
from ragvigil.store.engine.errors import QueryFailed
from ragvigil.store.engine.store import Store
from ragvigil.store.watch import acts, boosts
from ragvigil.store.watch.drift import visible_drops
from tests.unit.alerts.drift.stored_scores import Scored, judged, local, write

DAY, HOUR = 86_400, 3600
START = 1_772_323_200
NOW = START + 2 * DAY
SETTINGS = DriftSettings()
HEALTHY = [Scored(series=judged(), rate=120)]
WORSE = [Scored(series=judged(), rate=120, bad=0.35)]
LOCAL_HEALTHY = [Scored(series=local(), rate=400)]
LOCAL_WORSE = [Scored(series=local(), rate=400, bad=0.35)]


def caught_up(store: Store, now: float = NOW, settings: DriftSettings = SETTINGS) -> DriftJob:
    """A job that has read the past of the store."""
    job = DriftJob(store, settings, now=now)
    for _ in range(6):
        assert job.run(now) == ()
    return job


def runs(job: DriftJob, first: int, end: int) -> list[tuple[Finding, ...]]:
    """The findings of a run every hour."""
    return [job.run(float(time)) for time in range(first, end + 1, 3600)]


def test_a_sustained_drop_pages_with_its_words_and_no_healthy_hour_does(store: Store) -> None:
    write(store, HEALTHY, START, NOW)
    job = caught_up(store)
    write(store, WORSE, NOW, NOW + 6 * HOUR)
    incidents = IncidentJob(store, IncidentSettings(), clock=lambda: float(NOW))
    found = runs(job, NOW, NOW + 6 * HOUR)
    sees = job.visible_drops()[judged()]
    assert 0.02 < sees < 0.1
    assert visible_drops(store, START) == {judged(): sees}
    (finding,) = found[-1]
    assert (finding.kind, finding.signal) == (FindingKind.DRIFT, "groundedness")
    assert finding.routes == ("/ask",)
    assert finding.words.startswith("sustained drop of groundedness by 1")
    assert abs(finding.since_unix_nano / 1e9 - NOW) < HOUR
    first = next(place for place, each in enumerate(found) if each)
    assert 1 <= first < 5
    (incident,) = incidents.run(NOW + 6 * HOUR, found[-1], ())
    assert incident.severity is Severity.PAGE
    assert "sustained drop" in lines(incidents.message(incident))[0]


def test_local_scores_beside_a_judge_are_followed_by_themselves(store: Store) -> None:
    write(store, HEALTHY, START, NOW)
    write(store, LOCAL_HEALTHY, START, NOW, table="proxy_rollups")
    job = caught_up(store)
    write(store, HEALTHY, NOW, NOW + 6 * HOUR)
    write(store, LOCAL_WORSE, NOW, NOW + 6 * HOUR, table="proxy_rollups")
    (finding,) = runs(job, NOW, NOW + 6 * HOUR)[-1]
    assert finding.is_local
    assert finding.words.startswith("sustained drop of groundedness (local model) by 1")
    assert job.judged_places() == {("desk", "prod", "/ask", "groundedness")}
    # A new judge goes on from the old one, not from a local model.
    new = judged(segment="r1 judge2")
    before = job.followed.predecessor(new)
    assert before is not None
    assert job.followed.series[before] == judged()
    assert set(DriftJob(store, SETTINGS, now=NOW).followed.series) == {judged(), local()}


def test_after_silence_it_asks_for_fewer_ticks_until_a_read_is_within_limits(store: Store) -> None:
    write(store, HEALTHY, NOW, NOW + HOUR)
    job = DriftJob(store, SETTINGS, now=NOW)
    asked: list[int] = []

    def limited(read: Callable[[int, int], list[Scores]], first: int, end: int) -> list[Scores]:
        asked.append((end - first) // TICK_SECONDS)
        if end > NOW and asked[-1] > 2:
            raise QueryFailed("max rows 200 thousand")
        return read(first, end)

    sources = [replace(each, read=partial(limited, each.read)) for each in job._sources]
    job._sources = sources
    for _ in range(20):
        job.run(NOW + 2 * HOUR)
    assert max(asked) > 2
    assert job.followed.series


def test_it_ends_when_the_scores_are_back(store: Store) -> None:
    write(store, HEALTHY, START, NOW)
    write(store, WORSE, NOW, NOW + 6 * HOUR)
    write(store, HEALTHY, NOW + 6 * HOUR, NOW + 18 * HOUR)
    job = caught_up(store)
    found = runs(job, NOW, NOW + 18 * HOUR)
    ended = [each for run in found for each in run if not each.is_open]
    assert len(ended) == 1
    assert {each.finding_id for run in found for each in run} == {ended[0].finding_id}
    assert found[-1] == ()


def test_a_restarted_job_is_where_the_other_would_be(store: Store) -> None:
    pair = [*HEALTHY, Scored(series=judged("/search"), rate=60)]
    write(store, pair, START, NOW + 2 * HOUR)
    whole = caught_up(store)
    runs(whole, NOW, NOW + HOUR)
    again = DriftJob(store, SETTINGS, now=NOW + HOUR)
    # Its first reads are short, until it knows how many rows a tick has.
    for job in (whole, again, again, again):
        job.run(NOW + 2 * HOUR)
    assert len(whole.followed.series) == 3
    assert set(again.followed.series) == set(whole.followed.series)
    for row, series in enumerate(again.followed.series):
        place = whole.followed.series.index(series)
        states = whole.followed.states[place : place + 1]
        assert again.followed.states[row : row + 1].tobytes() == states.tobytes()


@pytest.mark.slow
def test_a_drop_that_an_earlier_process_reported_goes_on_or_ends(store: Store) -> None:
    write(store, HEALTHY, START, NOW)
    write(store, WORSE, NOW, NOW + 6 * HOUR)
    job = caught_up(store)
    (finding,) = runs(job, NOW, NOW + 6 * HOUR)[-1]
    gone = replace(finding, finding_id="gone")
    again = DriftJob(store, SETTINGS, (finding, gone), now=NOW + 6 * HOUR)
    found = {each.finding_id: each.is_open for each in again.run(NOW + 6 * HOUR)}
    assert found == {finding.finding_id: True, "gone": False}


@pytest.mark.slow
def test_a_level_that_a_person_accepts_is_the_usual_one(store: Store) -> None:
    write(store, HEALTHY, START, NOW)
    write(store, WORSE, NOW, NOW + 12 * HOUR)
    job = caught_up(store)
    found = runs(job, NOW, NOW + 6 * HOUR)
    now = float(NOW + 6 * HOUR)
    incidents = IncidentJob(store, IncidentSettings(), clock=lambda: now)
    (incident,) = incidents.run(now, found[-1], ())
    incidents.act(incident.incident_id, Verb.EXPECTED, "Ada")
    later = runs(job, NOW + 7 * HOUR, NOW + 12 * HOUR)
    assert len(later[0]) == 1
    assert not later[0][0].is_open
    assert not any(later[1:])


@pytest.mark.slow
def test_a_level_that_lasts_is_accepted_by_the_settings_with_an_act(store: Store) -> None:
    settings = DriftSettings(propose_shifted_days=1, accept_shifted=True)
    write(store, HEALTHY, START, NOW)
    write(store, WORSE, NOW, NOW + 30 * HOUR)
    job = caught_up(store, settings=settings)
    runs(job, NOW, NOW + 30 * HOUR)
    assert job.followed.states["state"][0] == DriftState.OK
    (act,) = acts.find(store, acts.ActFilter())
    assert act.thing == "series/desk/prod//ask/groundedness"


@pytest.mark.slow
def test_refusals_that_rise_are_a_finding_with_the_causes_of_the_signal(store: Store) -> None:
    refusal = replace(judged(), rubric="refusal", segment="")
    usual, more = (Scored(series=refusal, rate=300, bad=bad) for bad in (0.04, 0.16))
    write(store, [usual], START, NOW)
    job = caught_up(store)
    write(store, [more], NOW, NOW + 8 * HOUR)
    (finding,) = runs(job, NOW, NOW + 8 * HOUR)[-1]
    assert finding.signal == "refusal:refused"
    assert finding.layer is Layer.GENERATION
    assert Cause.RETRIEVAL in finding.causes
    assert finding.words.startswith("sustained rise of refusal:refused by 1")
    assert finding.value == pytest.approx(0.16, abs=0.03)
    assert finding.reference == pytest.approx(0.04, abs=0.01)


def test_judged_scores_wait_for_the_queue_and_two_hours_at_most(store: Store) -> None:
    write(store, HEALTHY, START, NOW)
    drained = float(NOW - HOUR)
    job = DriftJob(store, SETTINGS, judged_until=lambda _: drained, now=NOW)
    for _ in range(6):
        job.run(NOW)
    assert job.followed.states["tick"].max() == NOW - HOUR - 600
    drained = 0.0
    job.run(NOW + 3000)
    assert job.followed.states["tick"].max() == NOW - HOUR - 600
    job.run(NOW + HOUR)
    assert job.followed.states["tick"].max() == NOW - HOUR


def test_scores_of_other_rubrics_that_only_label_are_left_alone(store: Store) -> None:
    label = replace(judged(), rubric="retrieval_shape", segment="")
    write(store, [Scored(series=label, rate=100)], START, START + DAY)
    job = DriftJob(store, SETTINGS, now=START + DAY)
    job.run(START + DAY)
    assert not any(series.rubric == "retrieval_shape" for series in job.followed.series)
    assert np.isfinite(job.followed.states["tick"]).all()


@pytest.mark.slow
def test_another_judge_is_known_within_a_day_and_no_drop(store: Store) -> None:
    write(store, HEALTHY, START, NOW)
    job = caught_up(store)
    other = Scored(series=judged(segment="r1 judge2"), rate=120, bad=0.25)
    write(store, [other], NOW, NOW + 10 * HOUR)
    assert not any(runs(job, NOW, NOW + 10 * HOUR))
    row = job.followed.series.index(other.series)
    assert job.followed.states[row]["state"] == DriftState.OK
    assert job.followed.predecessor(other.series) is not None


@pytest.mark.slow
def test_a_route_that_looks_worse_is_judged_more_until_it_does_not(store: Store) -> None:
    write(store, HEALTHY, START, NOW)
    job = caught_up(store)
    job = DriftJob(store, SETTINGS, judged=("groundedness",), now=NOW)
    assert boosts.rates(store, NOW) == {}
    write(store, WORSE, NOW, NOW + 2 * HOUR)
    boosted = []
    for time in range(NOW, NOW + 2 * HOUR, 600):
        job.run(time)
        boosted.append(boosts.rates(store, time))
    place = ("desk", "prod", "/ask")
    first = next(number for number, rates in enumerate(boosted) if rates)
    assert boosted[first] == {place: 0.5}
    assert boosts.rates(store, NOW + DAY) == {}
