"""Drawings of odd data: cut, clipped or said, never wrong and never an error."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from ragvigil.web.drawings.axis import MOST_MARKS, time_marks
from ragvigil.web.drawings.flow import flow
from ragvigil.web.drawings.map import Spot, topic_map
from ragvigil.web.drawings.sparkline import HEIGHT, bars, sparkline
from ragvigil.web.drawings.waterfall import MOST_LEVELS, Timed, waterfall
from ragvigil.web.drawings.whisker import WIDTH, whisker

BEGIN = datetime(2026, 11, 22, 1, 36, tzinfo=UTC)


def timed(span_id: str, parent_id: str = "", begin: int = 0, end: int = 10**9) -> Timed:
    return Timed(span_id=span_id, parent_id=parent_id, name=span_id, kind="", begin=begin, end=end)


def test_a_change_beyond_the_scale_is_clipped_and_its_number_is_said() -> None:
    drawn = whisker(-0.95, -1.0, 0.4)
    assert drawn.dot is not None
    assert (drawn.dot, drawn.low, drawn.high) == (4, 4, WIDTH - 4)
    assert drawn.says == "−95 points, between −100 and +40"


def test_what_is_not_known_has_no_dot_and_no_interval() -> None:
    drawn = whisker(None, -0.1, 0.1, smallest_drop=0.2)
    assert (drawn.dot, drawn.low, drawn.high, drawn.says) == (None, None, None, "not known yet")
    assert drawn.smallest is not None


def test_a_series_that_holds_is_a_flat_line_and_not_noise_at_full_height() -> None:
    drawn = sparkline([0.50, 0.52, 0.49, 0.51], says="holds")
    heights = [float(point.split()[1]) for point in drawn.calm.replace("M", "L").split("L")[1:]]
    assert max(heights) - min(heights) < HEIGHT / 10


def test_a_sparkline_of_nothing_is_empty() -> None:
    assert sparkline([None, None], says="nothing").calm == ""
    assert sparkline([], says="nothing").end is None


def test_bars_of_no_counts_are_thin_lines() -> None:
    assert {height for _, _, height in bars([0] * 14, says="").bars} == {1.0}


@pytest.mark.parametrize("hours", [0.0, 0.02, 0.25, 1, 24, 24 * 7, 24 * 30, 24 * 365, 24 * 36500])
def test_an_axis_has_few_marks_in_order(hours: float) -> None:
    marks = time_marks(BEGIN, BEGIN + timedelta(hours=hours))
    assert len(marks) <= MOST_MARKS
    assert [mark.x for mark in marks] == sorted({mark.x for mark in marks})
    assert hours == 0 or marks


def test_chunks_that_occur_twice_or_come_from_nowhere_are_drawn() -> None:
    drawn = flow(["a", "a", "b"], ["b", "new", "a"])
    assert drawn.left == ("to rank 3", "to rank 3", "to rank 1")
    assert drawn.right == ("up 2", "added", "down 2")
    assert len(drawn.curves) == 2
    assert flow([], []).height == 0


def test_spans_without_their_parent_and_in_a_circle_are_drawn_once() -> None:
    spans = [timed("lost", "gone"), timed("a", "b"), timed("b", "a"), timed("self", "self")]
    rows = waterfall(spans).rows
    assert sorted(row.span.span_id for row in rows) == ["a", "b", "lost", "self"]


def test_a_deep_trace_is_indented_no_further_than_it_can_be_read() -> None:
    chain = [timed(str(number), str(number - 1) if number else "") for number in range(2000)]
    levels = [row.level for row in waterfall(chain).rows]
    assert levels[:7] == [0, 1, 2, 3, 4, MOST_LEVELS, MOST_LEVELS]
    assert len(levels) == 2000


def test_a_span_that_ends_before_it_begins_has_no_negative_width() -> None:
    row = waterfall([timed("whole"), timed("odd", "whole", begin=5 * 10**8, end=10**8)]).rows[1]
    assert row.width > 0
    assert row.words == "0 ms"


def test_a_trace_of_no_length_has_an_axis() -> None:
    drawn = waterfall([timed("point", begin=7, end=7)])
    assert drawn.rows[0].x == 0
    assert drawn.marks


def test_one_topic_stands_in_the_middle() -> None:
    (circle,) = topic_map([Spot(name="all", x=3, y=3, share=1.0, failing=None)])
    assert (circle.x, circle.y, circle.hue) == (320, 210, 0)
    assert topic_map([]) == ()


def test_names_of_topics_do_not_cover_each_other() -> None:
    spots = [
        Spot(name=name, x=x, y=x, share=share, failing=0.0)
        for name, x, share in (("small", 0, 0.28), ("large", 0, 0.3), ("far", 1, 0.05))
    ]
    assert [circle.name for circle in topic_map(spots)] == ["large", "", "far"]
    (long,) = topic_map([Spot(name="x" * 300, x=0, y=0, share=1.0, failing=0.0)])
    assert long.name == "x" * 27 + "…"
