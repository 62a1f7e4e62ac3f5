"""A process that scores beside the core: closings in, rows and a digest out.

It reads the spool and no more; what it makes becomes durable in the core, or is made again there.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from collector.assembly.fetch import TraceFetcher
from collector.record.route import RouteCap, RouteRules
from collector.spool.reader import SpoolReader
from ragvigil.app.pipeline.digest import Digest, Digesting, gather
from ragvigil.app.pipeline.score import Fresh, Known, TraceScorer
from ragvigil.app.pipeline.worker_counters import Increases, increases
from ragvigil.app.process import memory
from ragvigil.app.process.logs import configure_logs
from ragvigil.app.settings import Settings
from ragvigil.inference.courtesy import step_back
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
    """Closings, what their records are named by, and the rate of local models."""

    fresh: Sequence[Fresh]
    known: Known
    local_rate: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """What came of a job, and how long scoring took.

    `routes` are those of the job, and those that were admitted here.
    """

    batch: Batch
    digest: Digest
    routes: RouteCap
    seconds: float
    counted: Increases


class Maker:
    """Does jobs, one after another. `writer` is the store's replica and epoch."""

    def __init__(
        self, settings: Settings, facts: Mapping[str, RubricFacts], writer: tuple[str, int]
    ) -> None:
        runner = Runner(load_scorers(settings.scorers), settings.scorers)
        rules = RouteRules.of(settings.collector.routes.rules)
        fetcher = TraceFetcher(SpoolReader(settings.data_dir / "spool"))
        self._settings = settings
        self._fails_below = runner.fails_below
        self._scoring = TraceScorer(fetcher, runner, rules)
        self._rows = TraceRows(facts, replica=writer[0], epoch=writer[1])

    def make(self, job: Job) -> Made:
        """Scores without local models: a job is only given away where there is no time for them."""
        self._rows.take()  # what a job has left behind that failed: the core makes it again
        started = time.perf_counter()
        outcomes = self._scoring.outcomes(job.fresh, job.known, lean=True)
        seconds = time.perf_counter() - started
        digesting = self._digesting(job.local_rate)
        gather(job.fresh, outcomes, self._rows, digesting)
        return Made(
            batch=self._rows.take(),
            digest=digesting.take(),
            routes=job.known.routes,
            seconds=seconds,
            counted=increases(),
        )

    def _digesting(self, local_rate: float) -> Digesting:
        judge, export = self._settings.judge, self._settings.export

        def wants(outcome: Outcome) -> bool:
            is_judged = bool(judge.model) and may_be_chosen(outcome.trace.trace_id, judge)
            return is_judged or export.takes(outcome.trace.backfill)

        def samples(outcome: Outcome) -> bool:
            return is_for_local_models(outcome, local_rate, judge.salt)

        return Digesting(self._fails_below, wants=wants, samples=samples)


_makers: list[Maker] = []


def begin(settings: Settings, facts: Mapping[str, RubricFacts], writer: tuple[str, int]) -> None:
    """Prepares this process. It ends with the core, however that ends."""
    threading.Thread(target=_end_with_the_core, daemon=True).start()
    step_back()
    configure_logs()
    use_own_files(settings.scorers.rubrics)
    _makers[:] = [Maker(settings, facts, writer)]
    memory.collect_seldom()
    increases()  # what was counted so far is nobody's


def _end_with_the_core() -> None:
    core = multiprocessing.parent_process()
    if core is not None:
        core.join()
        os._exit(1)


def make(job: Job) -> Made:
    """Does a job in a process that has begun."""
    return _makers[0].make(job)


def is_ready() -> bool:
    """Whether this process has begun; it answers when it has."""
    return bool(_makers)
