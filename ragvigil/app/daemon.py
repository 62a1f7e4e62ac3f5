"""The intake process: receivers, spool, metrics listener, and the supervision of the core.

Start: directory, addresses, spool, core, metrics listener, receivers. Stop, within 25 seconds:
not ready, receivers refuse new requests and acknowledge those under way, metrics listener, spool,
core.
"""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
import time
from collections.abc import AsyncIterator

import structlog
import uvicorn
from prometheus_client import disable_created_metrics

from alerts.settings import MetricsSettings
from collector.receiver.grpc import serve_grpc
from collector.receiver.http import serve_http
from collector.receiver.receive import Gate
from collector.redaction.redact import Redactor, installation_key
from collector.spool.spool import SpoolWriter
from ragvigil.app.process.directory import DirectoryTaken, hold
from ragvigil.app.process.disk_metrics import watch_disk
from ragvigil.app.process.exposition import Exposition
from ragvigil.app.process.logs import configure_logs
from ragvigil.app.process.ports import PortTaken, endpoints, require_free, split
from ragvigil.app.process.supervise import Core
from ragvigil.app.settings import Settings, SettingsError, load
from ragvigil.app.settings.guards import guards
from ragvigil.model.clock import BadClock, Pace, pace

log = structlog.get_logger()

CORE_STOP_SECONDS = 18.0
"""How long the core may take to finish before it is killed."""


def main() -> int:
    """Runs the daemon until SIGTERM or SIGINT; returns the exit status.

    If it cannot start, it prints one line on standard error and returns 2.
    """
    configure_logs()
    disable_created_metrics()  # type: ignore[no-untyped-call]
    try:
        settings, clock = load(), pace()
        lock = hold(settings.data_dir, "daemon")
        require_free(settings)
    except (SettingsError, BadClock, DirectoryTaken, PortTaken) as error:
        print(error, file=sys.stderr)
        return 2
    with lock:
        asyncio.run(run(settings, clock))
    return 0


async def run(settings: Settings, clock: Pace) -> None:
    """Serves until SIGTERM or SIGINT; returns with everything that was acknowledged on disk."""
    stop = _stop_signal()
    started = time.monotonic()
    spool = await SpoolWriter.open(settings.data_dir / "spool")
    watch_disk(settings.data_dir)
    gate = Gate.open(
        settings.collector, spool=spool, redactor=_redactor(settings), clock=clock.now_nanos
    )
    core = Core(settings.data_dir, settings.scorers.stall_seconds)
    core.start()
    async with contextlib.AsyncExitStack() as stack:
        # The stack ends in reverse order: receivers finish their acknowledgements before the
        # spool closes.
        stack.push_async_callback(core.stop, CORE_STOP_SECONDS)
        stack.push_async_callback(spool.close)
        exposition = Exposition(core, lambda: gate.is_accepting, settings.metrics)
        await stack.enter_async_context(serve_metrics(exposition, settings.metrics))
        await stack.enter_async_context(serve_http(gate, settings.collector))
        await stack.enter_async_context(serve_grpc(gate, settings.collector))
        log.info("access", listeners=guards(settings))
        log.info("listening", **_listening(settings), seconds=round(time.monotonic() - started, 2))
        await stop.wait()
        log.info("stopping")
        gate.close()
    log.info("stopped")


def _stop_signal() -> asyncio.Event:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


def _redactor(settings: Settings) -> Redactor:
    return Redactor(settings.collector.redact, key=installation_key(settings.data_dir))


def _listening(settings: Settings) -> dict[str, str]:
    return {"_".join(path): endpoint for path, endpoint in endpoints(settings).items()}


@contextlib.asynccontextmanager
async def serve_metrics(application: Exposition, settings: MetricsSettings) -> AsyncIterator[None]:
    """Serves `application` on this loop; the daemon keeps the handling of signals."""
    host, port = split(settings.endpoint)
    config = uvicorn.Config(
        application,
        host=host,
        port=port,
        lifespan="off",
        log_config=None,
        access_log=False,
        ssl_certfile=settings.tls_certificate,
        ssl_keyfile=settings.tls_key,
    )
    server = uvicorn.Server(config)
    server.capture_signals = contextlib.nullcontext  # type: ignore[assignment]
    serving = asyncio.create_task(server.serve())
    while not server.started and not serving.done():
        await asyncio.sleep(0.01)
    try:
        yield
    finally:
        server.should_exit = True
        await serving


if __name__ == "__main__":
    sys.exit(main())
