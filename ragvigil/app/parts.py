"""What the core is composed of, in groups: each is handed to the one that needs it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial

import structlog

from alerts.deltas.metrics import ScoreMetrics
from alerts.notices.blind import Mending
from alerts.notices.job import NoticeJob
from alerts.watch.run import Watch
from clustering.grouping.process import ClusteringChild
from clustering.issues import metrics as issue_metrics
from clustering.issues.job import IssueJob
from clustering.rca.job import RootCauseJob
from clustering.topics.job import TopicJob
from collector.assembly.fetch import TraceFetcher
from collector.doctor.fixes import fix
from collector.record.route import RouteCap, RouteRules
from collector.spool.reader import SpoolReader
from ragvigil.app import plugins
from ragvigil.app.fleet.edge import EdgeNoticing, ToldElsewhere
from ragvigil.app.golden.compose import golden_job
from ragvigil.app.golden.job import GoldenJob
from ragvigil.app.golden.questions import golden_questions
from ragvigil.app.pipeline.assemblies import Assemblies
from ragvigil.app.pipeline.deferred_scoring import DeferredScoring
from ragvigil.app.pipeline.dirty_minutes import FILE_NAME, DirtyMinutes
from ragvigil.app.pipeline.joining import Joining
from ragvigil.app.pipeline.known import look_up
from ragvigil.app.pipeline.ledger import Edge
from ragvigil.app.pipeline.loop import PipelineParts
from ragvigil.app.pipeline.pool import ScoringPool
from ragvigil.app.pipeline.quarantine import Quarantine
from ragvigil.app.pipeline.score import TraceScorer
from ragvigil.app.pipeline.sink import Sink
from ragvigil.app.pipeline.summary import OutcomeSummary, Summarizer
from ragvigil.app.process.heartbeat import Heartbeat
from ragvigil.app.process.precedence import Precedence
from ragvigil.app.process.suspects import Suspects
from ragvigil.app.settings import Settings
from ragvigil.app.settings.fleet import ROLES_OF_ONE, Role
from ragvigil.app.sources.rubrics import AcceptedRubrics
from ragvigil.inference.process import Inference
from ragvigil.model.clock import Clock
from ragvigil.model.outcome import Outcome
from ragvigil.store.engine.store import Store
from ragvigil.store.metrics import EMPTIED
from ragvigil.store.records import ledger
from ragvigil.store.records.traces import RubricFacts
from scorers.calibration.report import Calibration
from scorers.export.queue import ExportQueue
from scorers.rubric import load_rubrics
from scorers.runner import Runner

log = structlog.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class Jobs:
    """What runs by the clock; `job_table` gives each its period."""

    watch: Watch
    issues: IssueJob
    topics: TopicJob
    golden: GoldenJob
    root_causes: RootCauseJob
    deferred: DeferredScoring
    calibration: Calibration


@dataclass(frozen=True, slots=True, kw_only=True)
class Background:
    """What has threads or processes of its own, and the order in which they start and stop."""

    deferred: DeferredScoring
    exporting: ExportQueue
    pool: ScoringPool
    clusters: ClusteringChild
    root_causes: RootCauseJob
    watch: Watch

    def start(self) -> None:
        """Starts deferred scoring and the export; the others start when they are needed.

        Call it before the pipeline runs. Offers that come earlier wait in their queues.
        """
        self.deferred.start()
        self.exporting.start()

    def stop(self) -> None:
        """Stops everything within seconds; call it when the pipeline has returned."""
        self.pool.stop()
        self.clusters.stop()
        # Before the judge: the report of a run that the judge's end interrupts must not be kept.
        self.root_causes.stop()
        self.deferred.stop()
        # After the judge and local models, which hand it their last scores.
        self.exporting.stop()
        # Waits for a step of an audit under way; the judge's end has ended its wait for scores.
        self.watch.stop()


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreParts:
    """Everything that the core runs with; `runner` knows which rubrics a judge scores."""

    runner: Runner
    inference: Inference
    pipeline: PipelineParts
    jobs: Jobs
    background: Background
    dirty_minutes: DirtyMinutes
    accepted: AcceptedRubrics

    def sections(self) -> dict[str, object]:
        """The sections of the status that the parts write themselves."""
        return {
            **self.jobs.deferred.status(),
            "issues": self.jobs.issues.status(),
            "export": self.background.exporting.status(),
        }


def facts(runner: Runner) -> dict[str, RubricFacts]:
    """What the store must know about each rubric."""
    return {
        name: RubricFacts(version=rubric.version, fails_below=runner.fails_below.get(name))
        for name, rubric in load_rubrics().items()
    }


def assemble(
    settings: Settings,
    store: Store,
    runner: Runner,
    scores: ScoreMetrics,
    clock: Clock = time.time,
    roles: Collection[Role] = ROLES_OF_ONE,
    precedence: Precedence | None = None,
) -> CoreParts:
    """The core's parts, ready to run from the last checkpoint; logs the plug-ins left out.

    An edge has the analyst's parts too, and neither feeds nor runs them.
    """
    plugins.announce()
    is_analyst = Role.ANALYST in roles
    dirty = DirtyMinutes(settings.data_dir / FILE_NAME) if is_analyst else ToldElsewhere()
    exporting = ExportQueue(settings.export, clock=clock)
    inference = Inference(settings.inference)
    clusters = ClusteringChild(settings.clustering, settings.data_dir / "clustering")
    accepted = _accepted(store, clock)
    rubrics = facts(runner)
    deferred = DeferredScoring(
        settings, store, inference, rubrics, scores, dirty, clock, exporting.offer_later
    )
    runner = runner.with_judge(deferred.judged)
    accepted.bind(rubrics, runner.fails_below, deferred.judging)
    jobs = _jobs(settings, store, runner, scores, deferred, inference, clusters, clock)
    reader = SpoolReader(settings.data_dir / "spool")
    noticing = jobs.watch.noticing if is_analyst else EdgeNoticing(store)
    summarizer, on_durable = _summaries(scores, deferred, noticing, exporting)
    sink = _sink(store, scores, rubrics, reader, dirty, summarizer, on_durable, clock)
    writer = (store.replica, store.epoch)
    pool = ScoringPool(settings, rubrics, writer, deferred.judged, store.erased)
    stages = (reader, pool, sink, deferred, noticing, precedence or Precedence())
    return CoreParts(
        runner=runner,
        inference=inference,
        pipeline=_pipeline(settings, store, runner, *stages),
        jobs=jobs,
        background=_background(jobs, exporting, pool, clusters),
        dirty_minutes=dirty,
        accepted=accepted,
    )


def _accepted(store: Store, clock: Clock) -> AcceptedRubrics:
    accepted = AcceptedRubrics(store, clock)
    accepted.load()
    return accepted


def _background(
    jobs: Jobs, exporting: ExportQueue, pool: ScoringPool, clusters: ClusteringChild
) -> Background:
    return Background(
        deferred=jobs.deferred,
        exporting=exporting,
        pool=pool,
        clusters=clusters,
        root_causes=jobs.root_causes,
        watch=jobs.watch,
    )


def _pipeline(
    settings: Settings,
    store: Store,
    runner: Runner,
    reader: SpoolReader,
    pool: ScoringPool,
    sink: Sink,
    deferred: DeferredScoring,
    noticing: NoticeJob | EdgeNoticing,
    precedence: Precedence,
) -> PipelineParts:
    fetcher = TraceFetcher(reader, keeps=settings.store.spans)
    routes = settings.collector.routes
    return PipelineParts(
        reader=reader,
        fetcher=fetcher,
        assemblies=Assemblies(settings.collector.assembly),
        routes=RouteCap(routes.max_routes),
        lookup=partial(look_up, store),
        scorer=TraceScorer(fetcher, runner, RouteRules.of(routes.rules)),
        pool=pool,
        sink=sink,
        deferred=deferred,
        noticing=noticing,
        heartbeat=Heartbeat(settings.data_dir),
        precedence=precedence,
        quarantine=Quarantine(Suspects(settings.data_dir), reader, settings.data_dir / "spool"),
        joining=Joining(store),
    )


def _summaries(
    scores: ScoreMetrics,
    deferred: DeferredScoring,
    noticing: NoticeJob | EdgeNoticing,
    exporting: ExportQueue,
) -> tuple[Summarizer, Callable[[OutcomeSummary], None]]:
    """What summarizes outcomes, and what hands the summary of durable ones to the other stages."""

    def wants(outcome: Outcome) -> bool:
        return deferred.takes(outcome) or exporting.takes(outcome)

    def on_durable(summary: OutcomeSummary) -> None:
        deferred.offer(summary.kept, summary.left_out)
        noticing.offer(summary.fingerprints)
        exporting.offer(summary.kept)

    summarizer = Summarizer(scores.fails_below, wants=wants, samples=deferred.local.samples)
    return summarizer, on_durable


def _jobs(
    settings: Settings,
    store: Store,
    runner: Runner,
    scores: ScoreMetrics,
    deferred: DeferredScoring,
    inference: Inference,
    clusters: ClusteringChild,
    clock: Clock,
) -> Jobs:
    clustering, judge = settings.clustering, deferred.judging
    count_members = partial(issue_metrics.count_members, place=scores.place)
    calibration = Calibration(store, runner.fails_below, clock)
    return Jobs(
        watch=Watch(
            store,
            settings.alerts,
            settings.metrics,
            judge,
            external_url=settings.web.external_url,
            clock=clock,
            mending=Mending(needs=runner.needs, remedy=fix),
            judged_until=lambda _: judge.judged_until,
            judged=judge.judged,
            retired=calibration.retired,
        ),
        issues=IssueJob(
            store, inference, clustering, runner.fails_below, clusters, clock, count_members
        ),
        topics=TopicJob(
            store, inference, clustering.topics, clusters, golden_questions(settings), clock
        ),
        golden=golden_job(settings, store, runner, judge, inference, clock),
        root_causes=RootCauseJob(store, clustering.root_cause, judge, clock=clock),
        deferred=deferred,
        calibration=calibration,
    )


def _sink(
    store: Store,
    scores: ScoreMetrics,
    rubrics: Mapping[str, RubricFacts],
    reader: SpoolReader,
    dirty_minutes: DirtyMinutes,
    summarizer: Summarizer,
    on_durable: Callable[[OutcomeSummary], None],
    clock: Clock,
) -> Sink:
    """The sink, with the ledger as the last life of this process left it."""
    checkpoint, done = reader.checkpoint_of("core"), 0
    has_totals = checkpoint.spans is not None
    if checkpoint.seq or has_totals:
        done = checkpoint.seq
    elif oldest := reader.usage().oldest_seq:
        done = oldest - 1  # everything in the spool is read again, and nothing older
    sums = ledger.sums(store)
    is_emptied = bool(checkpoint.seq and not sums["frames"])
    if is_emptied:
        log.error("the store is empty, although spans had been stored: was it moved or removed?")
    EMPTIED.set(is_emptied)
    return Sink(
        store,
        scores,
        rubrics,
        settled=ledger.settled_after(store, done),
        begin=Edge(checkpoint.seq + 1, checkpoint.spans or 0) if has_totals else None,
        sums=sums,
        dirty_minutes=dirty_minutes,
        summarizer=summarizer,
        on_durable=on_durable,
        clock_unix=clock,
    )
