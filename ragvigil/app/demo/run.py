"""`ragvigil demo`: a daemon, eight days of traffic with a fault of six hours, and what moved."""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import httpx2
from google.protobuf.message import DecodeError
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from alerts.deltas.narrate import movement
from ragvigil.app.demo import report
from ragvigil.app.demo.child_daemon import (
    DEFAULT_PORTS,
    VARIABLES,
    ChildDaemon,
    DidNotStart,
    free_port,
    running,
)
from ragvigil.app.demo.processes import Child, DemoFailed, service_environment
from ragvigil.app.demo.recording import NotARecording, read_recording
from ragvigil.app.demo.replay import GaveUp, SendOptions, Tally, send_with_bar
from ragvigil.app.demo.schedule import Plan, requests, schedule, templates
from ragvigil.extras import DEMO, require
from ragvigil.model.delta import Delta
from ragvigil.shipped import SHIPPED

HELPDESK = SHIPPED / "examples" / "helpdesk"
FAULTY_ROUTE = "/refunds/ask"
BACKFILL = "demo"
SERVICE_PORT = 8099
LIVE_RATE = 0.5
SCORING_SECONDS = 150.0
"""Without one more answer that is scored."""
MOVEMENT_SECONDS = 400.0
"""Without one more mean that is computed: on a busy machine all of them take minutes."""
CALM_SECONDS = 16.0
"""Longer than the 15 s between two computations of deltas."""
STATUS_SECONDS = 10.0
WORST_TRACES = 3


def run_demo(data_dir: Path | None) -> int:
    """Runs until Ctrl-C. Returns 0, or 1 with one line on what went wrong. Raises NotInstalled."""
    require(DEMO)
    console = Console(highlight=False, markup=False)
    # SIGTERM ends the demo like Ctrl-C, so that the processes it started are stopped as well.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with contextlib.ExitStack() as stack:
            folder = data_dir or Path(
                stack.enter_context(tempfile.TemporaryDirectory(prefix="ragvigil-demo-"))
            )
            console.print(f"data in {folder}", markup=False)
            # Ignore a settings file in the current folder: it belongs to the user's own daemon.
            settings = {"RAGVIGIL_CONFIG": os.devnull}
            daemon = stack.enter_context(
                running(folder.resolve(), settings=settings, usual_ports=True)
            )
            plan = Plan(ends_unix_nano=time.time_ns())
            Demo(console, daemon, plan, time.sleep).run(stack)
    except (DemoFailed, DidNotStart, NotARecording, GaveUp, DecodeError) as error:
        console.print(f"the demo cannot go on: {error}", markup=False)
        return 1
    except httpx2.HTTPError as error:
        console.print(f"the daemon's API failed: {error}", markup=False)
        return 1
    except KeyboardInterrupt:
        console.print("\nstopped; nothing is left running")
    return 0


