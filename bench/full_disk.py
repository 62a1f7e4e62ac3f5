"""A disk that fills up under load: nothing acknowledged is lost, and it goes on by itself.

    .venv/bin/python bench/full_disk.py [--small] [--seed N]

A daemon writes to a tmpfs of its own, its temporary files too. Senders fill it until only the
reserve is left: spans are refused, the daemon is unready and says why, the store goes on with what
was acknowledged, and room comes back as the spool drains. Then a foreign file takes every byte,
the reserve too, under load, and is deleted. At the end every acknowledged span must be stored. The
negative control has no reserve: its spool must take the last megabyte.

It needs a mount namespace of its own (`unshare`), and is skipped where it may not make one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from bench.kill_storm import stored_effects
from bench.rig import otlp_requests
from bench.rig.options import size_parser
from bench.rig.report import finish, progress
from ragvigil.app.demo.child_daemon import ChildDaemon, running

SEED = 15
MB = 1 << 20
INSIDE = "BENCH_INSIDE_NAMESPACE"
SENDERS, RETRY_SECONDS = 4, 0.5
STEP_SECONDS = 1500.0
"""Longest wait for one step: ten times what it takes on two busy cores."""
FULL_SECONDS = 8.0
"""How long the foreign file leaves not a byte."""


@dataclass(slots=True)
class Senders:
    """Send requests until `stop`, each until it is acknowledged; counts the answers.

    `short` are the refusals for want of space, `least_free` the fewest bytes free at one.
    """

    address: str
    folder: Path
    seed: int
    short: int = 0
    least_free: int = sys.maxsize
    stop: threading.Event = field(default_factory=threading.Event)
    answers: Counter[int] = field(default_factory=Counter)
    acknowledged: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, number: int) -> None:
        """One sender; its requests come from its own seed, and none is sent twice once accepted."""
        with httpx2.Client(timeout=60) as client:
            batch = 0
            while not self.stop.is_set():
                batch += 1
                seed = self.seed * 1_000_000 + number * 10_000 + batch
                for body in otlp_requests.make(4 * otlp_requests.TRACES_A_REQUEST, seed=seed):
                    self._send(client, body)

    def _send(self, client: httpx2.Client, body: bytes) -> None:
        while not self.stop.is_set():
            reply = client.post(
                f"http://{self.address}/v1/traces",
                content=body,
                headers={"content-type": "application/x-protobuf"},
            )
            with self.lock:
                self.answers[reply.status_code] += 1
                self.acknowledged += otlp_requests.SPANS * (reply.status_code == 200)
                if reply.status_code == 503:
                    self.short += b"disk" in reply.content
                    self.least_free = min(self.least_free, shutil.disk_usage(self.folder).free)
            if reply.status_code == 200:
                return
            self.stop.wait(RETRY_SECONDS)


@contextmanager
def sending(daemon: ChildDaemon, seed: int) -> Iterator[Senders]:
    """Senders that run while the block does, and have ended after it."""
    senders = Senders(daemon.http, daemon.data_dir, seed)
    threads = [
        threading.Thread(target=senders.run, args=(number,), daemon=True)
        for number in range(SENDERS)
    ]
    for thread in threads:
        thread.start()
    try:
        yield senders
    finally:
        senders.stop.set()
        for thread in threads:
            thread.join()


def until(is_done: Callable[[], bool], what: str) -> bool:
    """Whether it came true in time; says how long it took."""
    started = time.monotonic()
    while time.monotonic() - started < STEP_SECONDS:
        if is_done():
            progress(f"{what}: after {time.monotonic() - started:.1f} s")
            return True
        time.sleep(0.1)
    progress(f"{what}: not in {STEP_SECONDS:.0f} s")
    return False


def unready(daemon: ChildDaemon) -> str:
    """Why the daemon is not ready; empty if it is."""
    reply = httpx2.get(f"http://{daemon.metrics}/readyz", timeout=60)
    return "" if reply.status_code == 200 else reply.text


def in_spool(daemon: ChildDaemon) -> int:
    """Spans acknowledged that are not settled."""
    return int(daemon.get("ledger")["spans"]["in_spool"])


def fill_by_traffic(daemon: ChildDaemon, seed: int, bars: dict[str, bool]) -> Senders:
    """Sends until refused, drains while refusing, goes on."""
    with sending(daemon, seed) as senders:
        bars["refused at the reserve"] = until(lambda: bool(senders.short), "refused")
        # The spool may have drained since that refusal; the senders fill it again.
        bars["unready while only the reserve is left"] = until(
            lambda: "disk" in unready(daemon), "unready"
        )
        accepted = senders.acknowledged
        bars["goes on by itself once the spool has drained"] = until(
            lambda: senders.acknowledged > accepted + 50 * otlp_requests.SPANS, "goes on"
        )
    return senders


def fill_by_a_file(daemon: ChildDaemon, seed: int, bars: dict[str, bool]) -> Senders:
    """Takes the last byte away under load, and gives it back."""
    foreign = daemon.data_dir / "foreign"
    with sending(daemon, seed) as senders:
        until(lambda: senders.acknowledged > 0, "under load")
        with foreign.open("wb") as file:
            end = time.monotonic() + FULL_SECONDS
            while time.monotonic() < end:
                try:
                    file.write(b"x" * MB)
                    file.flush()
                except OSError:  # not a byte is left; what others give back is taken too
                    time.sleep(0.05)
        bars["unready while a foreign file fills the disk"] = "disk" in unready(daemon)
        foreign.unlink()
        accepted = senders.acknowledged
        bars["goes on by itself once the file is gone"] = until(
            lambda: senders.acknowledged > accepted, "goes on"
        )
    return senders


def settings(folder: Path, **more: str) -> dict[str, str]:
    """A daemon whose spool may forget a trace soon, so that room comes back within a minute."""
    temporary = folder / "tmp"
    temporary.mkdir(exist_ok=True)
    return {
        "RAGVIGIL_COLLECTOR__ASSEMBLY__LATE_SECONDS": "5",
        "RAGVIGIL_INFERENCE__ENABLED": "false",
        "RAGVIGIL_CLUSTERING__ENABLED": "false",
        "TMPDIR": str(temporary),
    } | more


def filled(folder: Path, seed: int) -> tuple[dict[str, object], dict[str, bool]]:
    """The figures and bars of the daemon with its usual reserve."""
    bars: dict[str, bool] = {}
    with running(folder, settings=settings(folder)) as daemon:
        runs = [fill_by_traffic(daemon, seed, bars), fill_by_a_file(daemon, seed + 1, bars)]
        bars["drains"] = until(lambda: not in_spool(daemon), "drained")
        bars["ready after"] = until(lambda: not unready(daemon), "ready")
        ledger = daemon.get("ledger")["spans"]
        stopped = daemon.get("status")["store"]["stopped"]
        bars["SIGTERM ends with status 0"] = daemon.stop() == 0
        log_text = (daemon.data_dir / "daemon.log").read_text(errors="replace")
    bars["the core never ended"] = "core ended;" not in log_text
    acknowledged = sum(run.acknowledged for run in runs)
    effects = stored_effects(folder)
    bars["no acknowledged span is lost"] = (
        ledger["stored"] == acknowledged == effects["spans"] and not ledger["lost"]
    )
    bars["the store never stopped for good"] = not stopped
    answers: Counter[int] = sum((run.answers for run in runs), Counter())
    figures: dict[str, object] = {
        "spans_acknowledged": acknowledged,
        "requests_refused": answers[503],
        "core_ended": log_text.count("core ended;"),
        "other_answers": sum(answers.values()) - answers[503] - answers[200],
        "ledger": ledger,
        "spans_in_the_store": effects["spans"],
    }
    return figures, bars


def least_free_without_a_reserve(folder: Path, seed: int) -> int:
    """The negative control: free MB when the spool is refused at last."""
    with (
        running(
            folder, settings=settings(folder, RAGVIGIL_STORE__DISK_RESERVE_BYTES="0")
        ) as daemon,
        sending(daemon, seed) as senders,
    ):
        until(lambda: bool(senders.short), "refused without a reserve")
        return senders.least_free // MB


@contextmanager
def small_disk(size: int) -> Iterator[Path]:
    """A tmpfs of `size` MB, in the mount namespace of this process."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}m", "tmpfs", folder], check=True)
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True)


