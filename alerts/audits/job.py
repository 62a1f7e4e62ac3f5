"""The job of change audits: starts them, advances each by one step at a time, returns findings.

A step calls the judge and lasts as long as the judge takes, so steps run in a thread of their own
and `run` returns at once. Each step ends with its audit in the store: a crash repeats at most the
calls of the step under way.
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
    covered_by,
    in_order,
    is_of_numbers,
    of_deploy,
    of_finding,
    of_notice,
)
from alerts.audits.confidence import LEAST
from alerts.audits.decide import Plan
from alerts.audits.pairs import Ask, Before, before_of, last_changes
from alerts.audits.step import StepResult, run_step
from alerts.audits.words import findings, with_end
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
RECENT_DAYS = 7
"""Days of audits that are kept in memory: they cover later changes and bound what is before."""
STEP_PAUSE_SECONDS = 60.0
"""Pause between two steps of an audit that has judged all the pairs there were."""


class AuditJob:
    """Starts and advances audits. `ask` blocks; `clock` returns seconds since the epoch.

    Only the thread of the steps writes `_step_results`, and `run` reads them only once that thread
    has ended; so they need no lock.
    """

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
        self._by_id: dict[str, Audit] | None = None
        self._pending: dict[str, Anchor] = {}
        self._marked: set[str] = set()
        self._handled: set[str] = set()
        self._before: dict[tuple[str, tuple[str, ...]], Before] = {}
        self._next: dict[str, float] = {}
        self._open_findings: dict[str, Finding] = {}
        self._ended_findings: set[str] = set()
        self._thread: Thread | None = None
        self._step_results: list[StepResult] = []

    def run(
        self,
        now: float,
        notices: Iterable[Notice],
        deploys: Iterable[Deploy],
        moved: Iterable[Finding],
    ) -> tuple[Finding, ...]:
        """Starts audits of what changed, advances those that run, and returns what dropped.

        `notices` are new ones; `deploys` and `moved` may be the same at each call. Returns the open
        drops, and once those that have ended. Raises StoreError.
        """
        by_id = self._load(now)
        # Weight 0 is a number that moved: it is offered again below while it lasts, and a number
        # that came back by itself needs no audit any more.
        self._pending = {name: anchor for name, anchor in self._pending.items() if anchor.weight}
        for anchor in self._anchors(now, notices, deploys, moved):
            if anchor.source not in self._handled:
                self._pending.setdefault(anchor.source, anchor)
        if self._thread is None or not self._thread.is_alive():
            self._harvest(by_id)
            self._begin(by_id, now)
            self._start_steps(by_id, now)
        return self._current_findings(by_id, now)

    @property
    def audits(self) -> tuple[Audit, ...]:
        """The audits of the last days, as of the last run."""
        return tuple((self._by_id or {}).values())

    def wait(self, seconds: float) -> None:
        """Waits at most `seconds` for the steps under way."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _load(self, now: float) -> dict[str, Audit]:
        """Reads the recent audits at the first call, and restores their findings."""
        if self._by_id is None:
            recent = audits.find(self._store, since=int(now - RECENT_DAYS * DAY))
            by_id = {audit.audit_id: audit for audit in recent}
            for audit in recent:
                if audit.state is AuditState.DROPPED:
                    self._add_findings(audit, audits.pairs_of(self._store, audit.audit_id))
            # Findings that ended before this start were returned by the earlier process.
            self._current_findings(by_id, now)
            self._by_id = by_id  # last: a run that fails above reads them all again
        return self._by_id

    def _anchors(
        self,
        now: float,
        notices: Iterable[Notice],
        deploys: Iterable[Deploy],
        moved: Iterable[Finding],
    ) -> Iterator[Anchor]:
        yield from map(of_notice, notices)
        yield from (anchor for anchor in map(of_finding, moved) if anchor is not None)
        for deploy in deploys:
            age = now - deploy.time_unix_nano / 1e9
            if deploy.deploy_id not in self._marked and 0 <= age < self._settings.hours * HOUR:
                self._marked.add(deploy.deploy_id)
                yield from self._of_deploy(deploy)

    def _of_deploy(self, deploy: Deploy) -> Iterator[Anchor]:
        """One anchor in each environment of the service that had traffic before."""
        since = int(deploy.time_unix_nano / 1e9 - HOUR)
        places = traffic.since(self._store, since, priority=Priority.TICK)
        for name in sorted(
            {place.environment for place in places if place.service == deploy.service}
        ):
            if deploy.environment in ("", name):
                yield of_deploy(deploy, name)

    def _begin(self, by_id: dict[str, Audit], now: float) -> None:
        """Starts or widens an audit for each pending change; changes that may not start one wait.

        A change older than the hours that an audit may last gets none.
        """
        oldest = now - self._settings.hours * HOUR
        for anchor in in_order(self._pending.values()):
            audit = covered_by(self._newest(by_id), anchor)
            if audit is not None:
                if audit != by_id[audit.audit_id]:
                    self._write(by_id, audit, now)
            elif anchor.time_unix_nano / 1e9 >= oldest:
                # Asking for no records only tells whether there is a judge.
                if not self._may_start(by_id, anchor, now) or self._ask((), ()) is None:
                    continue
                self._start(by_id, anchor, now)
            self._handled.add(anchor.source)
            del self._pending[anchor.source]

    def _may_start(self, by_id: dict[str, Audit], anchor: Anchor, now: float) -> bool:
        """Whether the day has an audit left; numbers that moved leave its last one to changes."""
        today = now // DAY
        begun = sum(audit.started_unix_nano / 1e9 // DAY == today for audit in by_id.values())
        most = self._settings.per_day
        # One less than the budget, but at least one where any is allowed.
        return begun < (most if anchor.weight else max(min(most, 1), most - 1))

    def _start(self, by_id: dict[str, Audit], anchor: Anchor, now: float) -> None:
        audit = audit_of(anchor, int(now * 1e9))
        before = before_of(self._store, audit, self._floor(by_id, audit))
        if len(before.candidates) < 2 * LEAST:
            log.info("no audit: too little traffic before the change", change=anchor.reason)
            return
        log.info("audit begins", change=anchor.reason, service=audit.service, routes=audit.routes)
        self._before[audit.audit_id, audit.routes] = before
        self._write(by_id, audit, now)

    def _floor(self, by_id: dict[str, Audit], audit: Audit) -> float:
        """The last change of its routes before this one, seconds since the epoch; 0 without one.

        The two sides of an audit differ by what it answers for, by no other change: one of numbers
        that moved compares answers that all came after the last change.
        """
        times = [
            other.anchor_unix_nano / 1e9
            for other in by_id.values()
            if (other.service, other.environment) == (audit.service, audit.environment)
            and other.anchor_unix_nano < audit.anchor_unix_nano
            and (not other.routes or not audit.routes or set(other.routes) & set(audit.routes))
        ]
        if is_of_numbers(audit):
            times += last_changes(self._store, audit)
        return max(times, default=0.0)

    def _write(self, by_id: dict[str, Audit], audit: Audit, now: float) -> None:
        store = self._store
        store.write(
            audits.batch(audit, (), int(now * 1e9), replica=store.replica, epoch=store.epoch)
        )
        by_id[audit.audit_id] = audit

    def _newest(self, by_id: dict[str, Audit]) -> list[Audit]:
        return sorted(by_id.values(), key=lambda audit: -audit.started_unix_nano)

    def _start_steps(self, by_id: dict[str, Audit], now: float) -> None:
        due = [
            audit
            for audit in by_id.values()
            if audit.is_running and now >= self._next.get(audit.audit_id, 0.0)
        ]
        # Before the step ends, as a failed step has to wait, too.
        self._next |= {audit.audit_id: now + STEP_PAUSE_SECONDS for audit in due}
        if due:
            # The candidates of an audit are read once, after its floor.
            floors = [
                0.0 if (audit.audit_id, audit.routes) in self._before else self._floor(by_id, audit)
                for audit in due
            ]
            self._thread = Thread(
                target=self._step_all, args=(due, floors), name="audit", daemon=True
            )
            self._thread.start()

    def _step_all(self, due: Sequence[Audit], floors: Sequence[float]) -> None:
        """Runs in the thread: one step of each audit. A failed step is repeated with the next."""
        for audit, floor in zip(due, floors, strict=True):
            try:
                pairs = tuple(audits.pairs_of(self._store, audit.audit_id))
                before = self._before_of(audit, floor)
                plan = self._plan()
                result = run_step(self._store, self._ask, audit, pairs, before, plan, self._clock())
            except (StoreError, CancelledError) as error:
                log.warning("audit step failed", audit=audit.audit_id, reason=str(error))
            else:
                self._step_results.append(result)

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

    def _harvest(self, by_id: dict[str, Audit]) -> None:
        """Takes over the results of the thread, which has ended by now."""
        for result in self._step_results:
            audit = result.audit
            by_id[audit.audit_id] = audit
            # It judged all it could at once, so there may be more: the next step need not wait.
            if result.is_full:
                self._next[audit.audit_id] = 0.0
            if audit.state is AuditState.DROPPED:
                self._add_findings(audit, result.pairs)
            if not audit.is_running:
                log.info("audit ended", change=audit.reason, found=audit.progress)
                others = {key for key in self._before if key[0] != audit.audit_id}
                self._before = {key: self._before[key] for key in others}
        self._step_results = []

    def _add_findings(self, audit: Audit, pairs: Sequence[Pair]) -> None:
        for finding in findings(audit, pairs, self._plan()):
            if finding.finding_id not in self._ended_findings:
                self._open_findings[finding.finding_id] = finding

    def _current_findings(self, by_id: dict[str, Audit], now: float) -> tuple[Finding, ...]:
        current = [
            with_end(finding, by_id.values(), int(now * 1e9))
            for finding in self._open_findings.values()
        ]
        self._ended_findings |= {finding.finding_id for finding in current if not finding.is_open}
        self._open_findings = {
            finding.finding_id: finding for finding in current if finding.is_open
        }
        return tuple(current)