class Demo:
    """Sends the traffic to a daemon and prints what it found."""

    def __init__(
        self,
        console: Console,
        daemon: ChildDaemon,
        plan: Plan,
        sleep: Callable[[float], None],
    ) -> None:
        self._console, self._daemon, self._plan, self._sleep = console, daemon, plan, sleep

    def run(self, stack: contextlib.ExitStack) -> None:
        """Runs the whole demo until Ctrl-C; `stack` stops the processes that it starts."""
        self._greet()
        self.tell()
        self._stay(stack)

    def tell(self) -> None:
        """Sends the backfill, waits for its scores and prints what moved. Raises DemoFailed."""
        self._wait_for_scores(self._backfill())
        self._wait_for_movement()
        self._say_what_moved()

    def _greet(self) -> None:
        self._say(f"daemon ready: OTLP on {self._daemon.http}, API on http://{self._daemon.web}")
        for name, usual in DEFAULT_PORTS.items():
            endpoint = getattr(self._daemon, name)
            if not endpoint.endswith(f":{usual}"):
                self._say(f"  the usual port {usual} for {name} is taken, using {endpoint}")

    def _backfill(self) -> int:
        healthy = templates(read_recording(HELPDESK / "recorded" / "healthy"))
        faulty = templates(read_recording(HELPDESK / "recorded" / "fabricated_quotes"))
        plan = self._plan
        arrivals = list(schedule(healthy, faulty, plan))
        spans = sum(arrival.template.spans for arrival in arrivals)
        self._say(
            f"{plan.days:g} days of traffic: {len(arrivals)} answers on {len(healthy)} routes, "
            f"{spans} spans; in the last {plan.fault_hours:.0f} hours {FAULTY_ROUTE} invents quotes"
        )
        summary = send_with_bar(
            requests(arrivals, plan),
            -(-len(arrivals) // plan.traces_per_request),
            SendOptions(
                target=f"http://{self._daemon.http}", backfill=BACKFILL, give_up_seconds=180
            ),
            Tally(),
            title="sending",
            console=self._console,
        )
        if summary.refused_requests or summary.rejected_items:
            raise DemoFailed(f"the receiver refused some of it: {summary.messages}")
        self._say(f"acknowledged {summary.items} spans in {summary.seconds:.0f} s")
        return len(arrivals)

    def _wait_for_scores(self, traces: int) -> None:
        """Waits as long as more are scored: on a busy machine that takes minutes."""
        with self._waiting("scoring every answer", total=traces) as advance:
            most, since = 0, time.monotonic()
            while most < traces and time.monotonic() - since < SCORING_SECONDS:
                self._require_daemon()
                if (scored := self._scored()) > most:
                    most, since = scored, time.monotonic()
                advance(most)
                self._sleep(0.5)
        self._say(f"{most} answers scored and stored")

    def _scored(self) -> int:
        with contextlib.suppress(httpx2.TransportError):
            records = self._daemon.get("ledger")["records"]
            return int(sum(records.values()))
        return 0

    def _wait_for_movement(self) -> None:
        """Waits until what moved stays the same for longer than deltas need to be recomputed."""
        with self._waiting("comparing with the seven days before"):
            last, since = None, time.monotonic()
            while time.monotonic() - since < MOVEMENT_SECONDS:
                self._require_daemon()
                rows = self._deltas()
                moved = report.what_moved(rows)
                if (moved, len(rows)) != last:
                    last, since = (moved, len(rows)), time.monotonic()
                elif moved and time.monotonic() - since > CALM_SECONDS:
                    return
                self._sleep(1.0)

    def _deltas(self) -> list[report.Row]:
        rows: list[report.Row] = self._daemon.get("deltas")["deltas"]
        return rows

    def _say_what_moved(self) -> None:
        rows = self._deltas()
        moved = report.what_moved(rows)
        routes, means = report.watched(rows)
        self._console.print()
        if not moved:
            self._say(f"nothing moved in the last 6 hours, of {means} means on {routes} routes")
        shown: set[str] = set()
        for delta in moved:
            self._explain(delta, shown)
        if moved:
            self._say(f"the other {means - len(moved)} of {means} means stand where they were")

    def _explain(self, delta: Delta, shown: set[str]) -> None:
        """Prints a movement, why, and its worst traces; adds those to `shown` and skips its own."""
        pairs = self._failing(delta)
        labels = report.labels_of(pairs)
        sentence = movement(delta, labels, now=datetime.now(UTC))
        self._console.print(sentence, style="bold", markup=False, soft_wrap=True)
        for meaning in report.meanings(labels):
            self._say(f"  {meaning}")
        fresh = [pair for pair in pairs if pair[0]["trace_id"] not in shown][:WORST_TRACES]
        for record, score in fresh:
            shown.add(record["trace_id"])
            for line in report.trace_lines(record, score):
                self._say(f"    {line}")
        self._console.print()

    def _failing(self, delta: Delta) -> list[tuple[report.Row, report.Row]]:
        reply = self._daemon.get(
            "records",
            route=delta.series.route,
            rubric=delta.series.rubric,
            below=0.999,
            since=str(delta.since or int(time.time()) - 6 * 3600),
            limit=200,
        )
        return report.failing(reply["records"], delta.series.rubric)

    def _stay(self, stack: contextlib.ExitStack) -> None:
        self._say("starting the help desk itself, with the fault still on, and asking it questions")
        url = f"http://127.0.0.1:{free_port(SERVICE_PORT)}"
        service = stack.enter_context(self._start_service(url))
        service.wait_for(f"{url}/healthz", seconds=90, sleep=self._sleep)
        traffic = stack.enter_context(self._start_traffic(url))
        self._say(f"live: {LIVE_RATE * 3600:.0f} questions an hour. Ctrl-C ends everything.")
        self._say(f"  open http://{self._daemon.web}/ and look around, or {self._commands()}")
        while True:
            self._require_daemon()
            for child in (service, traffic):
                child.require_alive()
            self._sleep(STATUS_SECONDS)
            self._say(self._status())

    def _commands(self) -> str:
        is_usual = self._daemon.web.endswith(f":{DEFAULT_PORTS['web']}")
        where = "" if is_usual else f"{VARIABLES['web']}={self._daemon.web} "
        return ", ".join(f"`{where}ragvigil {name}`" for name in ("why", "issues list", "deltas"))

    def _require_daemon(self) -> None:
        if self._daemon.process.poll() is not None:
            raise DemoFailed(f"the daemon ended:\n{self._daemon.last_lines()[-1000:]}")

    def _status(self) -> str:
        ledger = self._daemon.get("ledger")
        moved = report.what_moved(self._deltas())
        worst = "; ".join(_short(delta) for delta in moved[:3])
        return f"{time.strftime('%H:%M:%S')}  {_counts(ledger)}  moved: {worst or 'nothing'}"

    def _start_service(self, url: str) -> Child:
        fault = f"fabricated_quotes@{FAULTY_ROUTE}"
        port = url.rpartition(":")[2]
        return self._child("service", "--port", port, "--fault", fault)

    def _start_traffic(self, url: str) -> Child:
        return self._child("traffic", "--url", url, "--rate", str(LIVE_RATE))

    def _child(self, module: str, *options: str) -> Child:
        return Child(
            ["-m", f"examples.helpdesk.{module}", *options],
            env=service_environment(f"http://{self._daemon.http}"),
            cwd=SHIPPED,
            log=self._daemon.data_dir / f"{module}.log",
        )

    @contextlib.contextmanager
    def _waiting(self, what: str, total: int | None = None) -> Iterator[Callable[[int], None]]:
        columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
        with Progress(*columns, console=self._console, transient=True) as progress:
            task = progress.add_task(what, total=total)

            def advance(done: int) -> None:
                progress.update(task, completed=done, description=f"{what}: {done} of {total}")

            yield advance

    def _say(self, line: str) -> None:
        self._console.print(line, markup=False, soft_wrap=True)


def _counts(ledger: report.Row) -> str:
    spans, records = ledger["spans"], ledger["records"]
    return f"{spans['stored']} spans stored, {records['scored']} answers scored"


def _short(delta: Delta) -> str:
    return f"{delta.series.rubric} {delta.series.route} {(delta.delta or 0) * 100:+.0f}"