def enter_namespace() -> str:
    """Runs this program again in a mount namespace of its own; why not, if that is not allowed."""
    flags = "-m" if os.geteuid() == 0 else "-rm"
    if shutil.which("unshare") is None:
        return "there is no unshare(1)"
    probe = ["unshare", flags, "mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", "/mnt"]
    tried = subprocess.run(probe, capture_output=True, text=True, check=False)
    if tried.returncode:
        return f"no tmpfs can be mounted here: {tried.stderr.strip()}"
    os.environ[INSIDE] = "1"
    return os.execvp("unshare", ["unshare", flags, sys.executable, *sys.argv])


def main() -> None:
    parser = size_parser(__doc__, small="a tmpfs of 200 MB instead of 1 GB")
    parser.add_argument("--seed", type=int, default=SEED)
    options = parser.parse_args()
    if INSIDE not in os.environ and (reason := enter_namespace()):
        progress(f"skipped: {reason}")
        finish("full_disk", {"skipped": reason}, {}, seed=options.seed)
    del os.environ[INSIDE]
    size = 200 if options.small else 1024
    with small_disk(size) as folder:
        figures, bars = filled(folder, options.seed)
    with small_disk(200) as folder:
        least = least_free_without_a_reserve(folder, options.seed + 2)
    bars["without a reserve the spool takes the last megabyte"] = least <= 1
    figures |= {"disk_mb": size, "free_mb_without_a_reserve": least}
    finish("full_disk", figures, bars, seed=options.seed)


if __name__ == "__main__":
    main()
