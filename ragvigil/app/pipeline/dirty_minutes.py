"""The minutes whose roll-ups are out of date."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from pathlib import Path

import orjson
import structlog

from collector.spool.files import RealFiles, write_durably
from ragvigil.store.records.traces import MOST_SECONDS

log = structlog.get_logger()

FILE_NAME = "dirty_minutes.json"
MOST_STALE = 30
"""Minutes that the file may name although they are rolled up: each is counted again at a start."""


class DirtyMinutes:
    """Collects minutes (Unix time of their first second) until a roll-up takes them.

    The sink and deferred scoring add the minutes of scores that became durable; the roll-up job
    takes them all, and says when they are done. For any number of threads.

    A `file` names at least all that are not done, so that a life of the core that ends before its
    roll-up leaves them to the next: in a long backlog several lives may end so, one after the
    other. Whoever adds a minute keeps what brought it until `add` returns.

    >>> dirty = DirtyMinutes()
    >>> dirty.add([60, 120])
    >>> sorted(dirty.take()), dirty.take()
    ([60, 120], set())
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._minutes = _read(file) if file else set()
        self._taken: set[int] = set()
        self._named = frozenset(self._minutes)
        # Without it a minute added while `take` swaps the set would never be rolled up again:
        # the pipeline, the judge, local models and the job each have a thread.
        self._lock = threading.Lock()

    def add(self, minutes: Iterable[int]) -> None:
        """Marks minutes as out of date."""
        with self._lock:
            self._minutes.update(minutes)
            if not self._minutes <= self._named:
                self._name()

    def take(self) -> set[int]:
        """Hands the minutes over, to be done or added again."""
        with self._lock:
            minutes, self._minutes = self._minutes, set()
            self._taken |= minutes
            return minutes

    def done(self, minutes: Iterable[int]) -> None:
        """Forgets minutes that were taken and are rolled up."""
        with self._lock:
            self._taken.difference_update(minutes)
            if len(self._named - self._minutes - self._taken) > MOST_STALE:
                self._name()

    def _name(self) -> None:
        self._named = frozenset(self._minutes | self._taken)
        if self._file is None:
            return
        try:
            write_durably(RealFiles(), self._file, orjson.dumps(sorted(self._named)))
        except OSError as error:
            log.warning("the minutes to roll up could not be written down", reason=str(error))


def _read(file: Path) -> set[int]:
    try:
        minutes = {int(minute) for minute in orjson.loads(file.read_bytes())}
    except FileNotFoundError:
        return set()
    except (OSError, ValueError, TypeError) as error:
        log.warning("the minutes to roll up could not be read", reason=str(error))
        return set()
    # One that no column holds would make every roll-up fail.
    return {minute for minute in minutes if 0 <= minute <= MOST_SECONDS}
