"""A series is drawn as it was measured: gaps stay gaps, what is off the scale lies at its end."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

from ragvigil.web.drawings.series import Event, Mean, Past, series

BEGIN = datetime(2026, 11, 22, tzinfo=UTC)
HOUR = timedelta(hours=1)
END = BEGIN + 10 * HOUR


def mean(
    hour: int, value: float | None, low: float | None = None, high: float | None = None
) -> Mean:
    return Mean(time=BEGIN + hour * HOUR, value=value, low=low, high=high, n=5)


def test_an_hour_without_answers_is_a_gap_and_never_0() -> None:
    drawn = series([mean(0, 1.0), mean(1, None), mean(2, 0.5), mean(3, 0.5)], BEGIN, END, says="")
    assert drawn.calm == "M0 0h.01M200 80L300 80"
    assert json.loads(drawn.data)["value"] == [1.0, None, 0.5, 0.5]


def test_from_the_onset_on_the_line_is_in_alarm_and_falls_nowhere_before() -> None:
    means = [mean(hour, 1.0 if hour < 5 else 0.25) for hour in range(8)]
    drawn = series(means, BEGIN, END, says="", onset=BEGIN + 5 * HOUR)
    assert drawn.calm.endswith("L400 0")
    assert drawn.alarm == "M500 120L600 120L700 120"
    assert drawn.end is not None
    assert (drawn.end.x, drawn.end.y, drawn.end.words) == (70.0, 120.0, "0.25")
    assert drawn.end.is_alarm


def test_an_onset_after_the_last_mean_leaves_the_line_calm() -> None:
    drawn = series([mean(0, 1.0)], BEGIN, END, says="", onset=END)
    assert drawn.alarm == ""
    assert drawn.end is not None
    assert not drawn.end.is_alarm


def test_without_any_mean_there_is_no_line_and_no_end() -> None:
    drawn = series([], BEGIN, END, says="nothing yet", is_zoomed=True)
    assert (drawn.calm, drawn.alarm, drawn.interval, drawn.end) == ("", "", "", None)
    assert [level.words for level in drawn.levels] == ["1.0", "0.5", "0.0"]


def test_the_interval_is_a_ribbon_with_the_same_gaps() -> None:
    means = [
        mean(0, 0.5, 0.25, 0.75),
        mean(1, 0.5, 0.25, 0.75),
        mean(2, 0.5),
        mean(3, 0.5, 0.4, 0.6),
    ]
    drawn = series(means, BEGIN, END, says="")
    assert drawn.interval == "M0 40L100 40L100 120L0 120Z"


def test_a_zoomed_scale_holds_means_and_past_and_cuts_the_interval_of_a_single_score() -> None:
    means = [mean(hour, 0.93, 0.91, 0.95) for hour in range(3)]
    past = [Past(time=BEGIN + hour * HOUR, low=0.84, high=0.96) for hour in range(3)]
    drawn = series(means, BEGIN, END, says="", past=past, is_zoomed=True)
    assert json.loads(drawn.data)["scale"] == [0.8, 1.0]
    narrow = series(means, BEGIN, END, says="", is_zoomed=True)
    assert json.loads(narrow.data)["scale"] == [0.9, 1.0]
    whole = series([mean(0, 1.0), mean(1, 1.0)], BEGIN, END, says="", is_zoomed=True)
    assert json.loads(whole.data)["scale"] == [0.9, 1.0]
    single = series([*means, mean(3, 0.92, 0.0, 1.0)], BEGIN, END, says="", is_zoomed=True)
    assert json.loads(single.data)["scale"] == [0.9, 1.0]


def test_what_happened_outside_of_the_time_stands_at_its_ends() -> None:
    changes = [Event(time=BEGIN - HOUR, words="B"), Event(time=BEGIN + 5 * HOUR, words="A")]
    drawn = series([], BEGIN, END, says="", changes=changes)
    assert [(change.x, change.words) for change in drawn.changes] == [(0.0, "B"), (50.0, "A")]


def test_words_of_events_do_not_cover_each_other() -> None:
    times = (BEGIN + 5 * HOUR, BEGIN + 5.2 * HOUR, BEGIN + 9 * HOUR)
    events = [Event(time=time, words=f"at {time:%H:%M}") for time in times]
    drawn = series([], BEGIN, END, says="", events=events)
    assert [event.words for event in drawn.events] == ["at 05:00", "", "at 09:00"]
