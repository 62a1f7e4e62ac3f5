"""TLS certificates and tokens change while 500 spans a second arrive: no request may fail.

    .venv/bin/python bench/reloads.py [--small] [--seconds N]

A daemon listens with TLS and a token of a file. Senders post requests of 20 spans at an even rate,
half of them on kept connections and half on new ones, while certificate, key and token are
replaced and SIGHUP is sent, once a second. The negative control takes the senders' token out of the
file: their requests must then be refused, or the reload did nothing.
"""

from __future__ import annotations

import itertools
import shutil
import signal
import ssl
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import httpx2

from bench.rig import otlp_requests
from bench.rig.options import size_parser
from bench.rig.report import finish, progress
from ragvigil.app.demo.child_daemon import ChildDaemon, start
from tests.certificates import Pair, self_signed

SEED = 21
RATE, TRACES = 500, 5
SPANS = TRACES * otlp_requests.SPANS_A_TRACE
SENDERS = 4
OLD, NEW = "token-of-yesterday-01", "token-of-today-0123456"
RELOAD_SECONDS = 1.0


class Files:
    """The certificate, key and tokens that the daemon reads."""

    def __init__(self, folder: Path) -> None:
        self.pairs = [self_signed(folder, name) for name in ("first", "second")]
        self.certificate, self.key = folder / "tls.crt", folder / "tls.key"
        self.token = folder / "token"
        self.write(self.pairs[0], OLD)

    def write(self, pair: Pair, tokens: str) -> None:
        """Replaces all three."""
        shutil.copy(pair.certificate, self.certificate)
        shutil.copy(pair.key, self.key)
        self.token.write_text(tokens)

    def trusted(self, folder: Path) -> ssl.SSLContext:
        """Trusts both certificates."""
        both = folder / "both.pem"
        both.write_text("".join(pair.certificate.read_text() for pair in self.pairs))
        return ssl.create_default_context(cafile=str(both))


class Senders:
    """Post at RATE spans a second together, and count the answers by status."""

    def __init__(self, daemon: ChildDaemon, trusted: ssl.SSLContext, bodies: list[bytes]) -> None:
        self.statuses: Counter[int] = Counter()
        self._url, self._trusted, self._bodies = f"https://{daemon.http}/v1/traces", trusted, bodies
        self._stop = threading.Event()
        self._threads = [
            threading.Thread(target=self._send, args=(number,), daemon=True)
            for number in range(SENDERS)
        ]

    def __enter__(self) -> Senders:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _send(self, number: int) -> None:
        is_fresh, client = number % 2 == 1, self._client()
        headers = {"authorization": f"Bearer {OLD}", "content-type": "application/x-protobuf"}
        due = time.monotonic()
        for body in itertools.cycle(self._bodies[number::SENDERS]):
            if self._stop.is_set():
                break
            if is_fresh:
                client.close()
                client = self._client()
            try:
                status = client.post(self._url, content=body, headers=headers).status_code
            except httpx2.TransportError:
                status = 0
            self.statuses[status] += 1
            due += SENDERS * SPANS / RATE
            self._stop.wait(max(0.0, due - time.monotonic()))
        client.close()

    def _client(self) -> httpx2.Client:
        return httpx2.Client(verify=self._trusted, trust_env=False, timeout=30)


def main() -> None:
    parser = size_parser(__doc__)
    parser.add_argument("--seconds", type=float)
    options = parser.parse_args()
    seconds = options.seconds or (6.0 if options.small else 60.0)
    bodies = otlp_requests.make(2_000, seed=SEED, per_request=TRACES)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = Files(folder)
        settings = {"RAGVIGIL_COLLECTOR__HTTP_TOKEN_FILE": str(files.token)}
        settings["RAGVIGIL_COLLECTOR__TLS_CERTIFICATE"] = str(files.certificate)
        settings["RAGVIGIL_COLLECTOR__TLS_KEY"] = str(files.key)
        daemon = start(folder / "data", settings=settings)
        try:
            daemon.wait_ready()
            trusted = files.trusted(folder)
            reloads, statuses, lasted = _under_load(daemon, files, trusted, bodies, seconds)
            refused = _control(daemon, files, trusted, bodies)
        finally:
            daemon.stop()
    sent = sum(statuses.values())
    figures: dict[str, object] = {
        "reloads": reloads,
        "requests": sent,
        "spans_a_second": round(sent * SPANS / lasted),
        "statuses": {str(status): count for status, count in statuses.items()},
        "refused_once_the_token_is_gone": refused,
    }
    bars = {
        "no request failed": set(statuses) == {200},
        "control: without the token, requests are refused": refused > 0,
    }
    finish("reloads", figures, bars, seed=SEED)


def _under_load(
    daemon: ChildDaemon, files: Files, trusted: ssl.SSLContext, bodies: list[bytes], seconds: float
) -> tuple[int, Counter[int], float]:
    began, reloads = time.monotonic(), 0
    with Senders(daemon, trusted, bodies) as senders:
        while time.monotonic() - began < seconds:
            reloads += 1
            files.write(files.pairs[reloads % 2], f"{NEW}\n{OLD}" if reloads % 2 else OLD)
            daemon.process.send_signal(signal.SIGHUP)
            time.sleep(RELOAD_SECONDS)
        lasted = time.monotonic() - began
    progress(f"{reloads} reloads, {dict(senders.statuses)}")
    return reloads, senders.statuses, lasted


def _control(
    daemon: ChildDaemon, files: Files, trusted: ssl.SSLContext, bodies: list[bytes]
) -> int:
    files.write(files.pairs[0], NEW)
    daemon.process.send_signal(signal.SIGHUP)
    time.sleep(3 * RELOAD_SECONDS)
    with Senders(daemon, trusted, bodies) as senders:
        time.sleep(RELOAD_SECONDS)
    return senders.statuses[401]


if __name__ == "__main__":
    main()
