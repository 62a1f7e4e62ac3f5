"""Sends OTLP request bodies over HTTP, in order and at a pace, and again to a busy receiver."""

from __future__ import annotations

import asyncio
import itertools
import ssl
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import httpx2
import orjson
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as ProgressBar

from ragvigil.app.demo.recording import JSON, RecordedRequest
from ragvigil.app.demo.rewrite import Change, Unreadable, contents, rewrite
from ragvigil.llm.retry_after import requested_pause
from ragvigil.model.backoff import Backoff

BACKFILL_HEADER = "x-ragvigil-backfill"
TRY_AGAIN = frozenset({429, 502, 503, 504})
LONGEST_WAIT_SECONDS = 30.0
"""Bounds the pause that a receiver asks for with Retry-After."""
BACKOFF = Backoff(first_seconds=0.25, longest_seconds=5.0)
TELL_SECONDS = 1.0
"""A receiver that has been away or busy for so long is worth a line."""
KEPT_MESSAGES = 5
"""Different error messages that a summary holds."""

Progress = Callable[["OutgoingRequest"], None]
Tell = Callable[[str], None]
Sleep = Callable[[float], Awaitable[None]]


class GaveUp(Exception):
    """The receiver did not answer, or was busy, for longer than `give_up_seconds`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingRequest:
    """A body ready to be sent, `due_seconds` after the start."""

    body: bytes
    path: str
    content_type: str
    items: int
    due_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SendOptions:
    """How bodies are sent. `concurrency` 1 keeps their order, which a backfill needs."""

    target: str
    backfill: str = ""
    concurrency: int = 1
    give_up_seconds: float = 60.0
    headers: Mapping[str, str] = field(default_factory=dict)
    tls: ssl.SSLContext | None = None
    """How the receiver's certificate is checked; None is by this system's authorities."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplaySummary:
    """The result of a replay. `items` counts the spans and log records that were accepted."""

    requests: int
    items: int
    body_bytes: int
    rejected_items: int
    refused_requests: int
    unreadable_requests: int
    retries: int
    seconds: float
    messages: tuple[str, ...]


