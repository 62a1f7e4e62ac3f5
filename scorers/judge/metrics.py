"""Metrics of the judge."""

from __future__ import annotations

from prometheus_client import Counter, Gauge

from scorers.judge.pace import Thinning

WAITING = Gauge(
    "ragvigil_judge_waiting",
    "Records that wait to be judged; none is begun while the core is 7 s behind.",
)
RECORDS = Counter(
    "ragvigil_judge_records",
    "Records that left the queue, by stream: judged, changed meanwhile, or gone from the store.",
    ["stream", "result"],
)
SHED = Counter("ragvigil_judge_shed", "Sampled records that found the queue full.")
REPEATED = Counter(
    "ragvigil_judge_repeated", "Records judged again because the process ended while judging them."
)
MISSING = Counter(
    "ragvigil_judge_missing",
    "Verdicts that the judge did not give, by reason; never a score of 0.",
    ["rubric", "reason"],
)
QUOTES = Counter(
    "ragvigil_judge_quotes",
    "Quotes by which a judge proves its grades, by result: found in the text, or not_found.",
    ["rubric", "judge", "result"],
)
THINNING = Gauge(
    "ragvigil_judge_thinning",
    "Factor that the budget, or a queue that fills, leaves of the sampling rates, 0 to 1.",
    ["cause"],
)


def show_thinning(thinning: Thinning) -> None:
    """Sets the gauge of each cause."""
    THINNING.labels("budget").set(thinning.budget)
    THINNING.labels("pace").set(thinning.pace)


show_thinning(Thinning())
