"""Requests at an even rate, each sent once, from a thread of its own."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator

import httpx2

from bench.rig import otlp_requests

SEED = 21
MADE_AT_ONCE = 500
"""Traces of 20 KB each: half an hour of them would fill the memory."""


class EvenLoad(threading.Thread):
    """Posts traces over one corpus until `stop`; counts what was acknowledged and refused.

    `rate` are spans a second, and may be set anew at any time. A request without an answer counts
    as refused.
    """

    def __init__(self, address: str, rate: float, *, traces_a_request: int) -> None:
        super().__init__(daemon=True)
        self.rate = rate
        self.spans, self.refused = 0, 0
        self._url, self._traces = f"http://{address}/v1/traces", traces_a_request
        self._times: list[float] = []
        self._stop_asked = threading.Event()

    def run(self) -> None:
        """One request after the other; a request that is late is made up for."""
        due = time.monotonic()
        spans = self._traces * otlp_requests.SPANS_A_TRACE
        with httpx2.Client(timeout=30) as client:
            for body in self._requests():
                if self._stop_asked.is_set():
                    return
                if self._acknowledges(client, body):
                    self.spans += spans
                    self._times.append(time.monotonic())
                else:
                    self.refused += 1
                due += spans / self.rate
                self._stop_asked.wait(max(0.0, due - time.monotonic()))

    def stop(self) -> None:
        """Ends after the request under way."""
        self._stop_asked.set()
        self.join()

    def waited(self, spans: int) -> float:
        """Seconds since more than so many spans were acknowledged; 0 where no more were."""
        later = self._times[spans // (self._traces * otlp_requests.SPANS_A_TRACE) :][:1]
        return time.monotonic() - later[0] if later else 0.0

    def _requests(self) -> Iterator[bytes]:
        """Requests without end, no two of them with the same trace."""
        for seed in itertools.count(SEED):
            yield from otlp_requests.make(
                MADE_AT_ONCE, seed=seed, per_request=self._traces, corpus=SEED
            )

    def _acknowledges(self, client: httpx2.Client, body: bytes) -> bool:
        try:
            reply = client.post(
                self._url, content=body, headers={"content-type": "application/x-protobuf"}
            )
        except httpx2.TransportError:
            return False
        return reply.status_code == 200
