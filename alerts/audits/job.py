"""Change audits at work: which changes get one, a look of each at a time, what they found.

Looks ask the judge and take as long as it takes, so they are made in a thread of their own; `run`
returns at once. What is known of an audit is in the store after each look: a crash repeats at most
the calls of the look under way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from threading import Thread
from typing import TYPE_CHECKING

import structlog

from alerts.audits.anchors import (
    Anchor,
    audit_of,
    in_order,
    of_deploy,
    of_finding,
    of_notice,
    taken_in,
)
from alerts.audits.confidence import LEAST
from alerts.audits.decide import Plan
from alerts.audits.pairs import Ask, Before, before_of
from alerts.audits.step import Looked, look
from alerts.audits.words import findings, standing
from ragvigil.model.audit import Audit, AuditState, Pair
from ragvigil.store.engine.errors import StoreError
from ragvigil.store.engine.priority import Priority
from ragvigil.store.records import traffic
from ragvigil.store.watch import audits

if TYPE_CHECKING:
    from alerts.audits.settings import AuditSettings
    from ragvigil.model.deploy import Deploy
    from ragvigil.model.finding import Finding
    from ragvigil.model.notice import Notice
    from ragvigil.store.engine.store import Store

log = structlog.get_logger()

HOUR, DAY = 3600.0, 86_400.0
KNOWN_DAYS = 7
"""Audits of so many days are looked at, for what they cover and where they begin."""
LOOK_SECONDS = 60.0
"""Between two looks of an audit that has judged all there was."""


class AuditJob:
    """One duty. `ask` blocks; `clock` tells the thread of the looks the present, in seconds."""

    def __init__(
        self,
        store: Store,
        settings: AuditSettings,
        ask: Ask,
        clock: Callable[[], float],
        *,
        page_drop: float,
    ) -> None:
        self._store, self._settings, self._ask, self._clock = store, settings, ask, clock
        self._page_drop = page_drop
        self._known: dict[str, Audit] | None = None
        self._pending: dict[str, Anchor] = {}
        self._marked: set[str] = set()
        self._passed: set[str] = set()
        self._before: dict[tuple[str, tuple[str, ...]], Before] = {}
        self._next: dict[str, float] = {}
        self._found: dict[str, Finding] = {}
        self._over: set[str] = set()
        self._thread: Thread | None = None
        self._looked: list[Looked] = []

    def run(
        self,
        now: float,
        notices: Iterable[Notice],
        deploys: Iterable[Deploy],
        moved: Iterable[Finding],
    ) -> tuple[Finding, ...]:
        """Starts audits of what changed, looks at those that run, and tells what dropped.

        `notices` are new ones; `deploys` and `moved` may be the same at each call. Returns the
        drops that stand, and those that ended by now, once. Raises StoreError.
        """
        known = self._load(now)
        # What moved and came back by itself needs no audit any more.
        self._pending = {name: one for name, one in self._pending.items() if one.weight}
        for anchor in self._anchors(now, notices, deploys, moved):
            if anchor.source not in self._passed:
                self._pending.setdefault(anchor.source, anchor)
        if self._thread is None or not self._thread.is_alive():
            self._harvest(known)
            self._begin(known, now)
            self._look(known, now)
        return self._told(known, now)

    @property
    def audits(self) -> tuple[Audit, ...]:
        """Those of the last days, as of the last run."""
        return tuple((self._known or {}).values())

    def wait(self, seconds: float) -> None:
        """Waits for the look under way, at most so long."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _load(self, now: float) -> dict[str, Audit]:
        """What the store knows, at the first call."""
        if self._known is None:
            found = audits.find(self._store, since=int(now - KNOWN_DAYS * DAY))
            self._known = {one.audit_id: one for one in found}
            for audit in found:
                if audit.state is AuditState.DROPPED:
                    self._tell(audit, audits.pairs_of(self._store, audit.audit_id))
            self._told(self._known, now)  # those that ended before this start were told then
        return self._known

    def _anchors(
        self,
        now: float,
        notices: Iterable[Notice],
        deploys: Iterable[Deploy],
        moved: Iterable[Finding],
    ) -> Iterator[Anchor]:
        yield from map(of_notice, notices)
        yield from (one for one in map(of_finding, moved) if one is not None)
        for deploy in deploys:
            age = now - deploy.time_unix_nano / 1e9
            if deploy.deploy_id not in self._marked and 0 <= age < self._settings.hours * HOUR:
                self._marked.add(deploy.deploy_id)
                yield from self._of_deploy(deploy)

    def _of_deploy(self, deploy: Deploy) -> Iterator[Anchor]:
        """One anchor in each environment of the service that had traffic before."""
        since = int(deploy.time_unix_nano / 1e9 - HOUR)
        seen = traffic.since(self._store, since, priority=Priority.TICK)
        for name in sorted({one.environment for one in seen if one.service == deploy.service}):
            if deploy.environment in ("", name):
                yield of_deploy(deploy, name)

    def _begin(self, known: dict[str, Audit], now: float) -> None:
        """An audit for each change that needs one and may have it; the others wait, or pass."""
        oldest = now - self._settings.hours * HOUR
        for anchor in in_order(self._pending.values()):
            audit = taken_in(self._newest(known), anchor)
            if audit is not None:
                if audit != known[audit.audit_id]:
                    self._keep(known, audit, now)
            elif anchor.time_unix_nano / 1e9 >= oldest:
                if not self._may_start(known, anchor, now) or self._ask((), ()) is None:
                    continue
                self._start(known, anchor, now)
            self._passed.add(anchor.source)
            del self._pending[anchor.source]

    def _may_start(self, known: dict[str, Audit], anchor: Anchor, now: float) -> bool:
        """The last audit of a day is left to changes: what moved alone must not take it."""
        today = now // DAY
        begun = sum(one.started_unix_nano / 1e9 // DAY == today for one in known.values())
        most = self._settings.per_day
        return begun < (most if anchor.weight else max(min(most, 1), most - 1))

    def _start(self, known: dict[str, Audit], anchor: Anchor, now: float) -> None:
        audit = audit_of(anchor, int(now * 1e9))
        before = before_of(self._store, audit, self._floor(known, audit))
        if len(before.candidates) < 2 * LEAST:
            log.info("no audit: little was asked before", change=anchor.reason)
            return
        log.info("audit begins", change=anchor.reason, service=audit.service, routes=audit.routes)
        self._before[audit.audit_id, audit.routes] = before
        self._keep(known, audit, now)

    def _floor(self, known: dict[str, Audit], audit: Audit) -> float:
        """When its routes changed before, seconds since the epoch; 0 where there was none."""
        times = [
            one.anchor_unix_nano / 1e9
            for one in known.values()
            if (one.service, one.environment) == (audit.service, audit.environment)
            and one.anchor_unix_nano < audit.anchor_unix_nano
            and (not one.routes or not audit.routes or set(one.routes) & set(audit.routes))
        ]
        return max(times, default=0.0)

    def _keep(self, known: dict[str, Audit], audit: Audit, now: float) -> None:
        store = self._store
        store.write(
            audits.batch(audit, (), int(now * 1e9), replica=store.replica, epoch=store.epoch)
        )
        known[audit.audit_id] = audit

    def _newest(self, known: dict[str, Audit]) -> list[Audit]:
        return sorted(known.values(), key=lambda one: -one.started_unix_nano)

    def _look(self, known: dict[str, Audit], now: float) -> None:
        due = [
            one
            for one in known.values()
            if one.is_running and now >= self._next.get(one.audit_id, 0.0)
        ]
        self._next |= {one.audit_id: now + LOOK_SECONDS for one in due}
        if due:
            floors = [self._floor(known, one) for one in due]
            self._thread = Thread(
                target=self._looking, args=(due, floors), name="audit", daemon=True
            )
            self._thread.start()

    def _looking(self, due: Sequence[Audit], floors: Sequence[float]) -> None:
        """The thread: one look of each. What fails is tried again at the next look."""
        for audit, floor in zip(due, floors, strict=True):
            try:
                pairs = tuple(audits.pairs_of(self._store, audit.audit_id))
                before = self._before_of(audit, floor)
                plan = self._plan()
                found = look(self._store, self._ask, audit, pairs, before, plan, self._clock())
            except (StoreError, CancelledError) as error:
                log.warning("an audit could not look", audit=audit.audit_id, reason=str(error))
            else:
                self._looked.append(found)

    def _before_of(self, audit: Audit, floor: float) -> Before:
        key = (audit.audit_id, audit.routes)
        if key not in self._before:
            self._before[key] = before_of(self._store, audit, floor)
        return self._before[key]

    def _plan(self) -> Plan:
        settings = self._settings
        return Plan(
            first=settings.rubrics,
            then=settings.then,
            records=settings.records,
            smallest_drop=settings.smallest_drop,
            page_drop=self._page_drop,
            hours=settings.hours,
        )

    def _harvest(self, known: dict[str, Audit]) -> None:
        """Takes over what the thread has found; it has ended by now."""
        for found in self._looked:
            audit = found.audit
            known[audit.audit_id] = audit
            if found.is_full:
                self._next[audit.audit_id] = 0.0
            if audit.state is AuditState.DROPPED:
                self._tell(audit, found.pairs)
            if not audit.is_running:
                log.info("audit ended", change=audit.reason, found=audit.progress)
                kept = {key for key in self._before if key[0] != audit.audit_id}
                self._before = {key: self._before[key] for key in kept}
        self._looked = []

    def _tell(self, audit: Audit, pairs: Sequence[Pair]) -> None:
        for one in findings(audit, pairs, self._plan()):
            if one.finding_id not in self._over:
                self._found[one.finding_id] = one

    def _told(self, known: dict[str, Audit], now: float) -> tuple[Finding, ...]:
        told = [standing(one, known.values(), int(now * 1e9)) for one in self._found.values()]
        self._over |= {one.finding_id for one in told if not one.is_open}
        self._found = {one.finding_id: one for one in told if one.is_open}
        return tuple(told)
