"""Keeps the child process: starts it when needed, ends it when it must, explains failures."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import structlog

from ragvigil.inference.link import Limits, Link, Lost, too_large
from ragvigil.inference.metrics import CPU_SECONDS, MEMORY_BYTES, RESTARTS, STARTS, TEXTS
from ragvigil.inference.outcome import Reason, Unavailable
from ragvigil.inference.settings import InferenceSettings
from ragvigil.inference.share import CpuShare
from ragvigil.inference.weights import NoModel, locate
from ragvigil.model.backoff import Backoff, Pause

log = structlog.get_logger()

LOADING_SECONDS = 120.0
"""Added to the timeout of a request while its model is loading."""
RESTART_BACKOFF = Backoff(first_seconds=1.0, longest_seconds=60.0)
HEALTHY_SECONDS = 60.0
"""A child that lived this long after its pause starts again after the shortest one."""
CLOSE_SECONDS = 0.1
"""How long a call under way may still take at `close` before the child is ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A model's numbers, `width` 32-bit floats a text, little-endian; and its version."""

    body: bytes
    width: int
    version: str


class Keeper:
    """Runs at most one child; callers take turns. For any number of threads."""

    def __init__(
        self, settings: InferenceSettings, share: CpuShare, clock: Callable[[], float]
    ) -> None:
        self._settings = settings
        self._share = share
        self._clock = clock
        self._pause = Pause(RESTART_BACKOFF, healthy_seconds=HEALTHY_SECONDS)
        # Held for a whole call: the child answers one request after the other.
        self._turn = threading.Lock()
        self._link: Link | None = None
        self._loaded: set[str] = set()
        self._cpu_seconds = 0.0
        self._closed = False

    @property
    def child_pid(self) -> int | None:
        """Process id of the child; None if none runs."""
        link = self._link
        return link.pid if link else None

    def ask(self, task: str, model: str, texts: Sequence[object]) -> Answer | Unavailable:
        """The numbers of the model of a task for these texts, or why not.

        Tasks are `embed`, `classify` and `entail`.
        """
        if not self._turn.acquire(timeout=self._settings.timeout_seconds):
            return Unavailable(reason=Reason.BUSY, detail="the model process is busy")
        try:
            return self._ask(task, model, texts)
        except NoModel as error:
            return Unavailable(reason=Reason.NO_MODEL, detail=str(error))
        except Lost as lost:
            return self._lost(lost)
        finally:
            self._turn.release()

    def rest(self) -> None:
        """Ends the child once no call is under way; the next call starts another."""
        with self._turn:
            self._drop()

    def close(self) -> None:
        """Ends the child, even in the middle of a call, which then returns CLOSED."""
        self._closed = True
        while not self._turn.acquire(timeout=CLOSE_SECONDS):
            # Repeated: the call under way may just have started another child.
            if (link := self._link) is not None:
                link.end()
        try:
            self._drop()
        finally:
            self._turn.release()

    def _ask(self, task: str, model: str, texts: Sequence[object]) -> Answer | Unavailable:
        if self._closed:
            return Unavailable(reason=Reason.CLOSED, detail="local models are being stopped")
        if self._link is None:
            locate(model, task)  # raises NoModel before a process is started in vain
            # A child that keeps ending must not be started for every call.
            if not self._pause.is_over(self._clock()):
                detail = "the model process ended and starts anew after a pause"
                return Unavailable(reason=Reason.RESTING, detail=detail)
            self._link = self._started()
        loading = 0.0 if task in self._loaded else LOADING_SECONDS
        limits = Limits(
            patience_seconds=self._settings.timeout_seconds + loading,
            memory_bytes=self._settings.memory_bytes,
        )
        head, body = self._link.ask({"task": task, "model": model, "texts": list(texts)}, limits)
        self._account(float(head["cpu_seconds"]), int(head["memory_bytes"]))
        if "missing" in head:
            return Unavailable(reason=Reason.NO_MODEL, detail=str(head["missing"]))
        if "failed" in head:
            detail = f"the model failed on these texts: {head['failed']}"
            return Unavailable(reason=Reason.FAILED, detail=detail)
        self._loaded.add(task)
        TEXTS.labels(task).inc(len(texts))
        return Answer(body=body, width=int(head["width"]), version=str(head["version"]))

    def _started(self) -> Link:
        self._loaded.clear()
        self._cpu_seconds = 0.0
        STARTS.inc()
        return Link(self._settings.threads, self._clock)

    def _account(self, cpu_seconds: float, memory_bytes: int) -> None:
        """Counts what the child has used, and ends one that has grown too large.

        Its last answer is still used; the next call starts another child.
        """
        spent = max(0.0, cpu_seconds - self._cpu_seconds)
        self._cpu_seconds = cpu_seconds
        self._share.spend(spent)
        CPU_SECONDS.inc(spent)
        MEMORY_BYTES.set(memory_bytes)
        if memory_bytes > self._settings.memory_bytes:
            self._lost(too_large(memory_bytes, self._settings.memory_bytes))

    def _lost(self, lost: Lost) -> Unavailable:
        self._drop()
        if self._closed:
            return Unavailable(reason=Reason.CLOSED, detail="local models are being stopped")
        self._pause.failed(self._clock())
        RESTARTS.labels(lost.reason).inc()
        log.warning("model process lost; it starts anew when needed", reason=str(lost))
        return Unavailable(reason=lost.reason, detail=str(lost))

    def _drop(self) -> None:
        link, self._link = self._link, None
        if link is not None:
            link.end()
            link.hang_up()
            MEMORY_BYTES.set(0)
