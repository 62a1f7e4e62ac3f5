"""The metric of change notices."""

from __future__ import annotations

from prometheus_client import Counter

UNNOTICED = Counter(
    "ragvigil_records_unnoticed",
    "Records without effect on change notices: late, 10 minutes after newer ones of their route; "
    "shed, too many waited.",
    ["reason"],
)
