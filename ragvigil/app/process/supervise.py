"""Keeps the core alive: starts it, watches its heartbeat, waits for its end, starts it again."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
import time
from pathlib import Path

import structlog
from prometheus_client import Counter, Gauge

from collector.spool.reserve import space_of
from ragvigil.app.process.control import Questions
from ragvigil.app.process.heartbeat import Heartbeat, Phase
from ragvigil.app.process.suspects import POINTS, CoreEnd, Suspects
from ragvigil.model.backoff import Backoff, Pause

log = structlog.get_logger()

CORE_STARTS = Counter("ragvigil_core_starts", "Starts of the core process, the first included.")
CORE_RESTARTS = Counter(
    "ragvigil_core_restarts",
    "Lives of the core that ended unasked, by how: stalled, crashed, or killed from outside.",
    ["reason"],
)
QUARANTINED = Counter(
    "ragvigil_core_quarantined",
    "Frames and traces set aside because the core stalled or ended in them again and again.",
    ["kind", "reason"],
)
for _end in CoreEnd:
    if POINTS[_end]:  # at 0 from the start: an alert must see the first one as an increase
        CORE_RESTARTS.labels(_end)
        for _kind in ("frame", "trace"):
            QUARANTINED.labels(_kind, _end)
CORE_UP = Gauge("ragvigil_core_up", "1 while the core process runs and answers, else 0.")

RESTART_BACKOFF = Backoff(first_seconds=0.2, longest_seconds=4.0)
"""A start takes some four seconds: even a core that was killed again and again is back in ten."""
HEALTHY_SECONDS = 30.0
"""A core that lived this long starts again after the shortest pause."""
CANNOT_START_SECONDS = 15.0
"""The pause after a core that said why it cannot start: a person must do something first."""
TICK_SECONDS = 0.5
STUCK_AT_STOP_SECONDS = 5.0
"""A core that is asked to end and gets no further for this long will not end by itself."""
FROM_OUTSIDE = {
    -number
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)
}


class Core:
    """The core process, restarted whenever it ends until `stop`. Belongs to one event loop.

    A core that gets no further for `stall_seconds` is killed, and starts again. What it worked on
    when it ended is remembered in `data_dir`; `stall` says in words that it has stalled and not
    got on since, `trouble` why it cannot start.
    """

    def __init__(self, data_dir: Path, stall_seconds: float) -> None:
        self._data_dir = data_dir
        self._heartbeat, self._suspects = Heartbeat(data_dir), Suspects(data_dir)
        self._stall_seconds = stall_seconds
        self.stall = self.trouble = ""
        self._quiet_seconds = 0.0
        self._last_words = ""
        self._questions: Questions | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._stopping = False
        self._keeping: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Starts the core in the background; returns at once."""
        # The last intake may have been killed together with its core.
        self._blame(CoreEnd.KILLED)
        self._keeping = asyncio.create_task(self._keep())

    async def ask(self, question: str) -> bytes | None:
        """The core's answer; None while the core is down or does not answer."""
        answer = await self._questions.ask(question) if self._questions else None
        CORE_UP.set(0 if answer is None else 1)
        if answer is not None and self.trouble:
            log.info("the core starts again")
            self.trouble = ""
        return answer

    def reload(self) -> None:
        """Makes the core read its tokens and certificates again, as SIGHUP does here."""
        if self._process is not None and self._process.returncode is None:
            self._process.send_signal(signal.SIGHUP)

    async def stop(self, deadline_seconds: float) -> None:
        """Makes the core finish its work and end.

        Kills it after `deadline_seconds`, or as soon as it is stuck.
        """
        self._stopping = True
        if self._questions is not None:
            await self._questions.close()
        if self._process is not None and self._process.returncode is None:
            try:
                await asyncio.wait_for(self._end_or_stall(self._process), deadline_seconds)
            except TimeoutError:
                log.warning("core did not stop in time and is killed", seconds=deadline_seconds)
            _kill(self._process)
        if self._keeping is not None:
            await self._keeping

    async def _end_or_stall(self, process: asyncio.subprocess.Process) -> None:
        """Returns when the process has ended, or gets no further."""
        while process.returncode is None:
            if self._quiet_seconds >= STUCK_AT_STOP_SECONDS:
                log.warning("core is stuck and is killed", seconds=self._quiet_seconds)
                return
            await asyncio.sleep(TICK_SECONDS / 10)

    async def _keep(self) -> None:
        pause = Pause(RESTART_BACKOFF, healthy_seconds=HEALTHY_SECONDS)
        while not self._stopping:
            status = await self._run_once()
            end = self._how_it_ended(status)
            self._blame(end)
            if self._stopping:
                return
            CORE_UP.set(0)
            if end is not CoreEnd.ASKED:
                CORE_RESTARTS.labels(end).inc()
            seconds = pause.failed(time.monotonic())
            if self._last_words:
                seconds = CANNOT_START_SECONDS
                self._say_why()
            else:
                self._say_how(status, end, seconds)
            await asyncio.sleep(seconds)

    def _say_why(self) -> None:
        """Logs why the core cannot start, once: it is tried again until it can."""
        if self.trouble != self._last_words:
            log.error("the core cannot start; spans wait in the spool", reason=self._last_words)
        self.trouble = self._last_words

    def _say_how(self, status: int, end: CoreEnd, pause_seconds: float) -> None:
        """Logs that the core ended. Its own last line may have found no room on a full disk."""
        free: dict[str, object] = {}
        with contextlib.suppress(OSError):  # the folder is gone: that is not what ended the core
            free = {"disk_free_mb": space_of(self._data_dir).free >> 20}
        log.error(
            "core ended; starting it again",
            status=status,
            how=end,
            pause_seconds=pause_seconds,
            **free,
        )

    async def _run_once(self) -> int:
        self._quiet_seconds = 0.0
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "ragvigil.app.core_process"),
                *(str(theirs.fileno()), str(os.getpid())),
                pass_fds=(theirs.fileno(),),
                # A Ctrl-C in the terminal reaches the intake alone, which stops the core in order.
                start_new_session=True,
            )
        CORE_STARTS.inc()
        self._questions = await Questions.over(ours)
        if self._stopping:  # `stop` came while the process was being started and saw no channel
            await self._questions.close()
        watching = asyncio.create_task(self._watch(self._process))
        status = await self._process.wait()
        watching.cancel()
        self._last_words = await self._questions.heard_last_words()
        await self._questions.close()
        self._questions = None
        return status

    async def _watch(self, process: asyncio.subprocess.Process) -> None:
        """Kills the process once its heartbeat has not changed for `stall_seconds`.

        Counts this process's own ticks, not the clock: while the machine sleeps, or both are
        frozen, nothing stalls.
        """
        last = self._heartbeat.work().beat
        while True:
            await asyncio.sleep(TICK_SECONDS)
            work = self._heartbeat.work()
            if work.phase is Phase.UNWATCHED or work.beat != last:
                last, self._quiet_seconds = work.beat, 0.0
                if work.phase is not Phase.UNWATCHED:
                    self.stall = ""
                continue
            self._quiet_seconds += TICK_SECONDS
            if self._quiet_seconds >= self._stall_seconds and not self.stall:
                self.stall = f"the core got no further for {self._stall_seconds:g} s"
                log.error("core has stalled and is killed", work=", ".join(work.units[:3]))
                _kill(process)

    def _how_it_ended(self, status: int) -> CoreEnd:
        if self._quiet_seconds >= self._stall_seconds:
            return CoreEnd.STALLED
        if status == 0:
            return CoreEnd.ASKED
        return CoreEnd.KILLED if status in FROM_OUTSIDE else CoreEnd.CRASHED

    def _blame(self, end: CoreEnd) -> None:
        """Remembers what the core worked on when it ended; the next one begins with nothing."""
        units = self._heartbeat.work().units
        for unit in self._suspects.blame(units, end):
            kind, _, name = unit.partition(" ")
            QUARANTINED.labels(kind, end).inc()
            log.error("quarantined: the core ended in it again and again", how=end, **{kind: name})
        self._heartbeat.unwatched()


def _kill(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):  # it has just ended
        process.kill()
