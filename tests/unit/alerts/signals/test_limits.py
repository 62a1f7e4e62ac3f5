"""Limits: monotone in the traffic, and true to the detectors' rules."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.signals.limits import Limit, Service, drift_points, limits

SERVICE = Service(requests=400, routes=5)
BY_LAYER = {
    layer: [limit for limit in limits(SERVICE) if limit.layer == layer]
    for layer in ("notice", "broken", "moved", "audit", "drift")
}


def test_a_notice_needs_fifteen_requests_of_a_route() -> None:
    assert [limit.route_minutes for limit in BY_LAYER["notice"]] == [pytest.approx(11.25)]


def test_a_day_of_the_services_example_shows_what_the_badge_says() -> None:
    in_a_day = BY_LAYER["drift"][2]
    assert in_a_day.route_points == pytest.approx(12.5, abs=0.1)
    assert in_a_day.pooled_points == pytest.approx(6.1, abs=0.1)


def test_an_audit_of_a_smaller_drop_needs_more_calls_and_may_be_over_the_budget() -> None:
    calls = [limit.calls or 0 for limit in BY_LAYER["audit"]]
    assert calls == sorted(calls)
    assert BY_LAYER["audit"][-1].pooled_minutes is None
    assert BY_LAYER["audit"][0].pooled_minutes is not None


def test_what_is_more_broken_is_seen_sooner() -> None:
    minutes = [limit.pooled_minutes or 1e9 for limit in BY_LAYER["broken"]]
    assert minutes == sorted(minutes, reverse=True)
    assert minutes[-1] < 5


def test_a_label_on_three_of_ten_answers_shows_sooner_than_half_a_deviation_of_a_number() -> None:
    by_what = {limit.what: limit.pooled_minutes or 1e9 for limit in BY_LAYER["moved"]}
    labelled = by_what["30 % with the label unsupported"]
    assert labelled < by_what["20 % with the label unsupported"]
    assert labelled < by_what["numbers by 0.5 deviations"] < 60


def test_without_judgements_no_drop_shows() -> None:
    assert drift_points(0, 0.27) is None
    assert drift_points(1, 0.27) is None


@given(
    requests=st.floats(1, 1e6),
    routes=st.integers(1, 500),
    sample=st.floats(0.001, 1),
    sd=st.floats(0.01, 0.5),
)
def test_more_traffic_is_never_seen_later(
    requests: float, routes: int, sample: float, sd: float
) -> None:
    few = limits(Service(requests=requests, routes=routes, sample=sample, sd=sd))
    many = limits(Service(requests=2 * requests, routes=routes, sample=sample, sd=sd))
    for less, more in zip(few, many, strict=True):
        for field in ("route_minutes", "pooled_minutes", "route_points", "pooled_points"):
            assert _known(more, field) <= _known(less, field)
        if less.layer != "notice":
            assert _known(less, "pooled_minutes") <= _known(less, "route_minutes")


def _known(limit: Limit, field: str) -> float:
    value = getattr(limit, field)
    return float("inf") if value is None else float(value)
