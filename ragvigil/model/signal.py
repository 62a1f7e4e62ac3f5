"""Which signals are summed, and the names of those that no rubric gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

SLOW = "seconds_total:slow"
ERROR = "error"
TRAFFIC = "requests"
THUMBS = "thumbs_down"
UNSUPPORTED = "groundedness:unsupported"
"""Given by a local model, to answers under the bar of their route."""
USUAL_SHARE = 0.05
"""Of the answers before an incident so many may lie under the bar that is taken from them."""


def is_rate(signal: str) -> bool:
    """Whether a signal is a share of bad answers: the higher, the worse."""
    return ":" in signal or signal in (ERROR, THUMBS)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalChoice:
    """Which signals are summed.

    `rates` are `rubric:label` or `rubric:failed`; `rubrics` are followed by their values, `local`
    by those that local models give, or as `rubric:label` by the share of a label of theirs;
    `local_rates` are `rubric:label` of theirs that have a ceiling. Measures in `logged` are summed
    by their natural logarithm. A request is slow over `slow_seconds`, or what its route (`route` or
    `service/route`) says.
    """

    rates: Sequence[str]
    rubrics: Sequence[str]
    local: Sequence[str]
    measures: Sequence[str]
    logged: Sequence[str]
    slow_seconds: float
    local_rates: Sequence[str] = ()
    slow_routes: Mapping[str, float] = field(default_factory=dict)
