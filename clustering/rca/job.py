"""Explains new and worsening issues unasked, and any issue on request.

A run asks the judge's model and takes minutes, so the periodic job starts a thread for it; one run
at a time. The store knows what was explained: a crash repeats at most one run.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from dataclasses import dataclass
from datetime import UTC, date, datetime
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING

import structlog

from clustering.issues.redirects import IssueRedirects
from clustering.rca.explain import NO_MODEL, explain
from clustering.rca.settings import RootCauseSettings
from clustering.rca.store_reader import StoreIssueReader, terms_of
from ragvigil.llm.judge import JudgeAccess
from ragvigil.llm.outcome import Failure, FailureKind, Purpose, Usage
from ragvigil.llm.settings import LlmSettings, price_of
from ragvigil.model.clock import Clock
from ragvigil.model.issue import Issue, IssueEvent, IssueState, IssueVerb, RootCause
from ragvigil.store.engine.errors import StoreError
from ragvigil.store.engine.priority import Priority
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import causes, issues, root_causes

if TYPE_CHECKING:
    from ragvigil.llm.conversation import Conversation, Turn

log = structlog.get_logger()

NANOS = 10**9
DAY = 86_400
MOST_ISSUES = 10_000
SETTLE_SECONDS = 600
"""An issue is explained this long after it became new or worse: its first members say little."""
AGAIN_SECONDS = 3600
"""A run whose report could not be stored is repeated only after this: it has cost money."""
WORSENING = (IssueState.ESCALATING, IssueState.REGRESSED, IssueState.NEW)
"""States that are explained unasked, the most urgent first."""
STOPPED = Failure(kind=FailureKind.UNAVAILABLE, detail="the judge is stopped")
BUSY = "another issue is being explained; try again in some minutes"
SPENT = "written by code: the model has made its runs of the day"


class NoSuchIssue(LookupError):
    """No issue has this id."""


class Busy(RuntimeError):
    """Another issue is being explained; try again in some minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """The most that a report may cost: dollars, or tokens of a model without a price, and seconds.

    Without a model, code writes it for nothing.
    """

    model: str = ""
    most_usd: float | None = None
    most_tokens: int | None = None
    most_seconds: float = 0.0


class JudgeAsker:
    """Lets the agent use the judge's model; its calls are paid from the reserve of the budget."""

    def __init__(self, judging: JudgeAccess, settings: LlmSettings, today: date) -> None:
        self._judging = judging
        self.model = settings.model
        self.price = price_of(settings, today)

    def turn(
        self,
        conversation: Conversation,
        *,
        patience_seconds: float,
        fits: Callable[[Usage], bool],
    ) -> Turn | Failure:
        """The model's next turn, or a failure if the judge stops meanwhile."""
        try:
            turn = self._judging.with_client(
                lambda client: client.turn(
                    conversation,
                    Purpose.ROOT_CAUSE,
                    patience_seconds=patience_seconds,
                    fits=fits,
                )
            )
        except CancelledError:
            return STOPPED
        return STOPPED if turn is None else turn


