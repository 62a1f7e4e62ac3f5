"""A circuit breaker: an endpoint that keeps failing gets no calls for a while."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from ragvigil.model.backoff import Backoff

LONGEST_SECONDS = 45.0
"""Longest pause: that an API answers again is noticed within a minute, and a probe costs a call."""


class BreakerState(StrEnum):
    """Closed lets every call through, open none, half open one at a time."""

    CLOSED = "closed"
    HALF_OPEN = "half_open"
    OPEN = "open"


class Breaker:
    """Opens after `failures` failed attempts in a row, tries one call after `pause_seconds`.

    Each probe that fails doubles the pause, up to `longest_seconds`. Every `enter` that returned
    True is followed by exactly one of `succeeded`, `failed` or `cancelled`.

    >>> now = 0.0
    >>> breaker = Breaker(failures=2, pause_seconds=10, clock=lambda: now)
    >>> for _ in range(2):
    ...     breaker.enter()
    ...     breaker.failed()
    True
    True
    >>> breaker.enter()
    False
    >>> now = 10.0
    >>> breaker.enter(), breaker.enter()
    (True, False)
    >>> breaker.succeeded()
    >>> breaker.enter()
    True
    """

    def __init__(
        self,
        *,
        failures: int,
        pause_seconds: float,
        clock: Callable[[], float],
        longest_seconds: float = LONGEST_SECONDS,
    ) -> None:
        self._most_failures = failures
        longest = max(pause_seconds, longest_seconds)
        self._backoff = Backoff(first_seconds=pause_seconds, longest_seconds=longest)
        self._clock = clock
        self._in_a_row = 0
        self._openings = 0
        self._open_until: float | None = None
        self._is_probing = False

    @property
    def state(self) -> BreakerState:
        """The state that the next `enter` meets."""
        if self._open_until is None:
            return BreakerState.CLOSED
        if self._is_probing or self._clock() < self._open_until:
            return BreakerState.OPEN
        return BreakerState.HALF_OPEN

    @property
    def pause_seconds(self) -> float:
        """Seconds until the next probe may be made; 0 while it is closed."""
        return 0.0 if self._open_until is None else max(0.0, self._open_until - self._clock())

    def enter(self) -> bool:
        """Whether a call may be made now; a half-open breaker lets one through as its probe."""
        state = self.state
        self._is_probing |= state is BreakerState.HALF_OPEN
        return state is not BreakerState.OPEN

    def succeeded(self) -> None:
        """The endpoint answered; closes the breaker, even if the call began before it opened."""
        self._close()

    def failed(self) -> None:
        """The call failed in a way that speaks against the endpoint."""
        self._in_a_row += 1
        if self._open_until is None:
            if self._in_a_row >= self._most_failures:
                self._open()
        elif self._is_probing:
            self._is_probing = False
            self._open()

    def cancelled(self) -> None:
        """The call was cancelled before it could show whether the endpoint works."""
        self._is_probing = False

    def _open(self) -> None:
        self._openings += 1
        self._open_until = self._clock() + self._backoff.seconds(self._openings)

    def _close(self) -> None:
        self._in_a_row = self._openings = 0
        self._open_until = None
        self._is_probing = False
