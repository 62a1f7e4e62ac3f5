"""A judge that misquotes is counted by its name, and warned about once."""

from __future__ import annotations

from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from ragvigil.model.score import Score
from scorers.judge.quotes import QuoteTally

MODEL = "openai:quoter"


def scores(quotes: int, missed: int) -> list[Score]:
    details: dict[str, object] = {"quotes": quotes, "downgraded": missed}
    judged = Score(rubric="groundedness", scorer=MODEL, version="2", details=details)
    return [judged, Score(rubric="answerable", scorer=MODEL, version="2")]


def counted(result: str) -> float:
    labels = {"rubric": "groundedness", "judge": f"{MODEL} v2", "result": result}
    return REGISTRY.get_sample_value("ragvigil_judge_quotes_total", labels) or 0.0


def test_quotes_are_counted_by_rubric_and_judge() -> None:
    found, missed = counted("found"), counted("not_found")
    tally = QuoteTally(MODEL)
    tally.add(scores(5, 2))
    assert (counted("found") - found, counted("not_found") - missed) == (3, 2)
    assert tally.status() == {"quotes": 5, "quotes_not_found": "2 (40%)"}


def test_nothing_is_said_of_a_few_quotes_or_of_a_small_share() -> None:
    tally = QuoteTally(MODEL)
    tally.add(scores(19, 19))
    assert tally.warning() == ""
    other = QuoteTally(MODEL)
    other.add(scores(100, 19))
    assert other.warning() == ""


def test_from_a_fifth_on_the_warning_is_logged_once_and_its_end_too() -> None:
    tally = QuoteTally(MODEL)
    with capture_logs() as log:
        for _ in range(5):
            tally.add(scores(10, 2))
        assert "10 of its last 50 quotes" in tally.warning()
        assert "strict_quotes" in tally.warning()
        for _ in range(5):
            tally.add(scores(10, 0))
    assert [line["event"] for line in log] == [
        "the judge misquotes",
        "the judge quotes correctly again",
    ]
    assert tally.warning() == ""
