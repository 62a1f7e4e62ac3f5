"""Takes the traces of an evaluation over OTLP, by the receivers of the daemon."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager

from collector.assembly.settings import AssemblyLimits
from collector.decode.shape import SHAPES
from collector.settings import CollectorSettings
from ragvigil.evaluation.target.arriving_trace import ArrivingTrace, Requests, by_trace
from ragvigil.evaluation.target.wrong import BadTarget
from ragvigil.listener.serve import in_thread
from ragvigil.model.endpoint import split_endpoint
from ragvigil.model.span import Signal

LOOK_SECONDS = 0.05
STOP_SECONDS = 10.0
KEY_BYTES = 32


class TraceInbox:
    """Keeps the traces that somebody expects, in memory; all others are counted and let go.

    It stands where the daemon has its spool. Safe from any thread.
    """

    def __init__(self, limits: AssemblyLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits, self._clock = limits, clock
        self._expected: dict[bytes, ArrivingTrace] = {}
        self._changed = threading.Condition()
        self.matched = self.foreign = 0
        """Parts of requests that were of an expected trace, and of another."""
        self.where = ""
        """The addresses that spans are to be sent to."""

    async def append(
        self,
        payload: bytes,
        *,
        signal: Signal,
        items: int,  # noqa: ARG002  # those of a spool
        received_unix_nano: int,  # noqa: ARG002
        backfill: str = "",  # noqa: ARG002
    ) -> int:
        """Takes an accepted request; returns how many requests were taken so far."""
        parts = by_trace(signal, SHAPES[signal].request.FromString(payload))
        with self._changed:
            for trace_id, part in parts.items():
                if (trace := self._expected.get(trace_id)) is None:
                    self.foreign += 1
                    continue
                self.matched += 1
                trace.add(signal, part, self._clock())
            self._changed.notify_all()
            return self.matched + self.foreign

    @contextmanager
    def expecting(self, trace_id: bytes, parent: bytes) -> Iterator[None]:
        """Keeps what comes of a trace while the context is open."""
        with self._changed:
            self._expected[trace_id] = ArrivingTrace(self._limits, parent)
        try:
            yield
        finally:
            with self._changed:
                del self._expected[trace_id]

    def wait(self, trace_id: bytes, seconds: float) -> Requests | None:
        """The requests of an expected trace once it is complete.

        None where nothing of it came within `seconds`; a trace that began is waited for until the
        assembly closes it.
        """
        end = self._clock() + seconds
        with self._changed:
            trace = self._expected[trace_id]
            while not trace.is_closed(self._clock()):
                if trace.is_empty and self._clock() >= end:
                    return None
                self._changed.wait(LOOK_SECONDS)
            return trace.requests()


@contextmanager
def receiving(settings: CollectorSettings) -> Iterator[TraceInbox]:
    """Listens on the OTLP addresses of the settings. Raises BadTarget where one is taken."""
    inbox = TraceInbox(settings.assembly)
    try:
        with in_thread(_serving(inbox, settings), name="traces", stop_seconds=STOP_SECONDS):
            yield inbox
    except _Taken as error:
        raise BadTarget(
            f"{settings.http_endpoint} and {settings.grpc_endpoint} cannot be listened on: "
            f"{error}; "
            "where a daemon has them, give a --config with others in [collector], and let the "
            "service export there"
        ) from error


class _Taken(Exception):
    """An address cannot be used."""


@asynccontextmanager
async def _serving(inbox: TraceInbox, settings: CollectorSettings) -> AsyncIterator[None]:
    from collector.receiver.grpc import serve_grpc
    from collector.receiver.http import serve_http
    from collector.receiver.receive import Gate
    from collector.redaction.redact import Redactor

    redactor = Redactor(settings.redact, key=os.urandom(KEY_BYTES))
    gate = Gate.open(settings, spool=inbox, redactor=redactor)
    async with AsyncExitStack() as stack:
        try:
            http = await stack.enter_async_context(serve_http(gate, settings))
            grpc = await stack.enter_async_context(serve_grpc(gate, settings))
        except (OSError, RuntimeError) as error:
            raise _Taken(str(error)) from error
        by_http, by_grpc = (
            _address(settings.http_endpoint, http),
            _address(settings.grpc_endpoint, grpc),
        )
        inbox.where = f"http://{by_http} (OTLP/HTTP) or {by_grpc} (OTLP/gRPC)"
        yield


def _address(endpoint: str, port: int) -> str:
    host, _ = split_endpoint(endpoint)
    return f"{host}:{port}"
