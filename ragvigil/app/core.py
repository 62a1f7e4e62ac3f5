"""The core process: assembly, scoring, store, jobs, API. Started and watched by the intake.

It stops on SIGTERM, or when the intake closes the control channel. The order of its start and
stop is that of `run`.
"""

from __future__ import annotations

import contextlib
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

import structlog
from prometheus_client import (
    GC_COLLECTOR,
    PLATFORM_COLLECTOR,
    PROCESS_COLLECTOR,
    REGISTRY,
    ProcessCollector,
    disable_created_metrics,
    generate_latest,
)

from alerts.deltas.metrics import ScoreMetrics
from collector.settings import CollectorSettings
from collector.spool.reserve import space_of
from ragvigil.app.fleet.edge import EdgeWork
from ragvigil.app.fleet.feed import Feed
from ragvigil.app.fleet.jobs import describe
from ragvigil.app.fleet.local_share import LocalShare
from ragvigil.app.fleet.part import Part
from ragvigil.app.job_table import OF_EVERY_ROLE, periodic_jobs, undone_since
from ragvigil.app.parts import CoreParts, assemble
from ragvigil.app.pipeline.balance import SpanBalance
from ragvigil.app.pipeline.loop import Pipeline
from ragvigil.app.process import memory
from ragvigil.app.process.control import say_last_words, serve_answers
from ragvigil.app.process.descriptors import fit_core, raise_limit
from ragvigil.app.process.directory import DirectoryTaken, hold
from ragvigil.app.process.jobs import Job, Schedule
from ragvigil.app.process.logs import configure_logs
from ragvigil.app.process.precedence import JOB_SECONDS, Precedence
from ragvigil.app.process.resting import Quiet, resting
from ragvigil.app.process.web import serve_web
from ragvigil.app.settings import Settings, SettingsError, load
from ragvigil.app.settings.fleet import Role, replica_of
from ragvigil.app.sources.health import Health
from ragvigil.app.status import Status
from ragvigil.inference.process_priority import yield_to_intake
from ragvigil.listener.reloads import Reloads, run_logged
from ragvigil.model.clock import Pace, pace
from ragvigil.store.engine import damage
from ragvigil.store.engine.errors import SchemaMismatch, StoreUnusable
from ragvigil.store.engine.store import Store
from ragvigil.web.sessions import Sessions
from scorers.judge.sampling import is_sampled
from scorers.runner import Runner, load_scorers
from scorers.text.chunk_text import CHUNKS

if TYPE_CHECKING:
    from ragvigil.web.guard import Guard

log = structlog.get_logger()

SWITCH_SECONDS = 0.0005
"""How long a thread may hold the interpreter while another waits. With Python's 5 ms the store's
thread, and the one that reads worker results, waited that long at every step."""
KEEP_SECONDS = 5.0
"""How old what passes for new may be: an answer of the API, and what much reading gave pages."""
EDGE_CHUNKS_BYTES = 24 << 20
"""What an edge keeps of chunks, so that a large corpus takes no more memory beside the service than
a small one: 400 chunks of 800 characters. Reading others again costs 8 % of the scoring."""
PREDECESSOR_SECONDS = 30.0
"""How long a core waits for the one before it to release the data directory."""


def main(channel: socket.socket) -> None:
    """Runs until a signal, or until the intake closes `channel`."""
    configure_logs()
    disable_created_metrics()  # type: ignore[no-untyped-call]
    try:
        settings = fit_core(load(), raise_limit())
    except SettingsError as error:  # the intake could read them: a file has changed since
        log.error("the core cannot start with these settings", reason=str(error))
        say_last_words(channel, str(error))
        sys.exit(2)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until there is something to reload
    try:
        with hold(settings.data_dir, "core", PREDECESSOR_SECONDS):
            run(settings, channel, stop, pace())
    except (StoreUnusable, SchemaMismatch, DirectoryTaken) as error:
        say_last_words(channel, str(error))
        sys.exit(3)


