"""What `why` says first."""

from __future__ import annotations

from alerts.incidents.why import Situation, why


def test_a_failing_judge_stands_above_what_is_wrong_and_what_is_not() -> None:
    line = "the judge fails since Tue 22:13 UTC: 12 of its last 12 questions, wrong_key"
    lines = why(Situation(now=100.0, last_record=90, records=1, routes=1, judge=[line]))
    assert lines[:2] == (line, "nothing is known to be wrong")


def test_a_quiet_watch_says_which_lasting_drops_would_page() -> None:
    quiet = Situation(
        now=100.0,
        last_record=90,
        records=1,
        routes=1,
        visible_drops={"groundedness": 0.041, "answer_relevance": 0.083},
    )
    expected = (
        "drops that would page if they lasted a day, in points: "
        "groundedness 4, answer_relevance 8 or more"
    )
    assert expected in why(quiet)
