"""Worker processes that score while the core is behind (ADR 17).

They start when the core has been behind for a second and end when it has not been for a minute, so
that a quiet service pays nothing.
Results come back in the order of their jobs; a job lost with its process comes back without one,
and the core rescores it.
"""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import CancelledError, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool

import structlog

from ragvigil.app.pipeline import metrics, worker
from ragvigil.app.pipeline.score import Unscored
from ragvigil.app.pipeline.worker import Job, JobResult
from ragvigil.app.process import memory
from ragvigil.app.settings import Settings
from ragvigil.store.records.record_rows import RubricFacts

log = structlog.get_logger()

MOST_PROCESSES = 8
CORE_BYTES, PROCESS_BYTES = 1200 << 20, 256 << 20
"""Memory set aside for the core, and for each worker."""
JOB_CLOSINGS = 256
AHEAD = 1
"""Jobs queued beside those in work."""
PATIENCE_SECONDS, IDLE_SECONDS = 1.0, 60.0


class ScoringPool:
    """For one thread. By default one worker on every CPU but the core's own."""

    def __init__(
        self,
        settings: Settings,
        facts: Mapping[str, RubricFacts],
        writer: tuple[str, int],
    ) -> None:
        self._begin = (settings, facts, writer)
        # A job takes less than a second; after this time its process counts as hung and is ended.
        self._job_seconds = settings.scorers.stall_seconds
        processes = settings.scorers.processes
        self._processes = _spare() if processes is None else processes
        self._executor: ProcessPoolExecutor | None = None
        self._starting: list[Future[bool]] = []
        self._jobs: deque[tuple[Sequence[Unscored], Future[JobResult], float]] = deque()
        self._behind_since: float | None = None
        self._behind_last = 0.0

    def helps(self, now: float, *, is_behind: bool) -> bool:
        """Whether a job may be given now.

        Must be called at every turn of the loop: it also starts and ends the workers.
        """
        if is_behind:
            self._behind_last = now
            self._behind_since = now if self._behind_since is None else self._behind_since
            if self._executor is None and now - self._behind_since >= PATIENCE_SECONDS:
                self._start()
        else:
            self._behind_since = None
            if self._executor is not None and now - self._behind_last >= IDLE_SECONDS:
                self._end()
        return is_behind and self._are_ready() and len(self._jobs) < self._processes + AHEAD

    def give(self, job: Job, now: float) -> None:
        """Hands a job to a worker; only after `helps` was true."""
        assert self._executor is not None
        self._jobs.append((job.unscored, _submitted(self._executor, job), now))

    def finished(
        self, now: float, seconds: float = 0.0
    ) -> Iterator[tuple[Sequence[Unscored], JobResult | None]]:
        """The closings of each finished job and its result, in order; None if the job is lost.

        Waits up to `seconds` for the first.
        """
        if self._jobs and now - self._jobs[0][2] > self._job_seconds:
            self._end()
        if self._jobs and seconds:
            wait([self._jobs[0][1]], timeout=seconds)
        while self._jobs and self._jobs[0][1].done():
            unscored, future, _ = self._jobs.popleft()
            yield unscored, self._result(unscored, future)

    def closings(self) -> Iterator[Unscored]:
        """The closings of all jobs that are not collected yet."""
        return (closing for unscored, *_ in self._jobs for closing in unscored)

    def oldest_seq(self) -> int | None:
        """The first frame that a job still needs."""
        return min((closing.first_seq for closing, _ in self.closings()), default=None)

    def stop(self) -> None:
        """Ends the workers; the spans of their jobs are still in the spool."""
        self._jobs.clear()
        self._end()

    def _start(self) -> None:
        if not self._processes:
            return
        self._executor = ProcessPoolExecutor(
            self._processes,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=worker.begin,
            initargs=self._begin,
        )
        self._starting = [self._executor.submit(worker.is_ready) for _ in range(self._processes)]
        metrics.SCORING_PROCESSES.set(self._processes)
        log.info("scoring processes start: the core is behind", number=self._processes)

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
            self._executor.shutdown(wait=False, cancel_futures=True)
            # `shutdown` would let them finish jobs that the core rescores anyway.
            for child in multiprocessing.active_children():
                child.kill()
            self._executor, self._starting, self._behind_since = None, [], None
            metrics.SCORING_PROCESSES.set(0)

    def _result(self, unscored: Sequence[Unscored], future: Future[JobResult]) -> JobResult | None:
        try:
            return future.result()
        except (BrokenProcessPool, CancelledError) as error:
            log.error("a scoring process was lost", reason=str(error), traces=len(unscored))
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
