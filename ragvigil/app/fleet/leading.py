"""Keeps the lease in a thread: whether this daemon leads, and what follows when that changes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

import structlog
from prometheus_client import Gauge
from prometheus_client.core import Metric

from ragvigil.store.engine.errors import StoreError
from ragvigil.store.fleet.lease import BEAT_SECONDS, STANDBY_SECONDS, Leader, Lease

log = structlog.get_logger()

LEADS = Gauge("ragvigil_leads", "1 while this daemon leads its fleet as the analyst, else 0.")


class Collects(Protocol):
    """A collector of the metrics library."""

    def collect(self) -> Iterable[Metric]:
        """Its series now."""
        ...


class Leading:
    """Whether this daemon leads. Without a lease it does so always, as the lock of the folder of an
    embedded store says, or never: an edge (`is_edge`).

    `changed` is called once when the lease is lost, or won by a daemon that runs as an edge: what
    was built then no longer fits, and a new life of the core is to begin.
    """

    def __init__(
        self, lease: Lease | None, changed: Callable[[], None], *, is_edge: bool = False
    ) -> None:
        self._lease, self._changed = lease, changed
        self._ended = threading.Event()
        self._led = lease is None and not is_edge
        self._trouble = ""
        # Asked at each scrape: a process that was stopped must not say what was true before.
        LEADS.set_function(lambda: self.is_held)

    @property
    def is_held(self) -> bool:
        """Whether this daemon surely leads now."""
        return self._led and (self._lease is None or self._lease.is_held)

    @property
    def leader(self) -> Leader:
        """Who leads, as of the last look; nobody without a lease."""
        return Leader() if self._lease is None else self._lease.leader

    def take(self) -> bool:
        """Takes the lease if it is free now; returns whether this daemon leads."""
        if self._lease is not None:
            self._led = self._hold(self._lease)
        return self._led

    def wait(self, stop: threading.Event) -> bool:
        """Stands by until this daemon leads, or until `stop`; returns whether it leads."""
        announced = ""
        while not stop.is_set():
            if self.take():
                return True
            if (holder := self.leader.holder) != announced:
                log.info("standing by", leader=holder or "nobody yet")
                announced = holder
            stop.wait(STANDBY_SECONDS)
        return False

    def start(self) -> None:
        """Starts the thread that renews the lease, or looks whether it is free."""
        if self._lease is not None:
            threading.Thread(target=self._keep, name="lease", daemon=True).start()

    def stop(self) -> None:
        """Ends the thread; the lease runs out, so that what is under way may still be written."""
        self._ended.set()

    def while_led(self, collector: Collects) -> Collects:
        """The collector, with series only while this daemon leads."""
        return _WhileLed(collector, self)

    def _keep(self) -> None:
        assert self._lease is not None
        while not self._ended.wait(BEAT_SECONDS if self._led else STANDBY_SECONDS):
            holds = self._hold(self._lease)
            if self._lease.is_lost or (holds and not self._led):
                word = "won" if holds else "lost"
                log.warning(f"the lease is {word}: the core begins anew", leader=self.leader.holder)
                self._changed()
                return

    def _hold(self, lease: Lease) -> bool:
        try:
            holds = lease.hold()
        except StoreError as error:
            if not self._trouble:
                log.warning("the lease cannot be renewed now", reason=str(error))
            self._trouble = str(error)
            return False
        self._trouble = ""
        return holds


class _WhileLed:
    def __init__(self, collector: Collects, leading: Leading) -> None:
        self._collector, self._leading = collector, leading

    def collect(self) -> Iterator[Metric]:
        """The series, or none."""
        if self._leading.is_held:
            yield from self._collector.collect()
