"""Metrics of the scorers."""

from __future__ import annotations

from prometheus_client import Counter

SCORER_ERRORS = Counter(
    "ragvigil_scorer_errors",
    "Scorers that raised on a record; the score is not applicable.",
    ["scorer"],
)
SCORER_TOO_LATE = Counter(
    "ragvigil_scorer_too_late",
    "Scores that are not applicable, because scorers before this one used up the record's time.",
    ["scorer"],
)
GUARDED = Counter(
    "ragvigil_pattern_answers",
    "Answers scored by a rubric with a pattern: passes, fails, or none where there is no text.",
    ["rubric", "result"],
)