class RootCauseJob:
    """`run` starts at most one explanation and returns; `explain_now` waits for its own."""

    def __init__(
        self,
        store: Store,
        settings: RootCauseSettings,
        judging: JudgeAccess,
        *,
        clock: Clock,
        chance: random.Random | None = None,
    ) -> None:
        self._store, self._settings, self._judging = store, settings, judging
        self._clock, self._chance = clock, chance or random.SystemRandom()
        self._thread: Thread | None = None
        self._running = Lock()
        self._is_stopping = Event()
        self._begun: dict[str, float] = {}
        if not judging.reason:
            log.info(
                "root causes on: spans of failing records leave for the judge's address",
                runs_per_day=settings.runs_per_day,
            )

    def run(self) -> None:
        """Starts with the most urgent issue that waits, unless a run is on. Raises StoreError."""
        if self._thread is not None and self._thread.is_alive():
            return
        now = self._clock()
        last, runs = causes.explained(self._store, int(now - now % DAY) * NANOS)
        worse = self._redirects().find(
            issues.IssueFilter(states=tuple(state.value for state in WORSENING))
        )
        due = [
            issue for issue in worse if self._begun.get(issue.issue_id, 0.0) + AGAIN_SECONDS <= now
        ]
        waiting = _waiting(due, last, int(now * NANOS))
        if waiting:
            # Noted before the run: it costs money even if its report cannot be stored.
            self._begun[waiting[0].issue_id] = now
            is_spent = runs >= self._settings.runs_per_day
            self._thread = Thread(
                target=self._in_thread, args=(waiting[0], "", is_spent), name="explain", daemon=True
            )
            self._thread.start()

    def explain_now(self, issue_id: str, actor: str = "") -> RootCause:
        """Explains an issue, or what it was merged into, and stores it. Blocks.

        Raises NoSuchIssue, Busy, StoreError.
        """
        issue = self._redirects().home(issue_id)
        if issue is None:
            raise NoSuchIssue(issue_id)
        return self._explained(issue, actor, is_spent=False)

    def begin(self, issue_id: str, actor: str = "") -> None:
        """Begins to explain an issue, or what it was merged into, in a thread of its own.

        Raises NoSuchIssue, Busy, StoreError.
        """
        issue = self._redirects().home(issue_id)
        if issue is None:
            raise NoSuchIssue(issue_id)
        if self.is_running:
            raise Busy(BUSY)
        self._thread = Thread(
            target=self._in_thread, args=(issue, actor, False), name="explain", daemon=True
        )
        self._thread.start()

    @property
    def is_running(self) -> bool:
        """Whether a report is being written now."""
        return self._running.locked()

    def limits(self) -> RunLimits:
        """What a report would cost now, at most."""
        llm = self._judging.model_settings
        if llm is None:
            return RunLimits()
        today = datetime.fromtimestamp(self._clock(), UTC).date()
        has_price = price_of(llm, today) is not None
        return RunLimits(
            model=llm.model,
            most_usd=self._settings.max_money if has_price else None,
            most_tokens=None if has_price else self._settings.max_tokens,
            most_seconds=self._settings.max_seconds,
        )

    def stop(self) -> None:
        """From now on no report is stored: a run that the shutdown cuts short is repeated."""
        self._is_stopping.set()

    def wait(self, seconds: float) -> None:
        """Waits for the current run, at most this long."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _redirects(self) -> IssueRedirects:
        filter_ = issues.IssueFilter(with_merged=True, limit=MOST_ISSUES)
        return IssueRedirects(issues.find(self._store, filter_, priority=Priority.TICK))

    def _in_thread(self, issue: Issue, actor: str, is_spent: bool) -> None:
        try:
            self._explained(issue, actor, is_spent=is_spent)
        except Busy:
            return  # the next turn, or the person, tries again
        except StoreError as error:
            log.warning("an issue was not explained", issue=issue.issue_id, reason=str(error))

    def _explained(self, issue: Issue, actor: str, *, is_spent: bool) -> RootCause:
        # Refused rather than queued: the run before it may take minutes.
        if not self._running.acquire(blocking=False):
            raise Busy(BUSY)
        try:
            asker, reason = self._asker(is_spent)
            ids = self._redirects().ids([issue])
            report = explain(
                issue,
                StoreIssueReader(self._store, issue, ids),
                asker,
                int(self._clock() * NANOS),
                settings=self._settings,
                clock=time.monotonic,
                delimiter=f"{self._chance.getrandbits(64):016x}",
                terms=terms_of(self._store, issue, ids),
                reason=reason,
            )
            if not self._is_stopping.is_set():
                self._keep(report, actor)
            return report
        finally:
            self._running.release()

    def _asker(self, is_spent: bool) -> tuple[JudgeAsker | None, str]:
        if is_spent:
            return None, SPENT
        llm = self._judging.model_settings
        if llm is None:
            return None, NO_MODEL
        today = datetime.fromtimestamp(self._clock(), UTC).date()
        return JudgeAsker(self._judging, llm, today), ""

    def _keep(self, report: RootCause, actor: str) -> None:
        store, now = self._store, int(self._clock() * NANOS)
        event = IssueEvent(
            issue_id=report.issue_id,
            time_unix_nano=now,
            verb=IssueVerb.EXPLAINED,
            actor=actor,
            text=report.ended,
        )
        store.write(root_causes.batch(report, now, replica=store.replica, epoch=store.epoch))
        store.write(issues.batch(now, events=[event], replica=store.replica, epoch=store.epoch))
        log.info("explained", issue=report.issue_id, by=report.by, ended=report.ended)


def _waiting(candidates: list[Issue], last: dict[str, int], now_unix_nano: int) -> list[Issue]:
    """Issues that became new or worse after they were explained last, the most urgent first."""
    settled = now_unix_nano - SETTLE_SECONDS * NANOS
    due = [
        issue
        for issue in candidates
        if issue.state_unix_nano <= settled and last.get(issue.issue_id, -1) < issue.state_unix_nano
    ]
    return sorted(
        due, key=lambda issue: (WORSENING.index(issue.state), -issue.members, issue.issue_id)
    )