class Tally:
    """Counts while sending."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.messages: dict[str, None] = {}

    def note(self, message: str) -> None:
        """Keeps the first few different messages."""
        if message and len(self.messages) < KEPT_MESSAGES:
            self.messages[message] = None

    def summary(self, seconds: float) -> ReplaySummary:
        """The counts so far."""
        return ReplaySummary(
            requests=self.counts["requests"],
            items=self.counts["items"],
            body_bytes=self.counts["body_bytes"],
            rejected_items=self.counts["rejected"],
            refused_requests=self.counts["refused"],
            unreadable_requests=self.counts["unreadable"],
            retries=self.counts["retries"],
            seconds=seconds,
            messages=tuple(self.messages),
        )


def shift_to_end(recording: Iterable[RecordedRequest], end_unix_nano: int) -> int:
    """The shift in nanoseconds by which the last time of a recording becomes `end_unix_nano`."""
    latest = 0
    for recorded in recording:
        try:
            latest = max(latest, contents(recorded).latest_unix_nano)
        except Unreadable:
            continue  # counted when it is prepared
    return end_unix_nano - latest if latest else 0


def duration_seconds(recording: Sequence[RecordedRequest], rate: float | None) -> float:
    """Seconds from the first to the last request of a replay, if nothing delays it."""
    return _due(recording[-1], len(recording) - 1, recording[0], rate) if recording else 0.0


def prepare(
    recording: Iterable[RecordedRequest], change: Change, rate: float | None, tally: Tally
) -> Iterator[OutgoingRequest]:
    """Yields the bodies as they will be sent.

    `rate` is in requests a second; None keeps the recorded pace, 0 sends all at once. A body that
    cannot be read is sent as it is where nothing is to be changed, else counted and left out.
    """
    first: RecordedRequest | None = None
    for number, recorded in enumerate(recording):
        first = first or recorded
        try:
            body, items = rewrite(recorded, change), contents(recorded).items
        except Unreadable as error:
            tally.note(str(error))
            if change != Change():
                tally.counts["unreadable"] += 1
                continue
            body, items = recorded.body, 0
        yield OutgoingRequest(
            body=body,
            path=recorded.path,
            content_type=recorded.content_type,
            items=items,
            due_seconds=_due(recorded, number, first, rate),
        )


def send_with_bar(
    bodies: Iterable[OutgoingRequest],
    total: int,
    sending: SendOptions,
    tally: Tally,
    *,
    title: str = "sending",
    console: Console | None = None,
) -> ReplaySummary:
    """Sends bodies as `send_all` does, with a progress bar, by default on standard error.

    Without a terminal there is no bar, and lines about the receiver are printed all the same.
    """
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("requests"),
        TimeElapsedColumn(),
    )
    console = console or Console(stderr=True)
    with ProgressBar(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(title, total=total)

        def step(_: OutgoingRequest) -> None:
            bar.advance(task)

        return asyncio.run(send_all(bodies, sending, tally, progress=step, tell=teller(bar)))


def teller(bar: ProgressBar) -> Tell:
    """Prints lines over a progress bar, as they are."""

    def tell(line: str) -> None:
        bar.console.print(line, markup=False, highlight=False, soft_wrap=True)

    return tell


async def send_all(
    bodies: Iterable[OutgoingRequest],
    sending: SendOptions,
    tally: Tally,
    *,
    progress: Progress = lambda _: None,
    tell: Tell = lambda _: None,
    clock: Callable[[], float] = time.monotonic,
    sleep: Sleep = asyncio.sleep,
) -> ReplaySummary:
    """Sends every body when it is due, at most `concurrency` at a time, and counts.

    The iterator is read only as fast as bodies are sent. A refused body (4xx) is counted and not
    sent again. `tell` gets a line when the receiver has been away or busy for TELL_SECONDS. Raises
    GaveUp where the receiver was away or busy for too long.
    """
    start = clock()
    limits = httpx2.Limits(max_connections=sending.concurrency)
    # A proxy of the environment would get the token: spans go to the receiver alone.
    async with httpx2.AsyncClient(
        base_url=sending.target,
        verify=sending.tls or True,
        limits=limits,
        timeout=60,
        trust_env=False,
    ) as client:
        sender = _Sender(client, sending, tally, clock, sleep, tell)
        running: set[asyncio.Task[None]] = set()
        try:
            for outgoing in bodies:
                await sleep(max(0.0, start + outgoing.due_seconds - clock()))
                if len(running) >= sending.concurrency:
                    done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                    _raise_first(done)
                running.add(asyncio.create_task(sender.send(outgoing, progress)))
            if running:
                _raise_first((await asyncio.wait(running))[0])
        finally:
            for task in running:
                task.cancel()
    return tally.summary(clock() - start)


class _Sender:
    def __init__(
        self,
        client: httpx2.AsyncClient,
        sending: SendOptions,
        tally: Tally,
        clock: Callable[[], float],
        sleep: Sleep,
        tell: Tell,
    ) -> None:
        self._client, self._sending, self._tally = client, sending, tally
        self._clock, self._sleep, self._tell = clock, sleep, tell

    async def send(self, outgoing: OutgoingRequest, progress: Progress) -> None:
        """Sends a body, and again while the receiver is away or busy. Raises GaveUp."""
        waited = 0.0
        for attempt in itertools.count():
            start = self._clock()
            reply, problem = await self._post(outgoing)
            if reply is not None and reply.status_code not in TRY_AGAIN:
                self._count(reply, outgoing)
                progress(outgoing)
                return
            pause = _pause(reply, attempt)
            before, waited = waited, waited + self._clock() - start + pause
            if waited > self._sending.give_up_seconds:
                raise GaveUp(f"{self._sending.target}: {problem}; gave up after {waited:.0f} s")
            if before < TELL_SECONDS <= waited:
                most = self._sending.give_up_seconds
                self._tell(f"{self._sending.target}: {problem}; trying again for {most:.0f} s")
            self._tally.counts["retries"] += 1
            await self._sleep(pause)

    async def _post(self, outgoing: OutgoingRequest) -> tuple[httpx2.Response | None, str]:
        headers = {"content-type": outgoing.content_type, **self._sending.headers}
        if self._sending.backfill:
            headers[BACKFILL_HEADER] = self._sending.backfill
        try:
            reply = await self._client.post(outgoing.path, content=outgoing.body, headers=headers)
        except httpx2.TransportError as error:
            return None, f"nothing answers ({error or type(error).__name__})"
        return reply, f"answers {reply.status_code}"

    def _count(self, reply: httpx2.Response, outgoing: OutgoingRequest) -> None:
        counts = self._tally.counts
        counts["requests"] += 1
        counts["body_bytes"] += len(outgoing.body)
        if reply.status_code >= 300:
            counts["refused"] += 1
            self._tally.note(f"{reply.status_code} {reply.text[:200]}")
            return
        rejected, message = partial_success(reply)
        counts["items"] += outgoing.items - rejected
        counts["rejected"] += rejected
        self._tally.note(message)


def partial_success(reply: httpx2.Response) -> tuple[int, str]:
    """Rejected items and the message of an OTLP reply; (0, "") where it has neither."""
    try:
        if reply.headers.get("content-type", "").startswith(JSON):
            partial = (orjson.loads(reply.content or b"{}")).get("partialSuccess") or {}
            rejected = partial.get("rejectedSpans") or partial.get("rejectedLogRecords") or 0
            return int(rejected), str(partial.get("errorMessage", ""))
        # The replies for logs and traces have the same fields on the wire.
        success = ExportTraceServiceResponse.FromString(reply.content).partial_success
    except (DecodeError, orjson.JSONDecodeError, AttributeError, ValueError):
        return 0, "an answer was not OTLP"
    return success.rejected_spans, success.error_message


def _pause(reply: httpx2.Response | None, attempt: int) -> float:
    """Seconds to wait: what Retry-After says, else a pause that doubles with every attempt."""
    requested = None if reply is None else requested_pause(reply.headers, time.time())
    if requested is not None:
        return min(requested, LONGEST_WAIT_SECONDS)
    return BACKOFF.seconds(attempt + 1)


def _due(
    recorded: RecordedRequest, number: int, first: RecordedRequest, rate: float | None
) -> float:
    if rate is None:
        return max(0.0, (recorded.received_unix_nano - first.received_unix_nano) / 1e9)
    return number / rate if rate > 0 else 0.0


def _raise_first(done: set[asyncio.Task[None]]) -> None:
    for task in done:
        task.result()
