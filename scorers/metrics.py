"""Metrics of the scorers."""

from __future__ import annotations

from prometheus_client import Counter

SCORER_ERRORS = Counter(
    "ragvigil_scorer_errors",
    "Scorers that raised on a record; the score is not applicable.",
    ["scorer"],
)
