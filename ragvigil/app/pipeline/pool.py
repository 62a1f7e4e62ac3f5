"""Helping processes: they score while more waits than the core can score by itself.

They start when the core has been behind for seconds and end when it has not been for a minute.
What they make comes back in the order in which it was given; what is lost with one of them is
given back to be made again.
"""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool

import structlog

from ragvigil.app.pipeline import metrics
from ragvigil.app.pipeline import worker as scoring_child
from ragvigil.app.pipeline.score import Fresh
from ragvigil.app.pipeline.worker import Job, Made
from ragvigil.app.process import memory
from ragvigil.app.settings import Settings
from ragvigil.store.records.record_rows import RubricFacts

log = structlog.get_logger()

MOST_PROCESSES = 8
CORE_BYTES, PROCESS_BYTES = 1200 << 20, 256 << 20
JOB_CLOSINGS = 256
AHEAD = 1
"""Jobs that wait for a process beside those in work."""
PATIENCE_SECONDS, IDLE_SECONDS = 1.0, 60.0
JOB_SECONDS = 60.0
"""A job takes less than one; after this its process is taken for one that will never answer."""


class ScoringPool:
    """One thread. By default every CPU but the core's own has a process."""

    def __init__(
        self,
        settings: Settings,
        facts: Mapping[str, RubricFacts],
        writer: tuple[str, int],
    ) -> None:
        self._begin = (settings, facts, writer)
        asked = settings.scorers.processes
        self._processes = _spare() if asked is None else asked
        self._executor: ProcessPoolExecutor | None = None
        self._starting: list[Future[bool]] = []
        self._given: deque[tuple[Sequence[Fresh], Future[Made], float]] = deque()
        self._behind_since: float | None = None
        self._behind_last = 0.0

    def helps(self, now: float, *, is_behind: bool) -> bool:
        """Whether a job would be taken now; to be told at every turn whether the core is behind."""
        if is_behind:
            self._behind_last = now
            self._behind_since = now if self._behind_since is None else self._behind_since
            if self._executor is None and now - self._behind_since >= PATIENCE_SECONDS:
                self._start()
        else:
            self._behind_since = None
            if self._executor is not None and now - self._behind_last >= IDLE_SECONDS:
                self._end()
        return is_behind and self._are_ready() and len(self._given) < self._processes + AHEAD

    def give(self, job: Job, now: float) -> None:
        """Hands a job to a process; only while `helps` says so."""
        assert self._executor is not None
        self._given.append((job.fresh, _submitted(self._executor, job), now))

    def finished(
        self, now: float, seconds: float = 0.0
    ) -> Iterator[tuple[Sequence[Fresh], Made | None]]:
        """Closings and what was made of them, in order; None where that is lost.

        Waits for the first up to `seconds`.
        """
        if self._given and now - self._given[0][2] > JOB_SECONDS:
            self._end()
        if self._given and seconds:
            wait([self._given[0][1]], timeout=seconds)
        while self._given and self._given[0][1].done():
            fresh, future, _ = self._given.popleft()
            yield fresh, self._made(fresh, future)

    def closings(self) -> Iterator[Fresh]:
        """What is in work."""
        return (one for fresh, *_ in self._given for one in fresh)

    def oldest_seq(self) -> int | None:
        """The first frame that something in work needs."""
        return min((closing.first_seq for closing, _ in self.closings()), default=None)

    def stop(self) -> None:
        """Ends the processes; what is in work is still in the spool."""
        self._given.clear()
        self._end()

    def _start(self) -> None:
        if not self._processes:
            return
        self._executor = ProcessPoolExecutor(
            self._processes,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=scoring_child.begin,
            initargs=self._begin,
        )
        self._starting = [
            self._executor.submit(scoring_child.is_ready) for _ in range(self._processes)
        ]
        metrics.SCORING_PROCESSES.set(self._processes)
        log.info("scoring processes start: more waits than one can score", number=self._processes)

    def _are_ready(self) -> bool:
        """Whether the processes have begun; where they cannot, they are not asked again."""
        if not self._starting or not all(one.done() for one in self._starting):
            return False
        failed = [error for one in self._starting if (error := one.exception()) is not None]
        if failed:
            log.error(
                "scoring processes cannot start: the core scores alone", reason=str(failed[0])
            )
            self._processes = 0
            self._end()
        return not failed

    def _end(self) -> None:
        if self._executor is not None:
            self._executor.shutdown(wait=False, cancel_futures=True)
            for child in multiprocessing.active_children():  # what they do is done elsewhere
                child.kill()
            self._executor, self._starting, self._behind_since = None, [], None
            metrics.SCORING_PROCESSES.set(0)

    def _made(self, fresh: Sequence[Fresh], future: Future[Made]) -> Made | None:
        try:
            return future.result()
        except (BrokenProcessPool, CancelledError) as error:
            log.error("a scoring process was lost", reason=str(error), traces=len(fresh))
            self._end()
        except Exception:  # whatever it met there, the core must not end of it
            log.exception("a scoring process failed", traces=len(fresh))
        metrics.REDONE.inc(len(fresh))
        return None


def _spare() -> int:
    """How many processes there is a CPU and memory for, beside the core's own."""
    bytes_left = max(0, memory.limit_bytes() - CORE_BYTES)
    return min(memory.cpus() - 1, bytes_left // PROCESS_BYTES, MOST_PROCESSES)


def _submitted(executor: ProcessPoolExecutor, job: Job) -> Future[Made]:
    """The future of a job; one that has failed where the processes are gone already."""
    try:
        return executor.submit(scoring_child.make, job)
    except BrokenProcessPool as error:
        failed: Future[Made] = Future()
        failed.set_exception(error)
        return failed
