"""The intake process: receivers, spool, metrics listener, and the supervision of the core.

Start: directory, addresses, spool, core, metrics listener, receivers. Stop, within 25 seconds:
not ready, receivers refuse new requests and acknowledge those under way, metrics listener, spool,
core.
"""

from __future__ import annotations

import ragvigil.app.process.plain_structlog  # noqa: F401

# isort: split
import asyncio
import contextlib
import signal
import sys
import time
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import IO

import structlog
from prometheus_client import disable_created_metrics

from alerts.settings import MetricsSettings
from collector.metrics import CONNECTIONS, CONNECTIONS_CLOSED
from collector.receiver.grpc import serve_grpc
from collector.receiver.http import serve_http
from collector.receiver.receive import Gate
from collector.redaction.redact import Redactor, installation_key
from collector.spool.reserve import DiskReserve, space_of
from collector.spool.spool import SpoolWriter
from ragvigil.app.process import memory
from ragvigil.app.process.descriptors import fit_intake, raise_limit
from ragvigil.app.process.directory import DirectoryTaken, say_stopping, take_over
from ragvigil.app.process.disk_metrics import watch_disk
from ragvigil.app.process.disk_watch import keep_room
from ragvigil.app.process.exposition import Exposition
from ragvigil.app.process.logs import configure_logs
from ragvigil.app.process.ports import PortTaken, require_free
from ragvigil.app.process.supervise import Core
from ragvigil.app.settings import Settings, SettingsError, endpoints, load
from ragvigil.app.settings.fleet import Role
from ragvigil.app.settings.guards import guards, require_folder, require_readable
from ragvigil.app.settings.installation import require_installed, switched_off
from ragvigil.listener.limits import ConnectionCounts, ConnectionLimits
from ragvigil.listener.reloads import Reloads, run_logged
from ragvigil.listener.serve import Tls, serve
from ragvigil.model.clock import BadClock, Pace, pace

log = structlog.get_logger()


class SpoolUnusable(Exception):
    """The spool's folder cannot be used; `str(error)` is the line for the user."""


CORE_STOP_SECONDS = 18.0
"""How long the core may take to finish before it is killed."""
METRICS_STOP_SECONDS = 1


def main() -> int:
    """Runs the daemon until SIGTERM or SIGINT; returns the exit status.

    If it cannot start, it prints one line on standard error and returns 2.
    """
    configure_logs()
    disable_created_metrics()  # type: ignore[no-untyped-call]
    try:
        settings, clock = load(), pace()
        require_readable(settings)
        require_folder(settings)
        require_installed(settings)
        lock = take_over(settings.data_dir)
        require_free(settings)
    except (SettingsError, BadClock, DirectoryTaken, PortTaken) as error:
        print(error, file=sys.stderr)
        return 2
    with lock:
        try:
            asyncio.run(run(fit_intake(settings, raise_limit()), clock, lock))
        except SpoolUnusable as error:
            print(error, file=sys.stderr)
            return 2
    return 0


async def run(settings: Settings, clock: Pace, lock: IO[str]) -> None:
    """Serves until SIGTERM or SIGINT; returns with everything that was acknowledged on disk.

    The lock of the directory says so while it stops.
    """
    stop = _stop_signal()
    started = time.monotonic()
    spool = await _open_spool(settings.data_dir / "spool")
    reserve = settings.store.disk_reserve_bytes
    watch_disk(settings.data_dir, reserve)
    disk = DiskReserve(partial(space_of, settings.data_dir), reserve, time.monotonic)
    gate = Gate.open(
        settings.collector,
        spool=spool,
        redactor=_redactor(settings),
        is_disk_short=disk.is_touched,
        clock=clock.now_nanos,
    )
    core = Core(settings.data_dir, settings.scorers.stall_seconds)
    core.start()
    room = asyncio.create_task(keep_room(spool, disk, settings.data_dir / "spool"))
    async with contextlib.AsyncExitStack() as stack:
        # The stack ends in reverse order: receivers finish their acknowledgements before the
        # spool closes.
        stack.push_async_callback(core.stop, CORE_STOP_SECONDS)
        stack.push_async_callback(spool.close)
        stack.callback(room.cancel)
        exposition = Exposition(core, lambda: gate.is_accepting, settings.metrics, disk.is_touched)
        reloads = Reloads()
        await stack.enter_async_context(serve_metrics(exposition, settings.metrics, reloads))
        if Role.EDGE in settings.fleet.roles:
            await stack.enter_async_context(serve_http(gate, settings.collector, reloads))
            await stack.enter_async_context(serve_grpc(gate, settings.collector, reloads))
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, _reload, reloads, core)
        _say_access(settings)
        memory.collect_soon()
        log.info("listening", **_listening(settings), seconds=round(time.monotonic() - started, 2))
        await stop.wait()
        log.info("stopping")
        say_stopping(lock)
        gate.close()
    log.info("stopped")


def _say_access(settings: Settings) -> None:
    log.info("access", listeners=guards(settings))
    for section, reason in switched_off(settings):
        log.warning("switched off", setting=section, reason=reason)


async def _open_spool(folder: Path) -> SpoolWriter:
    """Opens the spool, and logs what its start had to repair. Raises SpoolUnusable."""
    try:
        # Seqs begin at the time: those of a spool that was deleted, or put back from a copy, never
        # come again, and the ledger knows frames by their seq.
        spool = await SpoolWriter.open(folder, least_seq=int(time.time()) << 20)
    except OSError as error:
        raise SpoolUnusable(
            f"the spool {folder} cannot be used: {error.strerror or error}; it must be a folder "
            f"that ragvigil may list and write, or set data_dir (RAGVIGIL_DATA_DIR) to another one"
        ) from error
    if not spool.recovery.is_clean:
        log.error("spool repaired", **asdict(spool.recovery))
    return spool


def _stop_signal() -> asyncio.Event:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


def _reload(reloads: Reloads, core: Core) -> None:
    """On SIGHUP, in the intake. The core does the same for the web, and logs its own."""
    run_logged(reloads, "receivers and metrics")
    core.reload()


def _redactor(settings: Settings) -> Redactor:
    return Redactor(settings.collector.redact, key=installation_key(settings.data_dir))


def _listening(settings: Settings) -> dict[str, str]:
    receives = Role.EDGE in settings.fleet.roles
    return {
        "_".join(path): endpoint
        for path, endpoint in endpoints(settings).items()
        if receives or path[0] != "collector"
    }


def serve_metrics(
    application: Exposition, settings: MetricsSettings, reloads: Reloads
) -> contextlib.AbstractAsyncContextManager[int]:
    """Serves `application` on this loop; yields the port."""
    reloads.add(lambda: partial(application.take, settings.secret()))
    limits = ConnectionLimits(
        name="metrics",
        most=settings.max_connections,
        counts=ConnectionCounts(open=CONNECTIONS, closed=CONNECTIONS_CLOSED),
    )
    tls = Tls(certificate=settings.tls_certificate, key=settings.tls_key)
    return serve(
        application,
        settings.endpoint,
        limits,
        tls=tls,
        stop_seconds=METRICS_STOP_SECONDS,
        reloads=reloads,
    )


if __name__ == "__main__":
    sys.exit(main())
