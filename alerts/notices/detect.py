"""Change notices of one route: compares the setup that requests show with that of the past."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping

from alerts.notices.corpus import Corpus, RetrievalDiff
from alerts.notices.fingerprint import NUMBERS, VALUES, Fingerprint, Place
from alerts.notices.kinds import (
    RETRIEVAL,
    WHOLE,
    is_only_more_or_fewer,
    named_kinds,
    new_share,
    of_content,
)
from alerts.notices.numbers import Number
from alerts.notices.rare import LONG_WINDOW, Mark
from alerts.notices.settings import NoticeSettings
from alerts.notices.values import Swap, Value
from alerts.notices.words import swap_of
from ragvigil.model.identity import identity
from ragvigil.model.notice import ChangeKind, Notice

NAMED_AFTER = 12
"""Requests since its beginning after which a change is named; until then more may change."""
CERTAIN_FOR = 2
"""Requests after it was certain that must also have passed: its beginning may be off by a few."""
LATE_NANOS = 600 * 10**9
"""Requests older than the newest of their route by more than this are left out."""
CORPUS = "corpus"
COUNTS = frozenset({"retrieved", "in_prompt"})
SCORES = frozenset({"top_score", "mean_score"})
LENGTH = "chunk_characters"
CONTENT = frozenset({CORPUS, LENGTH, ChangeKind.INDEX} | SCORES)
NEWEST_QUESTIONS = 15
MOST_OF_ONE = 3
"""A question asked more often than this among the newest 15 counts for no number."""
ON_CONTENT = frozenset(
    {
        ChangeKind.RECHUNKED,
        ChangeKind.REEMBEDDED,
        ChangeKind.DOCUMENTS,
        ChangeKind.REINDEXED,
        ChangeKind.CHUNK_COUNT,
    }
)


class RouteNotices:
    """The state of one route; requests come in order of their time.

    Each dimension is tested by itself. The first that changed opens a change. Twelve requests after
    its beginning all that changed by then becomes one notice, or one for each kind that does not
    explain another. Then the past of what changed begins anew: going back is a change too.
    """

    def __init__(self, place: Place, settings: NoticeSettings) -> None:
        self.place = place
        self._warm_up = settings.warm_up_requests
        self._values = {kind: Value() for kind in VALUES}
        self._numbers = {name: Number() for name in NUMBERS}
        self._corpus = Corpus(self._warm_up // 2)
        self._questions: deque[int] = deque(maxlen=NEWEST_QUESTIONS)
        self._changes: dict[str, Mark] = {}
        self._certain = 0
        self._newest = Mark(number=0, time_unix_nano=0)
        self.late = 0
        """Requests that came more than 10 minutes after a newer one; they are left out."""

    @property
    def is_changing(self) -> bool:
        """Whether something has changed that has no notice yet."""
        return bool(self._changes)

    def step(self, request: Fingerprint) -> tuple[Notice, ...]:
        """Takes a request; returns the notices that it makes certain, mostly none."""
        if not self.learn(request) or not self._changes:
            return ()
        number = self._newest.number
        if number - self._since.number + 1 < NAMED_AFTER or number < self._certain + CERTAIN_FOR:
            return ()
        return self.settle()

    def learn(self, request: Fingerprint) -> bool:
        """Takes a request without making notices; returns False if it is too late to count."""
        if request.time_unix_nano < self._newest.time_unix_nano - LATE_NANOS:
            self.late += 1
            return False
        # A route's time never runs back: a slightly late request counts at the newest time.
        time = max(request.time_unix_nano, self._newest.time_unix_nano)
        self._newest = Mark(number=self._newest.number + 1, time_unix_nano=time)
        changes = {name: first for name, first in self._push(request) if first is not None}
        if self._newest.number > self._warm_up:
            if changes and not self._changes:
                self._certain = self._newest.number
            for name, first in changes.items():
                self._changes.setdefault(name, first)
        oldest = self._newest.number - LONG_WINDOW
        # What came longer ago has been learned as usual: a change that was never named is void.
        self._changes = {name: at for name, at in self._changes.items() if at.number > oldest}
        return True

    def accept(self, notice: Notice) -> None:
        """Takes over a notice made after the newest request, so that it is not made again."""
        number = max(self._newest.number - notice.requests + 1, 1)
        since = Mark(number=number, time_unix_nano=notice.since_unix_nano)
        self._changes[CORPUS if notice.kind in ON_CONTENT else notice.kind] = since
        self._begin_anew(since)

    def settle(self) -> tuple[Notice, ...]:
        """Makes the notices of what has changed, without waiting for what else changes."""
        if not self._changes:
            return ()
        since, diffs = self._since, self._corpus.since(self._since)
        for kind in VALUES:
            # Not certain by itself, but it changes together with something that is.
            if self._values[kind].is_changing(since):
                self._changes.setdefault(kind, since)
        content = self._content(diffs)
        whole = new_share(diffs) >= WHOLE
        values = [kind for kind in VALUES if kind in self._changes]
        counts = bool(COUNTS & self._changes.keys())
        kinds = named_kinds(values, content, counts=counts, whole=whole)
        notices = tuple(self._notice(kind, since, diffs) for kind in kinds)
        self._begin_anew(since)
        return notices

    @property
    def _since(self) -> Mark:
        return min(self._changes.values())

    def _push(self, request: Fingerprint) -> Iterator[tuple[str, Mark | None]]:
        at = self._newest
        for kind, value in zip(VALUES, request.values, strict=True):
            yield kind, self._values[kind].push(value, at)
        yield CORPUS, self._corpus.push(request, at)
        if not request.question or self._questions.count(request.question) < MOST_OF_ONE:
            for name, number in zip(NUMBERS, request.numbers, strict=True):
                yield name, self._numbers[name].push(number, at)
        self._questions.append(request.question)

    def _content(self, diffs: list[RetrievalDiff]) -> ChangeKind | None:
        """The kind of change of what is retrieved; None if more or fewer chunks explain it."""
        changed = self._changes.keys()
        if not CONTENT & changed:
            return None
        counts = COUNTS & changed or ChangeKind.TOP_K in changed
        if counts and is_only_more_or_fewer(diffs):
            return None
        certain = CORPUS in changed
        kind = of_content(diffs, self._corpus.usual_new_documents, certain=certain)
        if kind is not None or (not certain and not (SCORES | {LENGTH}) & changed):
            return kind
        if LENGTH in changed:
            named = any(chunk.document for diff in diffs for chunk in diff.chunks)
            return ChangeKind.RECHUNKED if named else ChangeKind.REINDEXED
        return None if counts and not certain else ChangeKind.REEMBEDDED

    def _notice(self, kind: ChangeKind, since: Mark, diffs: list[RetrievalDiff]) -> Notice:
        swap, evidence = self._swap(kind, since, diffs)
        service, environment, route = self.place
        return Notice(
            notice_id=identity(*self.place, kind, since.time_unix_nano, size=12),
            kind=kind,
            service=service,
            environment=environment,
            route=route,
            since_unix_nano=since.time_unix_nano,
            noticed_unix_nano=self._newest.time_unix_nano,
            requests=self._newest.number - since.number + 1,
            share=swap.share,
            before=swap.before,
            after=swap.after,
            evidence=evidence,
        )

    def _swap(
        self, kind: ChangeKind, since: Mark, diffs: list[RetrievalDiff]
    ) -> tuple[Swap, Mapping[str, object]]:
        medians = {
            name: (number.before(), number.since(since)) for name, number in self._numbers.items()
        }
        evidence: dict[str, object] = {
            name: [before, after]
            for name, (before, after) in medians.items()
            if name in self._changes or kind in ON_CONTENT
        }
        also = {name: self._values[name].swap(since) for name in VALUES
                if name in self._changes and name != kind}  # fmt: skip
        evidence |= {str(name): [swap.before, swap.after] for name, swap in also.items()}
        if kind in ON_CONTENT:
            swap, more = swap_of(kind, diffs, medians)
            return swap, evidence | more
        return self._values[kind].swap(since), evidence

    def _begin_anew(self, since: Mark) -> None:
        """Makes the requests since the change the past of everything that it may have changed."""
        changed = self._changes.keys()
        on_retrieval = not changed <= set(VALUES) - RETRIEVAL
        for kind in VALUES:
            if kind in changed or (on_retrieval and kind in RETRIEVAL):
                self._values[kind] = self._values[kind].renewed(since)
        if on_retrieval:
            self._corpus = self._corpus.renewed(since)
            self._numbers = {name: number.renewed(since) for name, number in self._numbers.items()}
        self._changes = {}
