"""Change notices of one route: what its requests show of the setup, against what they showed."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping

from alerts.notices.corpus import Corpus, Look
from alerts.notices.fingerprint import NUMBERS, VALUES, Fingerprint, Place
from alerts.notices.kinds import (
    RETRIEVAL,
    WHOLE,
    explained,
    is_only_more_or_fewer,
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
"""Requests since the change at which it is named: until then it shows what else it moves."""
CERTAIN_FOR = 2
"""And so many requests after it was certain: its beginning may be off by a few."""
LATE_NANOS = 600 * 10**9
CORPUS = "corpus"
COUNTS = frozenset({"retrieved", "in_prompt"})
SCORES = frozenset({"top_score", "mean_score"})
LENGTH = "chunk_characters"
CONTENT = frozenset({CORPUS, LENGTH, ChangeKind.INDEX} | SCORES)
NEWEST_QUESTIONS = 15
MOST_OF_ONE = 3
"""A question that is asked more often than this among the newest 15 moves no number."""
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

    Each dimension says for itself whether it changed. The first that does opens a change, and 12
    requests after its beginning all that moved by then is one notice, or one for each thing that
    does not explain another. Then the past of what moved begins anew: going back is a change too.
    """

    def __init__(self, place: Place, settings: NoticeSettings) -> None:
        self.place = place
        self._warm_up = settings.warm_up_requests
        self._values = {kind: Value() for kind in VALUES}
        self._numbers = {name: Number() for name in NUMBERS}
        self._corpus = Corpus(self._warm_up // 2)
        self._questions: deque[int] = deque(maxlen=NEWEST_QUESTIONS)
        self._moved: dict[str, Mark] = {}
        self._certain = 0
        self._newest = Mark(number=0, time_unix_nano=0)
        self.late = 0
        """Requests that came more than 10 minutes after a newer one; they are left out."""

    @property
    def is_changing(self) -> bool:
        """Whether something has changed that is not named yet."""
        return bool(self._moved)

    def step(self, one: Fingerprint) -> tuple[Notice, ...]:
        """Takes a request; the notices that it makes certain, mostly none."""
        if not self.learn(one) or not self._moved:
            return ()
        number = self._newest.number
        if number - self._since.number + 1 < NAMED_AFTER or number < self._certain + CERTAIN_FOR:
            return ()
        return self.settle()

    def learn(self, one: Fingerprint) -> bool:
        """Takes a request and names nothing; False where it is too late to count."""
        if one.time_unix_nano < self._newest.time_unix_nano - LATE_NANOS:
            self.late += 1
            return False
        time = max(one.time_unix_nano, self._newest.time_unix_nano)
        self._newest = Mark(number=self._newest.number + 1, time_unix_nano=time)
        found = {name: first for name, first in self._push(one) if first is not None}
        if self._newest.number > self._warm_up:
            if found and not self._moved:
                self._certain = self._newest.number
            for name, first in found.items():
                self._moved.setdefault(name, first)
        oldest = self._newest.number - LONG_WINDOW
        self._moved = {name: at for name, at in self._moved.items() if at.number > oldest}
        return True

    def accept(self, notice: Notice) -> None:
        """Takes a notice that was made when the newest request had come: it is not made again."""
        number = max(self._newest.number - notice.requests + 1, 1)
        since = Mark(number=number, time_unix_nano=notice.since_unix_nano)
        self._moved[CORPUS if notice.kind in ON_CONTENT else notice.kind] = since
        self._begin_anew(since)

    def settle(self) -> tuple[Notice, ...]:
        """Names what has changed, without waiting for what else it moves."""
        if not self._moved:
            return ()
        since, looks = self._since, self._corpus.since(self._since)
        for kind in VALUES:
            if self._values[kind].is_changing(since):
                self._moved.setdefault(kind, since)
        content = self._content(looks)
        whole = new_share(looks) >= WHOLE
        values = [kind for kind in VALUES if kind in self._moved]
        counts = bool(COUNTS & self._moved.keys())
        kinds = explained(values, content, counts=counts, whole=whole)
        notices = tuple(self._notice(kind, since, looks) for kind in kinds)
        self._begin_anew(since)
        return notices

    @property
    def _since(self) -> Mark:
        return min(self._moved.values())

    def _push(self, one: Fingerprint) -> Iterator[tuple[str, Mark | None]]:
        at = self._newest
        for kind, value in zip(VALUES, one.values, strict=True):
            yield kind, self._values[kind].push(value, at)
        yield CORPUS, self._corpus.push(one, at)
        if not one.question or self._questions.count(one.question) < MOST_OF_ONE:
            for name, number in zip(NUMBERS, one.numbers, strict=True):
                yield name, self._numbers[name].push(number, at)
        self._questions.append(one.question)

    def _content(self, looks: list[Look]) -> ChangeKind | None:
        """What became of what is retrieved, None where nothing did that more chunks explain."""
        moved = self._moved.keys()
        if not CONTENT & moved:
            return None
        counts = COUNTS & moved or ChangeKind.TOP_K in moved
        if counts and is_only_more_or_fewer(looks):
            return None
        certain = CORPUS in moved
        kind = of_content(looks, self._corpus.usual_new_documents, certain=certain)
        if kind is not None or (not certain and not (SCORES | {LENGTH}) & moved):
            return kind
        if LENGTH in moved:
            named = any(chunk.document for look in looks for chunk in look.chunks)
            return ChangeKind.RECHUNKED if named else ChangeKind.REINDEXED
        return None if counts and not certain else ChangeKind.REEMBEDDED

    def _notice(self, kind: ChangeKind, since: Mark, looks: list[Look]) -> Notice:
        swap, evidence = self._swap(kind, since, looks)
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
        self, kind: ChangeKind, since: Mark, looks: list[Look]
    ) -> tuple[Swap, Mapping[str, object]]:
        medians = {
            name: (number.before(), number.since(since)) for name, number in self._numbers.items()
        }
        evidence: dict[str, object] = {
            name: [before, after]
            for name, (before, after) in medians.items()
            if name in self._moved or kind in ON_CONTENT
        }
        also = {name: self._values[name].swap(since) for name in VALUES
                if name in self._moved and name != kind}  # fmt: skip
        evidence |= {str(name): [swap.before, swap.after] for name, swap in also.items()}
        if kind in ON_CONTENT:
            swap, more = swap_of(kind, looks, medians)
            return swap, evidence | more
        return self._values[kind].swap(since), evidence

    def _begin_anew(self, since: Mark) -> None:
        """What came since the change is the past of everything that it may have moved."""
        moved = self._moved.keys()
        on_retrieval = not moved <= set(VALUES) - RETRIEVAL
        for kind in VALUES:
            if kind in moved or (on_retrieval and kind in RETRIEVAL):
                self._values[kind] = self._values[kind].renewed(since)
        if on_retrieval:
            self._corpus = self._corpus.renewed(since)
            self._numbers = {name: one.renewed(since) for name, one in self._numbers.items()}
        self._moved = {}
