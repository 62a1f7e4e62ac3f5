"""Worker processes that score while the core is behind (ADR 17), and large traces (ADR 21).

They start when the core has been behind for a second, or one of them when a large trace has waited
that long, and end when they were not needed for a minute, so that a quiet service pays nothing.
Results come back in the order of their jobs, those of large traces when they are done; a job lost
with its process comes back without one, and the core rescores it.
"""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    CancelledError,
    Future,
    ProcessPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace

import structlog

from ragvigil.app.pipeline import metrics, worker
from ragvigil.app.pipeline.score import Unscored
from ragvigil.app.pipeline.worker import Job, JobResult
from ragvigil.app.process import memory
from ragvigil.app.settings import Settings
from ragvigil.store.engine.erased import Erased
from ragvigil.store.records.record_rows import RubricFacts

log = structlog.get_logger()

MOST_PROCESSES = 8
CORE_BYTES, PROCESS_BYTES = 1200 << 20, 256 << 20
"""Memory set aside for the core, and for each worker."""
JOB_CLOSINGS = 256
AHEAD = 1
"""Jobs queued beside those in work."""
PATIENCE_SECONDS, IDLE_SECONDS = 1.0, 60.0


@dataclass(frozen=True, slots=True, eq=False)
class _Given:
    """A job in work: who does it, its closings, the result to come, and when it was given."""

    executor: ProcessPoolExecutor
    unscored: Sequence[Unscored]
    result: Future[JobResult]
    at: float


class ScoringPool:
    """For one thread. By default one worker on every CPU but the core's own."""

    def __init__(
        self,
        settings: Settings,
        facts: Mapping[str, RubricFacts],
        writer: tuple[str, int],
        judged: Collection[str] = (),
        erased: Erased | None = None,
    ) -> None:
        self._erased = erased or Erased()
        self._begin = (settings, facts, writer, judged)
        # A job takes less than a second; after this time its process counts as hung and is ended.
        self._job_seconds = settings.scorers.stall_seconds
        processes = settings.scorers.processes
        self._processes = _spare() if processes is None else processes
        self._executor: ProcessPoolExecutor | None = None
        self._starting: list[Future[bool]] = []
        self._jobs: deque[_Given] = deque()
        self._large: list[_Given] = []
        self._needed_since: float | None = None
        self._needed_last = 0.0

    @property
    def has_workers(self) -> bool:
        """Whether there are workers, or will be when they are needed."""
        return self._processes > 0

    def helps(self, now: float, *, is_behind: bool, has_large: bool = False) -> bool:
        """Whether a job may be given now.

        Must be called at every turn of the loop: it also starts and ends the workers.
        """
        if is_behind or has_large:
            self._needed_last = now
            self._needed_since = now if self._needed_since is None else self._needed_since
            if self._executor is None and now - self._needed_since >= PATIENCE_SECONDS:
                # The others start when there is a job for them.
                self._start(self._processes if is_behind else 1)
        else:
            self._needed_since = None
            if self._executor is not None and now - self._needed_last >= IDLE_SECONDS:
                self._end()
        # A job would wait behind a large trace where every worker has one.
        has_room = len(self._jobs) < self._processes + AHEAD and len(self._large) < self._processes
        return is_behind and self._are_ready() and has_room

    def takes_large(self) -> bool:
        """Whether the job of a large trace may be given now."""
        return self._are_ready() and len(self._large) < self._processes

    def give(self, job: Job, now: float, *, is_large: bool = False) -> bool:
        """Hands a job to a worker, after `helps` or `takes_large` was true.

        Returns False where the workers have ended since then.
        """
        if self._executor is None:
            return False
        result = _submitted(self._executor, replace(job, erasures=self._erased.count))
        given = _Given(self._executor, job.unscored, result, now)
        (self._large if is_large else self._jobs).append(given)
        return True

    def finished(
        self, now: float, seconds: float = 0.0
    ) -> Iterator[tuple[Sequence[Unscored], JobResult | None]]:
        """The closings of each finished job and its result, in order; None if the job is lost.

        Waits up to `seconds` for the first.
        """
        firsts = [*list(self._jobs)[:1], *self._large]
        if any(now - given.at > self._job_seconds for given in firsts):
            self._end()
        if firsts and seconds:
            wait([given.result for given in firsts], seconds, FIRST_COMPLETED)
        for given in [given for given in self._large if given.result.done()]:
            self._large.remove(given)
            yield given.unscored, self._result(given)
        while self._jobs and self._jobs[0].result.done():
            given = self._jobs.popleft()
            yield given.unscored, self._result(given)

    def closings(self) -> Iterator[Unscored]:
        """The closings of all jobs that are not collected yet."""
        return (each for given in (*self._jobs, *self._large) for each in given.unscored)

    def oldest_seq(self) -> int | None:
        """The first frame that a job still needs."""
        return min((closing.first_seq for closing, _ in self.closings()), default=None)

    def stop(self) -> None:
        """Ends the workers; the spans of their jobs are still in the spool."""
        self._jobs.clear()
        self._large.clear()
        self._end()

    def _start(self, number: int) -> None:
        if not self._processes:
            return
        self._executor = ProcessPoolExecutor(
            self._processes,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=worker.begin,
            initargs=self._begin,
        )
        self._starting = [self._executor.submit(worker.is_ready) for _ in range(number)]
        metrics.SCORING_PROCESSES.set(number)
        log.info("scoring processes start: the core is behind or has large traces", number=number)

    def _are_ready(self) -> bool:
        """Whether all workers are prepared; where one cannot start, the pool stays off."""
        if not self._starting or not all(future.done() for future in self._starting):
            return False
        errors = [error for future in self._starting if (error := future.exception()) is not None]
        if errors:
            log.error(
                "scoring processes cannot start: the core scores alone", reason=str(errors[0])
            )
            self._processes = 0
            self._end()
        return not errors

    def _end(self) -> None:
        if self._executor is not None:
            results = vars(self._executor)["_result_queue"]
            self._executor.shutdown(wait=False, cancel_futures=True)
            # `shutdown` would let them finish jobs that the core rescores anyway.
            for child in multiprocessing.active_children():
                child.kill()
            # While this process, too, could still write to it, the executor's thread would wait
            # for ever for the rest of a result in the middle of which its worker was killed.
            results._writer.close()
            self._executor, self._starting, self._needed_since = None, [], None
            metrics.SCORING_PROCESSES.set(0)

    def _result(self, given: _Given) -> JobResult | None:
        unscored = given.unscored
        try:
            return given.result.result()
        except (BrokenProcessPool, CancelledError) as error:
            log.error("a scoring process was lost", reason=str(error), traces=len(unscored))
            if given.executor is self._executor:  # else others have taken their place by now
                self._end()
        except Exception:  # a worker's error must not end the core, which rescores the job
            log.exception("a scoring process failed", traces=len(unscored))
        metrics.REDONE.inc(len(unscored))
        return None


def _spare() -> int:
    """How many workers the CPUs and the memory beside the core's own allow."""
    bytes_left = max(0, memory.limit_bytes() - CORE_BYTES)
    return min(memory.cpus() - 1, bytes_left // PROCESS_BYTES, MOST_PROCESSES)


def _submitted(executor: ProcessPoolExecutor, job: Job) -> Future[JobResult]:
    """The future of a job; already failed if the processes are gone."""
    try:
        return executor.submit(worker.run, job)
    except BrokenProcessPool as error:
        lost: Future[JobResult] = Future()
        lost.set_exception(error)
        return lost
