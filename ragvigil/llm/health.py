"""Whether the model answers: what has failed of late, since when, and the way out. Pure.

A question counts as failing from its first failed attempt on, so that a model that times out is
known before its questions give up; one that is answered in the end counts as both. The model
*fails* while most of the newest questions do.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from threading import Lock

from ragvigil.llm import metrics
from ragvigil.llm.advice import WAYS_OUT
from ragvigil.llm.breaker import BreakerState
from ragvigil.llm.outcome import NOT_ASKED, Failure, FailureKind, Setback

RECENT_SECONDS, RECENT = 30.0, 100
"""What is newest: the questions of so many seconds, at most so many; at least the last one."""
FAILS_FROM, WORKS_UNTIL = 0.5, 0.2
"""Share of failing questions at which the model begins to fail, and under which it works again; the
gap keeps a share in between from changing the state at every question."""
SHOWN_SECONDS = 3600.0
"""How long the end of a failure, and a spent budget, are shown."""
MOST_NEWS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """One line for the log; `is_bad` if somebody should do something."""

    event: str
    reason: str
    is_bad: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """A failed attempt, at Unix time `at`."""

    kind: FailureKind
    detail: str
    at: float

    @property
    def text(self) -> str:
        """`wrong_key (HTTP 401 invalid_api_key)`."""
        return f"{self.kind} ({self.detail})" if self.detail else str(self.kind)

    @property
    def advice(self) -> str:
        """The way out."""
        return WAYS_OUT[self.kind]


class Health:
    """What the calls of a client say about its model; written on its loop, read by any thread.

    `clock` returns Unix time.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._lock = Lock()
        self._events: deque[tuple[float, bool]] = deque(maxlen=RECENT)
        self._calls, self._failures = 0, Counter[FailureKind]()
        self._last: Trouble | None = None
        self._named: set[FailureKind] = set()
        self._failing_since: float | None = None
        self._ended: tuple[float, float, str] | None = None
        self._budget_spent_at: float | None = None
        self._breaker = BreakerState.CLOSED
        self._news: deque[News] = deque(maxlen=MOST_NEWS)

    def stumbled(self, setback: Setback, *, is_first: bool) -> None:
        """An attempt failed; `is_first` for the first of a question."""
        with self._lock:
            now = self._clock()
            if setback.kind is FailureKind.BUDGET:
                self._budget_spent_at = now
            if setback.kind in NOT_ASKED:
                return
            self._last = Trouble(kind=setback.kind, detail=setback.detail, at=now)
            if setback.kind not in self._named:
                self._named.add(setback.kind)
                self._tell("a call of the judge's model failed", self._last)
            if is_first:
                self._events.append((now, False))
            self._update(now)

    def answered(self) -> None:
        """A question has its answer."""
        with self._lock:
            now = self._clock()
            self._calls += 1
            self._events.append((now, True))
            self._update(now)

    def failed(self, failure: Failure) -> None:
        """A question has ended without an answer."""
        with self._lock:
            self._calls += 1
            self._failures[failure.kind] += 1

    def breaker_is(self, state: BreakerState, pause_seconds: float) -> None:
        """Notes the breaker's state after a call."""
        with self._lock:
            before, self._breaker = self._breaker, state
            was_closed, is_closed = (
                each is BreakerState.CLOSED for each in (before, self._breaker)
            )
            if was_closed is is_closed:
                return
            # What came before says nothing any more: one probe speaks for the whole API, and an
            # API that gets no calls adds no failures to outweigh earlier answers.
            self._events.clear()
            if is_closed:
                reason = "the probe was answered"
                self._news.append(
                    News(event="the judge's model is asked again", reason=reason, is_bad=False)
                )
            elif self._last is not None:
                event = f"the judge's model gets no calls for {pause_seconds:.0f} s, then a probe"
                self._tell(event, self._last)
                self._events.append((self._clock(), False))
                self._update(self._clock())

    def check(self) -> list[News]:
        """Brings the state up to date, and takes the news since the last call."""
        with self._lock:
            self._update(self._clock())
            news = list(self._news)
            self._news.clear()
            return news

    def lines(self) -> list[str]:
        """For people: that the model fails, or has failed within the hour, and the way out."""
        with self._lock:
            now = self._clock()
            self._update(now)
            if self._failing_since is not None and self._last is not None:
                return [self._failing_line(self._failing_since, self._last)]
            if self._ended is not None and now - self._ended[1] < SHOWN_SECONDS:
                since, until, text = self._ended
                return [
                    f"the judge answers again since {_minute(until)}; for "
                    f"{_lasted(until - since)} it failed: {text}"
                ]
            return []

    def is_budget_spent(self) -> bool:
        """Whether a question of the last hour was not asked for want of budget."""
        with self._lock:
            at = self._budget_spent_at
            return at is not None and self._clock() - at < SHOWN_SECONDS

    def kinds(self) -> list[str]:
        """Each kind of failure with its number since the start, the most frequent first."""
        return [f"{kind} {count}" for kind, count in Counter(dict(self._failures)).most_common()]

    def status(self) -> dict[str, object]:
        """State, counts since the start, and the last error with its way out."""
        with self._lock:
            self._update(self._clock())
            fails = self._failing_since is not None
            last = self._last
            return {
                "state": "fails" if fails else "answers" if self._events else "not asked yet",
                "calls": self._calls,
                "failures": self._failures.total(),
                "failures_by_kind": self.kinds(),
                "last_error": f"{_minute(last.at)} {last.text}" if last else "",
                "way_out": last.advice if last and fails else "",
                "breaker": str(self._breaker),
            }

    def _update(self, now: float) -> None:
        if not self._events:
            return
        recent = [ok for at, ok in self._events if now - at <= RECENT_SECONDS]
        recent = recent or [self._events[-1][1]]
        share = recent.count(False) / len(recent)
        if self._failing_since is None and share >= FAILS_FROM and self._last is not None:
            self._failing_since = self._last.at
            reason = self._failing_line(self._last.at, self._last)
            self._news.append(News(event="the judge fails", reason=reason, is_bad=True))
        elif self._failing_since is not None and share <= WORKS_UNTIL:
            text = self._last.text if self._last else ""
            self._ended = (self._failing_since, now, text)
            self._failing_since = None
            self._named.clear()
            reason = f"it failed for {_lasted(now - self._ended[0])}: {text}"
            self._news.append(News(event="the judge answers again", reason=reason, is_bad=False))
        metrics.FAILING.set(self._failing_since is not None)

    def _failing_line(self, since: float, last: Trouble) -> str:
        recent = [ok for _, ok in self._events]
        return (
            f"the judge fails since {_minute(since)}: {recent.count(False)} of its last "
            f"{len(recent)} questions, {last.text}; {last.advice}"
        )

    def _tell(self, event: str, trouble: Trouble) -> None:
        reason = f"{trouble.text}; {trouble.advice}"
        self._news.append(News(event=event, reason=reason, is_bad=True))


def _minute(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%a %H:%M} UTC"


def _lasted(seconds: float) -> str:
    """How long, in words.

    >>> _lasted(50), _lasted(3700)
    ('50 s', '62 min')
    """
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
