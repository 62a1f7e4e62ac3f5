"""Root causes at work: new and worsening issues are explained unasked, others when somebody asks.

A run asks the judge's model and takes minutes, so that of the duty is made in a thread of its own;
one run at a time. The store tells what was explained already: a crash repeats at most one run.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from concurrent.futures import CancelledError
from datetime import UTC, date, datetime
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING

import structlog

from clustering.issues.redirects import IssueRedirects
from clustering.rca.explain import NO_MODEL, explain
from clustering.rca.settings import RootCauseSettings
from clustering.rca.store_reading import StoredReading, terms_of
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
"""An issue is explained so long after it became new or worse: its first members say little."""
AGAIN_SECONDS = 3600
"""A run whose report was lost, because the store was away, is not repeated before: it has cost."""
WORSENING = (IssueState.ESCALATING, IssueState.REGRESSED, IssueState.NEW)
"""The states that are explained unasked, the most urgent first."""
STOPPED = Failure(kind=FailureKind.UNAVAILABLE, detail="the judge is stopped")
SPENT = "written by code: the model has made its runs of the day"


class NoSuchIssue(LookupError):
    """No issue has this id."""


class Busy(RuntimeError):
    """Another issue is being explained."""


class JudgeAsker:
    """The judge's model as the agent asks it; its calls are paid from the reserve."""

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
        """The model's next turn; a failure where the judge stops meanwhile."""
        try:
            said = self._judging.with_client(
                lambda client: client.turn(
                    conversation,
                    Purpose.ROOT_CAUSE,
                    patience_seconds=patience_seconds,
                    fits=fits,
                )
            )
        except CancelledError:
            return STOPPED
        return STOPPED if said is None else said


class RootCauseJob:
    """One duty: `run` begins at most one explanation and returns; `explain_now` waits for one."""

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
        """Begins with the most urgent issue that waits, if none is under way. Raises StoreError."""
        if self._thread is not None and self._thread.is_alive():
            return
        now = self._clock()
        last, runs = causes.explained(self._store, int(now - now % DAY) * NANOS)
        worse = self._parts().find(
            issues.IssueFilter(states=tuple(state.value for state in WORSENING))
        )
        due = [
            issue for issue in worse if self._begun.get(issue.issue_id, 0.0) + AGAIN_SECONDS <= now
        ]
        waiting = _waiting(due, last, int(now * NANOS))
        if waiting:
            self._begun[waiting[0].issue_id] = now
            is_spent = runs >= self._settings.runs_per_day
            self._thread = Thread(
                target=self._unasked, args=(waiting[0], is_spent), name="explain", daemon=True
            )
            self._thread.start()

    def explain_now(self, issue_id: str, actor: str = "") -> RootCause:
        """Explains an issue, or what it was merged into, and stores it. Blocks.

        Raises NoSuchIssue, Busy, StoreError.
        """
        issue = self._parts().home(issue_id)
        if issue is None:
            raise NoSuchIssue(issue_id)
        return self._explained(issue, actor, is_spent=False)

    def stop(self) -> None:
        """From now on no report is kept: a run that ends with the daemon is made anew."""
        self._is_stopping.set()

    def wait(self, seconds: float) -> None:
        """Waits for the run under way, at most so long."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _parts(self) -> IssueRedirects:
        wanted = issues.IssueFilter(with_merged=True, limit=MOST_ISSUES)
        return IssueRedirects(issues.find(self._store, wanted, priority=Priority.TICK))

    def _unasked(self, issue: Issue, is_spent: bool) -> None:
        try:
            self._explained(issue, "", is_spent=is_spent)
        except Busy:
            return  # it waits for the next turn
        except StoreError as error:
            log.warning("an issue was not explained", issue=issue.issue_id, reason=str(error))

    def _explained(self, issue: Issue, actor: str, *, is_spent: bool) -> RootCause:
        if not self._running.acquire(blocking=False):
            raise Busy("another issue is being explained; try again in some minutes")
        try:
            asker, reason = self._asker(is_spent)
            ids = self._parts().ids([issue])
            report = explain(
                issue,
                StoredReading(self._store, issue, ids),
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
        asked = self._judging.asked
        if asked is None:
            return None, NO_MODEL
        today = datetime.fromtimestamp(self._clock(), UTC).date()
        return JudgeAsker(self._judging, asked, today), ""

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


def _waiting(found: list[Issue], last: dict[str, int], now_unix_nano: int) -> list[Issue]:
    """Issues that became new or worse after they were explained last, the most urgent first."""
    settled = now_unix_nano - SETTLE_SECONDS * NANOS
    due = [
        issue
        for issue in found
        if issue.state_unix_nano <= settled and last.get(issue.issue_id, -1) < issue.state_unix_nano
    ]
    return sorted(
        due, key=lambda issue: (WORSENING.index(issue.state), -issue.members, issue.issue_id)
    )
