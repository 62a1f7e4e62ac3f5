"""How long the pipeline waits between two looks at the spool."""

from __future__ import annotations

SHORTEST, LONGEST = 0.1, 0.2
"""Seconds. A trace waits two seconds for its last span: a look ten times a second adds little, and
fifty cost a fifth of what a small service takes."""


class IdleWait:
    """Waits grow while nothing is open and nothing comes, and are short again when it does."""

    def __init__(self) -> None:
        self._seconds = SHORTEST

    def after(self, *, is_busy: bool) -> float:
        """Seconds to wait after a turn; `is_busy`: it had something to do, or a trace is open.

        >>> wait = IdleWait()
        >>> [wait.after(is_busy=False) for _ in range(5)], wait.after(is_busy=True)
        ([0.2, 0.2, 0.2, 0.2, 0.2], 0.1)
        """
        self._seconds = SHORTEST if is_busy else min(LONGEST, 2 * self._seconds)
        return self._seconds
