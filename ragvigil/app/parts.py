"""What the core is composed of."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from functools import partial

from alerts.audits.estimates import estimates
from alerts.deltas.metrics import ScoreMetrics
from alerts.watch.run import Watch
from clustering.grouping.process import ClusteringChild
from clustering.issues import metrics as issue_metrics
from clustering.issues.job import IssueJob
from clustering.rca.job import RootCauseJob
from clustering.topics.job import TopicJob
from collector.assembly.fetch import TraceFetcher
from collector.record.route import RouteCap, RouteRules
from collector.spool.reader import SpoolReader
from ragvigil.app import plugins
from ragvigil.app.golden.compose import golden_job
from ragvigil.app.golden.questions import golden_questions
from ragvigil.app.pipeline.assemblies import Assemblies
from ragvigil.app.pipeline.deferred_scoring import DeferredScoring
from ragvigil.app.pipeline.digest import Digest, Digesting
from ragvigil.app.pipeline.loop import Parts
from ragvigil.app.pipeline.pool import ScoringPool
from ragvigil.app.pipeline.score import TraceScorer
from ragvigil.app.pipeline.sink import Sink
from ragvigil.app.settings import Settings
from ragvigil.inference.process import Inference
from ragvigil.model.clock import Clock
from ragvigil.model.outcome import Outcome
from ragvigil.store.engine.store import Store
from ragvigil.store.records import ledger, traces
from ragvigil.store.records.traces import RubricFacts
from scorers.calibration.report import Calibration
from scorers.export.queue import ExportQueue
from scorers.rubric import load_rubrics
from scorers.runner import Runner


def facts(runner: Runner) -> dict[str, RubricFacts]:
    """What the store must know of each rubric."""
    return {
        name: RubricFacts(version=rubric.version, fails_below=runner.fails_below.get(name))
        for name, rubric in load_rubrics().items()
    }


def calibration(
    store: Store, rubrics: Collection[str], bars: Mapping[str, float], clock: Clock
) -> Calibration:
    """Judges held against people, with the estimates that the watch makes of judged means."""
    return Calibration(store, rubrics, bars, partial(estimates, store), clock=clock)


def assemble(
    settings: Settings,
    store: Store,
    runner: Runner,
    scores: ScoreMetrics,
    clock: Clock = time.time,
) -> Parts:
    """The pipeline's parts, ready to run from the last checkpoint; says which plug-ins are not."""
    plugins.announce()
    dirty: set[int] = set()
    exporting = ExportQueue(settings.export, clock=clock)
    inference = Inference(settings.inference)
    clusters = ClusteringChild(settings.clustering, settings.data_dir / "clustering")
    rubrics = facts(runner)
    later = DeferredScoring(
        settings, store, inference, rubrics, scores, dirty, clock, exporting.offer_later
    )
    watching = _watching(settings, store, later, clock)
    reader, routes = SpoolReader(settings.data_dir / "spool"), settings.collector.routes
    fetcher, runner = TraceFetcher(reader), runner.behind(later.judged)
    digesting, tell = _told(scores, later, watching, exporting)
    return Parts(
        reader=reader,
        fetcher=fetcher,
        runs=Assemblies(settings.collector.assembly),
        runner=runner,
        scoring=TraceScorer(fetcher, runner, RouteRules.of(routes.rules)),
        pool=ScoringPool(settings, rubrics, (store.replica, store.epoch)),
        routes=RouteCap(routes.max_routes),
        sink=_sink(store, scores, rubrics, reader, dirty, digesting, tell, clock),
        look_up=lambda trace_ids: traces.look_up(store, trace_ids),
        later=later,
        exporting=exporting,
        watching=watching,
        topics=TopicJob(
            store,
            inference,
            settings.clustering.topics,
            clusters,
            golden_questions(settings),
            clock,
        ),
        golden=golden_job(settings, store, runner, later.judging, inference, clock),
        issues=_issues(settings, store, inference, clusters, runner, scores, clock),
        clusters=clusters,
        explaining=RootCauseJob(store, settings.clustering.root_cause, later.judging, clock=clock),
    )


def _told(
    scores: ScoreMetrics, later: DeferredScoring, watching: Watch, exporting: ExportQueue
) -> tuple[Digesting, Callable[[Digest], None]]:
    """Gathers what somebody wants to hear of, and tells it to whom it concerns."""

    def wants(outcome: Outcome) -> bool:
        return later.takes(outcome) or exporting.takes(outcome)

    def tell(digest: Digest) -> None:
        later.offer(digest.kept, digest.left_out)
        watching.noticing.offer(digest.prints)
        exporting.offer(digest.kept)

    digesting = Digesting(scores.fails_below, wants=wants, samples=later.local.samples)
    return digesting, tell


def _watching(settings: Settings, store: Store, later: DeferredScoring, clock: Clock) -> Watch:
    return Watch(
        store,
        settings.alerts,
        settings.metrics,
        later.judging,
        external_url=settings.web.external_url,
        clock=clock,
    )


def _issues(
    settings: Settings,
    store: Store,
    inference: Inference,
    clusters: ClusteringChild,
    runner: Runner,
    scores: ScoreMetrics,
    clock: Clock,
) -> IssueJob:
    return IssueJob(
        store,
        inference,
        settings.clustering,
        runner.fails_below,
        clusters,
        clock,
        partial(issue_metrics.count_members, place=scores.place),
    )


def _sink(
    store: Store,
    scores: ScoreMetrics,
    rubrics: Mapping[str, RubricFacts],
    reader: SpoolReader,
    dirty_minutes: set[int],
    digesting: Digesting,
    tell: Callable[[Digest], None],
    clock: Clock,
) -> Sink:
    """The sink, with the books as the last life of this process left them."""
    done = reader.checkpoint_of("core")
    return Sink(
        store,
        scores,
        rubrics,
        settled=ledger.settled_after(store, done),
        settled_spans=ledger.spans_from(store, done + 1),
        placed=ledger.sums(store),
        dirty_minutes=dirty_minutes,
        digesting=digesting,
        tell=tell,
        clock_unix=clock,
    )
