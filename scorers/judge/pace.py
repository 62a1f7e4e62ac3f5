"""How fast the judge gets on, and what that and the budget leave of the sampling rates."""

from __future__ import annotations

from dataclasses import dataclass

from scorers.judge.sampling import LEAST_THINNING

PATIENT_MINUTES, HALVING_MINUTES = 5.0, 2.5
"""A due record may wait its turn for so long; each further wait of HALVING_MINUTES halves the
rates. Verdicts then come within 20 minutes, and drift waits two hours for them."""
NEWEST_WEIGHT = 0.2
"""Of the newest minute in the mean pace: a pause of some minutes, for new spans, is no new pace."""
ROOMY_SHARE = 0.8
"""Share of the queue above which the rates sink: a full one drops what comes last, and a sample
without it is not uniform."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinning:
    """What the day's budget and the judge's pace leave of the sampling rates, each 0..1."""

    budget: float = 1.0
    pace: float = 1.0

    @property
    def factor(self) -> float:
        """The scarcer of both."""
        return min(self.budget, self.pace)


class Pace:
    """Counts the records that are begun in a minute, and says how many the judge can take.

    The rates follow the length of the queue, not the age of its records: a length shrinks as soon
    as less is sampled, an age only once the records of today's rate have their turn.
    """

    def __init__(self) -> None:
        self._begun, self._had_overdue = 0, False
        self._a_minute: float | None = None

    def count(self, begun: int) -> None:
        """Counts records that were begun for the first time."""
        self._begun += begun

    def next_factor(self, *, overdue: int, fill: float, minutes: float) -> float:
        """The factor (0..1) of the sampling rates, `minutes` after the last; 1 at first.

        `overdue` records are due and not begun; `fill` (0..1) is how full the queue is.
        """
        begun, self._begun = self._begun / minutes, 0
        # What a judge begins tells its pace only if work waited for it all the while.
        is_busy, self._had_overdue = self._had_overdue and overdue > 0, overdue > 0
        if is_busy:
            self._a_minute = _moved(self._a_minute, begun)
        wait = overdue / self._a_minute if is_busy and self._a_minute else 0.0
        by_wait = 2.0 ** -min(99.0, max(0.0, wait - PATIENT_MINUTES) / HALVING_MINUTES)
        by_fill = LEAST_THINNING ** (max(0.0, fill - ROOMY_SHARE) / (1 - ROOMY_SHARE))
        return float(max(LEAST_THINNING, min(by_wait, by_fill)))


def _moved(mean: float | None, minute: float) -> float | None:
    return minute or None if mean is None else mean + NEWEST_WEIGHT * (minute - mean)
