"""Metrics of the judge."""

from __future__ import annotations

from prometheus_client import Counter, Gauge

WAITING = Gauge("ragvigil_judge_waiting", "Records that wait to be judged.")
RECORDS = Counter(
    "ragvigil_judge_records",
    "Records that left the queue, by stream: judged, changed meanwhile, or gone from the store.",
    ["stream", "result"],
)
SHED = Counter("ragvigil_judge_shed", "Records that were chosen and found the queue full.")
REPEATED = Counter(
    "ragvigil_judge_repeated", "Records begun again because the process ended while judging them."
)
MISSING = Counter(
    "ragvigil_judge_missing",
    "Verdicts that were asked for and not given, by the reason; never a score of 0.",
    ["rubric", "reason"],
)
THINNING = Gauge(
    "ragvigil_judge_thinning", "Part of the sampling rates that the budget leaves, 0 to 1."
)
THINNING.set(1.0)
