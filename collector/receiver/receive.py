"""What gRPC and HTTP share: decode, redact, append to the spool, and only then acknowledge."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from collector.decode.otlp import DecodedRequest, Encoding, decode
from collector.decode.shape import SHAPES
from collector.metrics import ACKNOWLEDGED, BYTES, IGNORED, ITEMS, REDACTED, REJECTED, REQUESTS
from collector.receiver.answer import Acknowledgement
from collector.receiver.budget import ByteBudget
from collector.redaction.redact import Redactor
from collector.refusal import Refusal, Refused, TooLarge
from collector.settings import CollectorSettings, LimitSettings
from collector.spool.directory import SpoolError, SpoolFull
from ragvigil.listener.rate import RateLimit
from ragvigil.model.span import Signal

# Larger bodies are handled in a thread, else the acknowledgements of others would wait: decoding
# takes 2 us per KB of protobuf and 7 us per KB of JSON, searching every text 40 us per KB.
ASIDE_BYTES = {Encoding.PROTOBUF: 1 << 20, Encoding.JSON: 256 << 10}
ASIDE_REDACT_BYTES = 64 << 10
DISK_IS_SHORT = "the disk is nearly full: what is left is for the spans that were acknowledged"
FULL_RETRY_SECONDS, FAILED_RETRY_SECONDS, STOPPING_RETRY_SECONDS = 5, 2, 1


class Spool(Protocol):
    """Where accepted requests go."""

    async def append(
        self,
        payload: bytes,
        *,
        signal: Signal,
        items: int,
        received_unix_nano: int,
        backfill: str = "",
    ) -> int:
        """Returns the frame's number once it is durable; raises SpoolFull or SpoolError."""
        ...


class Gate:
    """What every request passes: limits, byte budget, redactor, spool. Needs no server."""

    def __init__(
        self,
        *,
        spool: Spool,
        redactor: Redactor,
        limits: LimitSettings,
        is_disk_short: Callable[[], bool] = lambda: False,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        self.limits = limits
        self.budget = ByteBudget(limits.max_in_flight_bytes)
        self._rate = RateLimit(limits.max_requests_per_second)
        self.is_accepting = True
        self.spool = spool
        self.redactor = redactor
        self.is_disk_short = is_disk_short
        self.clock = clock
        # One thread: more would only compete with the event loop for the interpreter lock.
        self.aside = ThreadPoolExecutor(max_workers=1, thread_name_prefix="decode")

    @classmethod
    def open(
        cls,
        settings: CollectorSettings,
        *,
        spool: Spool,
        redactor: Redactor,
        is_disk_short: Callable[[], bool] = lambda: False,
        clock: Callable[[], int] = time.time_ns,
    ) -> Gate:
        """A gate with these settings, accepting."""
        return cls(
            spool=spool,
            redactor=redactor,
            limits=settings.limits,
            is_disk_short=is_disk_short,
            clock=clock,
        )

    def close(self) -> None:
        """Refuses every new request; requests already inside are finished."""
        self.is_accepting = False

    def require_rate(self, sender: str) -> None:
        """Counts a request of this sender. Raises Refused (RATE) for too many."""
        if wait := self._rate.wait_seconds(sender):
            raise Refused(
                Refusal.RATE,
                f"more than {self.limits.max_requests_per_second:g} requests a second with this "
                "token; retry later",
                retry_seconds=math.ceil(wait),
            )

    def require_open(self) -> None:
        """Raises Refused: STOPPING once closed, DISK_RESERVE while the disk is short."""
        if not self.is_accepting:
            raise Refused(
                Refusal.STOPPING, "ragvigil is stopping", retry_seconds=STOPPING_RETRY_SECONDS
            )
        if self.is_disk_short():
            raise Refused(Refusal.DISK_RESERVE, DISK_IS_SHORT, retry_seconds=FULL_RETRY_SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """A decoded request: `payload` goes into the spool; a suspect one is redacted first."""

    decoded: DecodedRequest
    payload: bytes
    is_suspect: bool = False


async def accept(
    body: bytes, *, signal: Signal | None, encoding: Encoding, gate: Gate, backfill: str = ""
) -> Acknowledgement:
    """Handles a request of an authenticated sender; returns once its items are durable.

    `signal` None means metrics: accepted, counted, not stored. Raises Refused.
    """
    started = time.perf_counter()
    gate.require_open()
    if len(body) > gate.limits.max_body_bytes:
        raise TooLarge(f"the body is larger than {gate.limits.max_body_bytes} bytes")
    if signal is None:
        IGNORED.labels(kind="metrics_request").inc()
        return Acknowledgement(shape=None)
    ready = await _prepare(body, encoding, signal, gate)
    if ready.decoded.items:
        await _append(ready, signal, gate, backfill)
    _count(ready, len(body), encoding, signal)
    ACKNOWLEDGED.observe(time.perf_counter() - started)
    return Acknowledgement(
        shape=SHAPES[signal],
        rejected=ready.decoded.rejected.total(),
        message=ready.decoded.message,
    )


async def _prepare(body: bytes, encoding: Encoding, signal: Signal, gate: Gate) -> Ready:
    is_large = len(body) > ASIDE_BYTES[encoding]
    ready = await _run(gate, is_large, partial(_decode, body, encoding, signal, gate))
    if not ready.is_suspect:
        return ready
    is_large = len(ready.payload) > ASIDE_REDACT_BYTES
    return await _run(gate, is_large, partial(_redact, ready, gate.redactor))


async def _run(gate: Gate, is_large: bool, step: Callable[[], Ready]) -> Ready:
    """Runs a step, in the thread if it is a large one."""
    if not is_large:
        return step()
    return await asyncio.get_running_loop().run_in_executor(gate.aside, step)


def _decode(body: bytes, encoding: Encoding, signal: Signal, gate: Gate) -> Ready:
    decoded = decode(body, encoding, signal, gate.limits)
    payload = decoded.payload()
    is_suspect = decoded.items > 0 and gate.redactor.finds(payload)
    return Ready(decoded=decoded, payload=payload, is_suspect=is_suspect)


def _redact(ready: Ready, redactor: Redactor) -> Ready:
    redactions = redactor.redact(ready.decoded.request)
    if not redactions:
        return ready
    for name, count in redactions.items():
        REDACTED.labels(pattern=name).inc(count)
    return Ready(decoded=ready.decoded, payload=ready.decoded.request.SerializeToString())


async def _append(ready: Ready, signal: Signal, gate: Gate, backfill: str) -> None:
    try:
        await gate.spool.append(
            ready.payload,
            signal=signal,
            items=ready.decoded.items,
            received_unix_nano=gate.clock(),
            backfill=backfill,
        )
    except SpoolFull as error:
        raise Refused(
            Refusal.SPOOL_FULL, "the disk is full", retry_seconds=FULL_RETRY_SECONDS
        ) from error
    except SpoolError as error:
        raise Refused(
            Refusal.SPOOL_FAILED, "the disk cannot be written", retry_seconds=FAILED_RETRY_SECONDS
        ) from error


def _count(ready: Ready, size: int, encoding: Encoding, signal: Signal) -> None:
    REQUESTS.labels(signal=signal.value, encoding=encoding.value).inc()
    ITEMS.labels(signal=signal.value, encoding=encoding.value).inc(ready.decoded.items)
    BYTES.labels(encoding=encoding.value).inc(size)
    for reason, count in ready.decoded.rejected.items():
        REJECTED.labels(signal=signal.value, reason=reason.value).inc(count)