def run(settings: Settings, channel: socket.socket, stop: threading.Event, clock: Pace) -> None:
    """Runs the core from the store's opening to its closing, until `stop` is set.

    It starts in this order:

    1. The store; everything below reads it.
    2. The parts and the pipeline: they read the ledger and the checkpoint as the last life of
       the core left them, before anything writes.
    3. The control thread, so that the intake gets answers ("not ready") from now on. Over a server
       it comes first: the core then waits for the server, and an analyst for the lease.
    4. The jobs, then the web: what a page shows is running when it is first served.
    5. Ready, then the background, then the pipeline, which blocks until `stop`.

    It stops in this order:

    1. Not ready any more; the pipeline has returned with its last batch and its checkpoint.
    2. The web; then no job begins any more.
    3. The background, while the store still takes its last scores, then the jobs: the last roll-up
       covers everything that became durable.
    4. The store.
    """
    started = time.monotonic()
    sys.setswitchinterval(SWITCH_SECONDS)
    _own_process_metrics()
    runner = Runner(load_scorers(settings.scorers), settings.scorers)
    scores = ScoreMetrics(settings.metrics, runner.fails_below, clock.now)
    REGISTRY.register(scores)
    precedence = Precedence()
    store = _open_store(settings, clock, precedence)
    part = Part(settings, store, stop)
    answers = {"metrics": lambda: generate_latest(REGISTRY), "status": part.standing}
    try:
        if part.is_shared:  # from here on it may wait, for the server or for its turn to lead
            _start_control(channel, answers, stop)
        if not (_is_ready(store, stop) and part.take()):
            return
        if not part.leads:
            CHUNKS.bound(EDGE_CHUNKS_BYTES)
        parts = assemble(settings, store, runner, scores, clock.now, part.roles, precedence)
        pipeline = Pipeline(parts.pipeline)
        balance = SpanBalance(settings.data_dir / "spool", store, pipeline)
        status = _status(settings, store, parts, pipeline, balance, clock, part)
        answers["status"] = status.short
        if not part.is_shared:
            _start_control(channel, answers, stop)
        if part.leads:
            REGISTRY.register(part.leading.while_led(parts.jobs.watch.metrics))
        jobs = _jobs(settings, store, parts, pipeline, balance, scores, clock, part)
        schedule = Schedule(jobs, clock.factor, clock.now)
        schedule.start()
        web = _application(settings, store, status, parts, schedule, clock, part)
        _work(web, settings, status, parts, pipeline, stop, started)
        schedule.end()
        parts.background.stop()
        schedule.stop()
    finally:
        part.stop()
        store.close()
    log.info("core stopped")


def _work(
    web: Guard,
    settings: Settings,
    status: Status,
    parts: CoreParts,
    pipeline: Pipeline,
    stop: threading.Event,
    started: float,
) -> None:
    """Serves the web and runs the pipeline until `stop`."""
    reloads = Reloads()
    reloads.add(lambda: partial(web.access.take, settings.web.people()))
    with serve_web(web, settings.web, reloads):
        _reload_on_hangup(reloads)
        status.is_ready = True
        # From here on: a start waits for the CPU of a busy machine long enough as it is.
        yield_to_intake()
        log.info("core ready", seconds=round(time.monotonic() - started, 2))
        memory.collect_seldom()
        memory.give_back_code()
        parts.background.start()
        pipeline.run(stop)
        status.is_ready = False


def _jobs(
    settings: Settings,
    store: Store,
    parts: CoreParts,
    pipeline: Pipeline,
    balance: SpanBalance,
    scores: ScoreMetrics,
    clock: Pace,
    part: Part,
) -> list[Job]:
    """What runs by the clock in this daemon's part."""
    jobs = periodic_jobs(settings, store, parts, pipeline, balance, scores, clock.now, part.roles)
    jobs = part.jobs(
        jobs,
        OF_EVERY_ROLE,
        lambda: EdgeWork(
            store,
            parts.jobs.deferred.judging,
            partial(describe, store, settings, part.roles, balance, pipeline),
            clock.now,
            None if part.leads else undone_since(settings, clock.now),
        ),
        parts.pipeline.joining.offer,
        clock.now,
        parts.pipeline.noticing,
        partial(_local_share, settings, store, parts, clock, part.roles),
        lambda: Feed(store, parts.dirty_minutes, parts.jobs.watch.noticing, clock.now),
    )
    if part.is_shared:  # others may store what this daemon does not see
        return jobs
    quiet = Quiet(lambda: pipeline.spans_read + store.arrived, clock.now)
    return resting(jobs, quiet, clock.now, afterwards=memory.give_back_code)


