"""Slows down whoever tries tokens: after a few failures an address waits, longer each time."""

from __future__ import annotations

import ipaddress
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

FREE_FAILURES = 5
"""So many failures cost nothing: people mistype."""
MOST_SECONDS = 60.0
"""People behind one proxy share an address: who fails may keep the others waiting for no longer."""
FORGET_SECONDS = 900.0
MOST_ADDRESSES = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failures:
    count: int
    last: float


class Slowdown:
    """Failures by address; `clock` gives seconds. An IPv6 address counts as its network, a /64."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock, self._lock = clock, threading.Lock()
        self._failures: dict[str, _Failures] = {}

    def wait_seconds(self, address: str) -> float:
        """How long an address has to wait before its next attempt; 0 for not at all."""
        failures = self._failures.get(_network(address))
        if failures is None or failures.count < FREE_FAILURES:
            return 0.0
        pause = min(MOST_SECONDS, 2.0 ** (failures.count - FREE_FAILURES + 1))
        return max(0.0, failures.last + pause - self._clock())

    def fail(self, address: str) -> None:
        """Counts a failure; failures are forgotten a quarter of an hour after the last."""
        network, now = _network(address), self._clock()
        with self._lock:
            before = self._failures.pop(network, None)
            is_counted = before is not None and now - before.last < FORGET_SECONDS
            count = before.count + 1 if before is not None and is_counted else 1
            self._failures[network] = _Failures(count=count, last=now)
            if len(self._failures) > MOST_ADDRESSES:
                del self._failures[next(iter(self._failures))]  # who failed the longest ago

    def forget(self, address: str) -> None:
        """Somebody at this address knew a token."""
        with self._lock:
            self._failures.pop(_network(address), None)


def _network(address: str) -> str:
    try:
        known = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(known, ipaddress.IPv6Address) and known.ipv4_mapped is None:
        return str(ipaddress.ip_network((known, 64), strict=False))
    return address
