"""How long a process that keeps ending is left alone: each end in a row doubles the pause.

>>> rest = Rest()
>>> rest.ended(now=100.0)
>>> rest.is_over(now=100.5), rest.is_over(now=101.0)
(False, True)
"""

from __future__ import annotations

FIRST_SECONDS = 1.0
LONGEST_SECONDS = 60.0
HEALTHY_SECONDS = 60.0
"""A process that lived so long after its pause begins again with the shortest one."""


class Rest:
    """When the next process may start."""

    def __init__(self) -> None:
        self._pause = FIRST_SECONDS
        self._until = float("-inf")

    def is_over(self, now: float) -> bool:
        """Whether a process may start at `now`."""
        return now >= self._until

    def ended(self, now: float) -> None:
        """A process ended that should not have."""
        if now - self._until > HEALTHY_SECONDS:
            self._pause = FIRST_SECONDS
        self._until = now + self._pause
        self._pause = min(self._pause * 2, LONGEST_SECONDS)
