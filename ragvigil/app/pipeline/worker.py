"""A process that scores beside the core: closings in, rows and a summary out.

It only reads the spool. Its results become durable in the core, which rescores what it loses.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from collector.assembly.fetch import TraceFetcher
from collector.record.route import RouteCap, RouteRules
from collector.spool.reader import SpoolReader
from ragvigil.app.pipeline.score import RecordContext, TraceScorer, Unscored
from ragvigil.app.pipeline.summary import OutcomeSummary, Rates, Summarizer, gather
from ragvigil.app.pipeline.worker_counters import Increases, increases
from ragvigil.app.process import memory
from ragvigil.app.process.logs import configure_logs
from ragvigil.app.process.parent import end_with_parent
from ragvigil.app.settings import Settings
from ragvigil.inference.process_priority import lower_priority
from ragvigil.model.outcome import Outcome
from ragvigil.store.engine.batch import Batch
from ragvigil.store.records.record_rows import RubricFacts
from ragvigil.store.records.traces import TraceRows
from scorers.judge.sampling import may_be_chosen
from scorers.local.job import is_for_local_models
from scorers.rubric import use_own_files
from scorers.runner import Runner, load_scorers


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Closings, the context of their records, and the sampling rates (0..1).

    `lean` leaves scorers by local models out. `erasures` counts those that began so far.
    """

    unscored: Sequence[Unscored]
    context: RecordContext
    rates: Rates
    lean: bool = True
    erasures: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class JobResult:
    """What a worker made of a job; `seconds` is the time that scoring took.

    `routes` are those of the job and those that the worker admitted.
    """

    batch: Batch
    summary: OutcomeSummary
    routes: RouteCap
    seconds: float
    counter_increases: Increases


class Worker:
    """Does jobs, one at a time.

    `writer` is the store's replica and epoch, `judged` are the rubrics that a judge scores.
    """

    def __init__(
        self,
        settings: Settings,
        facts: Mapping[str, RubricFacts],
        writer: tuple[str, int],
        judged: Collection[str] = (),
    ) -> None:
        runner = Runner(load_scorers(settings.scorers), settings.scorers, judged=judged)
        runner.prepare()
        rules = RouteRules.of(settings.collector.routes.rules)
        self._spool = SpoolReader(settings.data_dir / "spool")
        fetcher = TraceFetcher(self._spool, keeps=settings.store.spans)
        self._settings = settings
        self._fails_below = runner.fails_below
        self._scorer = TraceScorer(fetcher, runner, rules)
        self._rows = TraceRows(facts, replica=writer[0], epoch=writer[1])

    def run(self, job: Job) -> JobResult:
        """Scores the closings of a job."""
        self._spool.release_dropped()
        # Drops rows and counts of a job that failed: the core has rescored it.
        self._rows.take()
        increases()
        self._rows.note_erasures(job.erasures)
        started = time.perf_counter()
        outcomes = self._scorer.outcomes(job.unscored, job.context, lean=job.lean)
        seconds = time.perf_counter() - started
        summarizer = self._summarizer(job.rates)
        gather(job.unscored, outcomes, self._rows, summarizer)
        return JobResult(
            batch=self._rows.take(),
            summary=summarizer.take(),
            routes=job.context.routes,
            seconds=seconds,
            counter_increases=increases(),
        )

    def _summarizer(self, rates: Rates) -> Summarizer:
        """Keeps what the core's judge, local models and export would keep."""
        judge, export = self._settings.judge, self._settings.export

        def wants(outcome: Outcome) -> bool:
            trace_id = outcome.trace.trace_id
            is_judged = bool(judge.model) and may_be_chosen(trace_id, judge, rates.boost)
            return is_judged or export.takes(outcome.trace.backfill)

        def samples(outcome: Outcome) -> bool:
            return is_for_local_models(outcome, rates.local, judge.salt)

        return Summarizer(self._fails_below, wants=wants, samples=samples)


_workers: list[Worker] = []


def begin(
    settings: Settings,
    facts: Mapping[str, RubricFacts],
    writer: tuple[str, int],
    judged: Collection[str] = (),
) -> None:
    """Prepares this process, which ends with the core, however the core ends."""
    core = multiprocessing.parent_process()
    if core is not None and core.pid is not None:
        # Both: the thread where the kernel does not do it, the kernel where native code hangs.
        end_with_parent(core.pid)
    threading.Thread(target=_end_with_the_core, daemon=True).start()
    lower_priority()
    configure_logs()
    use_own_files(settings.scorers.rubrics)
    _workers[:] = [Worker(settings, facts, writer, judged)]
    memory.collect_seldom()
    increases()  # counts of the start belong to no job


def _end_with_the_core() -> None:
    # Without it a core that is killed would leave its workers behind.
    core = multiprocessing.parent_process()
    if core is not None:
        core.join()
        os._exit(1)


def run(job: Job) -> JobResult:
    """Does a job in a process that `begin` has prepared."""
    return _workers[0].run(job)


def is_ready() -> bool:
    """Whether `begin` has prepared this process; the executor runs it after `begin`."""
    return bool(_workers)
