"""Time between attempts."""

from __future__ import annotations

FIRST_SECONDS = 0.1


class Pause:
    """Time between attempts: doubles from 0.1 s to `longest`."""

    def __init__(self, longest: float) -> None:
        self._longest = longest
        self.reset()

    def reset(self) -> None:
        """The next attempt is due at once."""
        self._seconds, self._until = FIRST_SECONDS, 0.0

    def begin(self, now: float) -> None:
        """An attempt failed: the next is due after a pause, twice as long as the last."""
        self._until = now + self._seconds
        self._seconds = min(self._seconds * 2, self._longest)

    def is_over(self, now: float) -> bool:
        """Whether the next attempt is due."""
        return now >= self._until

    def left(self, now: float) -> float:
        """Seconds until it is."""
        return max(0.0, self._until - now)
