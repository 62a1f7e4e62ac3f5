"""The core process: assembly, scoring, store, jobs, API. Started and watched by the intake.

Start: directory, store, pipeline, jobs, web. Stop, on SIGTERM or when the intake is gone: web,
pipeline (its last batch and checkpoint), jobs, store.
"""

from __future__ import annotations

import contextlib
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime
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
from ragvigil.app.job_table import duties
from ragvigil.app.parts import assemble, calibration
from ragvigil.app.pipeline.balance import SpanBalance
from ragvigil.app.pipeline.loop import Pipeline
from ragvigil.app.process import memory
from ragvigil.app.process.control import serve_answers
from ragvigil.app.process.directory import hold
from ragvigil.app.process.jobs import start, stop_jobs
from ragvigil.app.process.logs import configure_logs
from ragvigil.app.process.ports import split
from ragvigil.app.settings import Settings, load
from ragvigil.app.sources.golden import Golden
from ragvigil.app.sources.incidents import Incidents
from ragvigil.app.sources.issues import Issues
from ragvigil.app.sources.operating import Operating
from ragvigil.app.sources.topics import Topics
from ragvigil.app.status import Status
from ragvigil.model.clock import Pace, pace
from ragvigil.store.engine.store import Store
from ragvigil.web.settings import WebSettings
from scorers.rubric import load_rubrics
from scorers.runner import Runner, load_scorers

if TYPE_CHECKING:
    from starlette.types import ASGIApp

log = structlog.get_logger()

SWITCH_SECONDS = 0.0005
"""The store's thread and what helping processes send back wait that long for the interpreter, not
the usual 5 ms at every step."""
PREDECESSOR_SECONDS = 30.0
"""How long a core waits for the one before it to give the store's directory up."""


def main(line: socket.socket) -> None:
    """Runs until told to stop or until the intake hangs up."""
    configure_logs()
    disable_created_metrics()  # type: ignore[no-untyped-call]
    settings = load()
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    with hold(settings.data_dir, "core", PREDECESSOR_SECONDS):
        run(settings, line, stop, pace())


def run(settings: Settings, line: socket.socket, stop: threading.Event, clock: Pace) -> None:
    """Everything the core is, from the store's opening to its closing."""
    started = time.monotonic()
    sys.setswitchinterval(SWITCH_SECONDS)
    _own_process_metrics()
    runner = Runner(load_scorers(settings.scorers), settings.scorers)
    scores = ScoreMetrics(settings.metrics, runner.fails_below, clock.now)
    REGISTRY.register(scores)
    store = Store.open(settings.store, settings.data_dir, epoch=int(time.time()), clock=clock.now)
    try:
        pipeline = Pipeline(assemble(settings, store, runner, scores, clock.now))
        books = SpanBalance(settings.data_dir / "spool", store, pipeline)
        status = Status(store=store, pipeline=pipeline, books=books, clock=clock.now)
        answers = {"metrics": lambda: generate_latest(REGISTRY), "status": status.short}
        _thread("control", _answer, line, answers, stop)
        REGISTRY.register(pipeline.parts.watching.metrics)
        jobs = duties(settings, store, pipeline, books, scores, clock.now)
        scheduler = start(jobs, clock.factor)
        with serve_web(_application(settings, store, status, pipeline, clock), settings.web):
            status.is_ready = True
            log.info("core ready", seconds=round(time.monotonic() - started, 2))
            memory.collect_seldom()
            pipeline.parts.start()
            pipeline.run(stop)
            status.is_ready = False
            pipeline.parts.stop()
        stop_jobs(scheduler, jobs)
    finally:
        store.close()
    log.info("core stopped")


def _answer(line: socket.socket, answers: dict[str, object], stop: threading.Event) -> None:
    serve_answers(line, answers)  # type: ignore[arg-type]
    stop.set()


def _thread(name: str, target: object, *arguments: object) -> None:
    threading.Thread(target=target, args=arguments, name=name, daemon=True).start()  # type: ignore[arg-type]


def _own_process_metrics() -> None:
    """Both processes stand in one exposition: the core's own figures get a name of their own."""
    for collector in (GC_COLLECTOR, PLATFORM_COLLECTOR, PROCESS_COLLECTOR):
        with contextlib.suppress(KeyError):
            REGISTRY.unregister(collector)
    ProcessCollector(namespace="ragvigil_core")


def _application(
    settings: Settings, store: Store, status: Status, pipeline: Pipeline, clock: Pace
) -> ASGIApp:
    from ragvigil.web.api.application import api

    failing, watching = pipeline.parts.runner.fails_below, pipeline.parts.watching
    return api(
        store,
        status,
        settings.web,
        judging=calibration(store, sorted(load_rubrics()), failing, clock.now),
        alerting=watching.metrics,
        pointing=Operating(store),
        watching=Incidents(store, watching.incidents, status, clock.now),
        issuing=_issues(settings, store, pipeline, clock),
        charting=Topics(store, pipeline.parts.topics, settings.clustering.topics),
        keeping=Golden(pipeline.parts.golden),
        clock=lambda: datetime.fromtimestamp(clock.now(), UTC),
    )


def _issues(settings: Settings, store: Store, pipeline: Pipeline, clock: Pace) -> Issues | None:
    parts, url = pipeline.parts, settings.web.external_url
    if not settings.clustering.enabled:
        return None
    return Issues(store, parts.issues, parts.explaining, external_url=url, clock=clock.now)


@contextlib.contextmanager
def serve_web(application: ASGIApp, settings: WebSettings) -> Iterator[None]:
    """The API and pages, in a thread with a loop of its own."""
    import uvicorn

    host, port = split(settings.endpoint)
    config = uvicorn.Config(
        application,
        host=host,
        port=port,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        ssl_certfile=settings.tls_certificate,
        ssl_keyfile=settings.tls_key,
        timeout_graceful_shutdown=2,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, name="web", daemon=True)
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.01)
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(5)
