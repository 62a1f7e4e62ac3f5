"""A movement in words: what, where, by how much, since when, why."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from alerts.deltas.narrate import movement
from ragvigil.model.delta import Delta, Estimate, Moved
from tests.unit.alerts.score_streams import series

NOW = datetime(2026, 3, 1, 9, 20, tzinfo=UTC)
FELL = Delta(
    series=series(),
    tick=int(NOW.timestamp()),
    window="6h",
    n=412,
    failed=160,
    mean=0.61,
    delta=-0.31,
    low=-0.35,
    high=-0.27,
    moved=Moved.FELL,
    since=int(NOW.replace(hour=3, minute=0).timestamp()),
)


def test_a_fall_says_points_interval_mean_hour_and_reason() -> None:
    assert movement(FELL, {"quote_not_found": 147, "stitched": 13}, now=NOW) == (
        "citation_validity on /refunds fell by 31 points [27, 35] to 0.61 (6 h mean, n 412) "
        "since 03:00; 92 % of the failures are quote_not_found"
    )


def test_a_mean_of_a_judged_sample_says_how_it_stands_for_all() -> None:
    judged = replace(FELL, estimate=Estimate.CORRECTED, judged_share=0.071)
    assert movement(judged, now=NOW) == (
        "citation_validity on /refunds fell by 31 points [27, 35] to 0.61 (6 h mean, n 412, "
        "7.1 % of the answers judged, corrected for the others) since 03:00"
    )


def test_what_has_not_moved_has_no_sentence() -> None:
    assert movement(replace(FELL, moved=Moved.NO), now=NOW) == ""


def test_a_rise_names_no_reason() -> None:
    rose = replace(FELL, moved=Moved.ROSE, delta=0.31, low=0.27, high=0.35)
    assert movement(rose, {"quote_not_found": 3}, now=NOW).endswith("since 03:00")
    assert "rose by 31 points [27, 35]" in movement(rose, now=NOW)


def test_an_hour_of_another_day_has_its_day() -> None:
    old = replace(FELL, since=FELL.since - 2 * 86_400 if FELL.since else None)
    assert "since Fri 27 Feb 03:00" in movement(old, now=NOW)


def test_a_movement_that_is_over_says_so() -> None:
    assert "came back within the last hour" in movement(replace(FELL, since=None), now=NOW)


def test_a_rare_label_is_not_the_reason() -> None:
    assert ";" not in movement(FELL, {"stitched": 8}, now=NOW)