def _local_share(
    settings: Settings,
    store: Store,
    parts: CoreParts,
    clock: Pace,
    roles: Collection[Role],
    work: EdgeWork,
) -> LocalShare:
    local, salt = parts.jobs.deferred.local, settings.judge.salt
    return LocalShare(
        store,
        local,
        lambda: work.members,
        lambda trace_id: is_sampled(trace_id, local.rate, salt),
        clock.now,
        is_scorer=Role.SCORER in roles,
    )


def _open_store(settings: Settings, clock: Pace, precedence: Precedence) -> Store:
    return Store.open(
        settings.store,
        settings.data_dir,
        replica=replica_of(settings.data_dir, settings.store.url, settings.fleet.replica),
        epoch=int(time.time()),
        keep_seconds=KEEP_SECONDS,
        clock=clock.now,
        give_way=precedence.pauses(JOB_SECONDS),
    )


def _is_ready(store: Store, stop: threading.Event) -> bool:
    """Waits for the store's tables, and sets aside what of them is damaged; False if it is to
    stop before."""
    if not store.sharing.wait_ready(stop):
        return False
    if damaged := damage.set_aside(store):
        log.error("damaged parts of the store were set aside", **damaged)
    return True


def _status(
    settings: Settings,
    store: Store,
    parts: CoreParts,
    pipeline: Pipeline,
    balance: SpanBalance,
    clock: Pace,
    part: Part,
) -> Status:
    listens = _listens(settings.collector)
    return Status(
        store=store,
        pipeline=pipeline,
        balance=balance,
        sections=lambda: {**parts.sections(), "listens": listens, **part.section()},
        needs=parts.runner.needs,
        space=partial(space_of, settings.data_dir),
        reserve=settings.store.disk_reserve_bytes,
        clock=clock.now,
        remarks=lambda: parts.jobs.deferred.judging.lines,
    )


def _listens(settings: CollectorSettings) -> dict[str, object]:
    """Where spans may be sent to, and what a sender needs."""
    return {
        "http": settings.http_endpoint,
        "grpc": settings.grpc_endpoint,
        "tls": settings.tls_key is not None,
        "token": settings.token("http") is not None,
    }


def _start_control(
    channel: socket.socket, answers: Mapping[str, Callable[[], bytes]], stop: threading.Event
) -> None:
    """Answers the intake in a thread; sets `stop` when the intake is gone."""

    def serve() -> None:
        serve_answers(channel, answers)
        stop.set()

    threading.Thread(target=serve, name="control", daemon=True).start()


def _reload_on_hangup(reloads: Reloads) -> None:
    """Reads tokens and certificates again on SIGHUP, in a thread: a handler must not log."""

    def reload(*_: object) -> None:
        threading.Thread(target=run_logged, args=(reloads, "web"), daemon=True).start()

    signal.signal(signal.SIGHUP, reload)


def _own_process_metrics() -> None:
    """Renames the core's process metrics: intake and core share one exposition."""
    for collector in (GC_COLLECTOR, PLATFORM_COLLECTOR, PROCESS_COLLECTOR):
        with contextlib.suppress(KeyError):
            REGISTRY.unregister(collector)
    ProcessCollector(namespace="ragvigil_core")


def _application(
    settings: Settings,
    store: Store,
    status: Status,
    parts: CoreParts,
    schedule: Schedule,
    clock: Pace,
    part: Part,
) -> Guard:
    """The web of this daemon's part: an edge's has no pages, and imports nothing of them."""
    from ragvigil.web.site.application import Sources, api

    failing, watch = parts.runner.fails_below, parts.jobs.watch
    sources: Sources = {
        "diagnosing": Health(
            settings, store, schedule.runs, failing, clock.now, lambda: watch.trials
        )
    }
    if part.leads:
        from ragvigil.app.web_sources import web_sources
        from ragvigil.web.compiled_templates import CompiledTemplates
        from ragvigil.web.pages.frame import PAGES

        PAGES.bytecode_cache = CompiledTemplates(settings.data_dir / "templates")
        sources |= web_sources(settings, store, status, parts, clock.now)
    return api(
        store,
        status,
        settings.web,
        sessions=Sessions(settings.data_dir / "sessions"),
        clock=lambda: datetime.fromtimestamp(clock.now(), UTC),
        keep_seconds=KEEP_SECONDS,
        first=parts.pipeline.precedence.request,
        analyst=None if part.leads else part.where,
        what=part.what(),
        is_prebuilt=True,
        **sources,
    )
