"""What `why` says first."""

from __future__ import annotations

from alerts.incidents.why import Situation, why


def test_a_failing_judge_stands_above_what_is_wrong_and_what_is_not() -> None:
    line = "the judge fails since Tue 22:13 UTC: 12 of its last 12 questions, wrong_key"
    lines = why(Situation(now=100.0, last_record=90, records=1, routes=1, judge=[line]))
    assert lines[:2] == (line, "nothing is known to be wrong")
