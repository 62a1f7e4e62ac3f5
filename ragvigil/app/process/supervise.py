"""Keeps the core alive: starts it, waits for its end, starts it again."""

from __future__ import annotations

import asyncio
import socket
import sys
import time

import structlog
from prometheus_client import Counter, Gauge

from ragvigil.app.process.control import Questions
from ragvigil.model.backoff import Backoff, Pause

log = structlog.get_logger()

CORE_STARTS = Counter("ragvigil_core_starts", "Starts of the core process, the first included.")
CORE_UP = Gauge("ragvigil_core_up", "1 while the core process runs and answers, else 0.")

RESTART_BACKOFF = Backoff(first_seconds=0.2, longest_seconds=10.0)
HEALTHY_SECONDS = 30.0
"""A core that lived this long starts again after the shortest pause."""


class Core:
    """The core process, restarted whenever it ends until `stop`. Belongs to one event loop."""

    def __init__(self) -> None:
        self._questions: Questions | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._stopping = False
        self._keeping: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Starts the core in the background; returns at once."""
        self._keeping = asyncio.create_task(self._keep())

    async def ask(self, question: str) -> bytes | None:
        """The core's answer; None while the core is down or does not answer."""
        answer = await self._questions.ask(question) if self._questions else None
        CORE_UP.set(0 if answer is None else 1)
        return answer

    async def stop(self, deadline_seconds: float) -> None:
        """Makes the core finish its work and end; kills it after `deadline_seconds`."""
        self._stopping = True
        if self._questions is not None:
            await self._questions.close()
        if self._process is not None and self._process.returncode is None:
            try:
                await asyncio.wait_for(self._process.wait(), deadline_seconds)
            except TimeoutError:
                log.warning("core did not stop in time and is killed", seconds=deadline_seconds)
                self._process.kill()
                await self._process.wait()
        if self._keeping is not None:
            await self._keeping

    async def _keep(self) -> None:
        pause = Pause(RESTART_BACKOFF, healthy_seconds=HEALTHY_SECONDS)
        while not self._stopping:
            status = await self._run_once()
            if self._stopping:
                return
            CORE_UP.set(0)
            seconds = pause.failed(time.monotonic())
            log.error("core ended; starting it again", status=status, pause_seconds=seconds)
            await asyncio.sleep(seconds)

    async def _run_once(self) -> int:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "ragvigil.app.core_process", str(theirs.fileno())),
                pass_fds=(theirs.fileno(),),
                # A Ctrl-C in the terminal reaches the intake alone, which stops the core in order.
                start_new_session=True,
            )
        CORE_STARTS.inc()
        self._questions = await Questions.over(ours)
        if self._stopping:  # `stop` came while the process was being started and saw no channel
            await self._questions.close()
        status = await self._process.wait()
        await self._questions.close()
        self._questions = None
        return status
