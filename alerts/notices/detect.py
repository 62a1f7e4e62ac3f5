"""Change notices of one route: compares the setup that requests show with that of the past."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from alerts.notices.corpus import NOTHING, Results, RetrievalDiff, is_return
from alerts.notices.fingerprint import VALUES, Fingerprint, Place
from alerts.notices.kinds import (
    FEWEST_AGAIN,
    RETRIEVAL,
    STEADY,
    WHOLE,
    Naming,
    is_only_more_or_fewer,
    is_same_for_all,
    is_thinned,
    named_kinds,
    new_share,
    of_content,
)
from alerts.notices.known import Known
from alerts.notices.rare import LONG_WINDOW, Mark
from alerts.notices.retrieval_past import CORPUS, RetrievalPast
from alerts.notices.settings import NoticeSettings
from alerts.notices.sight import Sight
from alerts.notices.template import Template
from alerts.notices.values import Swap, Value
from alerts.notices.way_back import WayBack
from alerts.notices.words import AS_USUAL, swap_of, versions_swap
from ragvigil.model.identity import identity
from ragvigil.model.notice import AS_BEFORE, COUNTS, ChangeKind, Notice

NAMED_AFTER = 12
"""Requests since its beginning after which a change is named; until then more may change."""
CERTAIN_FOR = 1
"""Requests after it was certain that must also have passed: what changed with it shows a little
later."""
LATE_NANOS = 600 * 10**9
"""Requests older than the newest of their route by more than this are left out."""
TEMPLATE = "template"
SCORES = frozenset({"top_score", "mean_score"})
LENGTH = "chunk_characters"
CONTENT = frozenset({CORPUS, LENGTH, ChangeKind.INDEX} | SCORES | COUNTS)
WAITED = 50
"""Requests since its beginning that an unsure change of content is waited for, within the 60 that
are compared."""
NOTHING_KNOWN: Known = {}
FEWEST_SAME = 5
"""Repeated questions without a change, from which an index is the same whatever its version."""
ON_CONTENT = frozenset(
    {
        ChangeKind.RECHUNKED,
        ChangeKind.REEMBEDDED,
        ChangeKind.OTHER_CHUNKS,
        ChangeKind.OTHER_ORDER,
        ChangeKind.RERANKED,
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

    def __init__(
        self, place: Place, settings: NoticeSettings, known: Known = NOTHING_KNOWN
    ) -> None:
        """`known` are the values of earlier days, as stored counts tell them."""
        self.place = place
        self._warm_up = settings.warm_up_requests
        # A route whose values were usual on earlier days is no new one, however few it gets a day.
        self._first_sure = 0 if any(known.values()) else self._warm_up
        self._values = {kind: Value(known.get(kind)) for kind in VALUES}
        self._template = Template(
            {tuple(map(int, text.split())): at for text, at in known.get(TEMPLATE, {}).items()}
        )
        self.sight = Sight()
        self._content_notice: Notice | None = None
        self._former: Results = {}
        self._way_back: WayBack | None = None
        # By whether texts are sent: chunks named by their text and by their id have no past in
        # common, and a text that is not sent any more is no new chunk.
        self._pasts = {by_text: RetrievalPast(self._warm_up // 2) for by_text in (True, False)}
        self._past = self._pasts[True]
        self._changes: dict[str, Mark] = {}
        # Changes of the warm-up are no notices; what lasts beyond it began when it did.
        self._early: dict[str, Mark] = {}
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
        if not self.learn(request):
            return ()
        if self._way_back is not None and (since := self._way_back.since) is not None:
            return self._over(self._way_back.change, since)
        if not self._changes:
            return ()
        number = self._newest.number
        if number - self._since.number + 1 < NAMED_AFTER or number < self._certain + CERTAIN_FOR:
            return ()
        return self._named(is_last=number - self._since.number >= WAITED)

    def learn(self, request: Fingerprint) -> bool:
        """Takes a request without making notices; returns False if it is too late to count."""
        if request.time_unix_nano < self._newest.time_unix_nano - LATE_NANOS:
            self.late += 1
            return False
        # A route's time never runs back: a slightly late request counts at the newest time.
        time = max(request.time_unix_nano, self._newest.time_unix_nano)
        self._newest = Mark(number=self._newest.number + 1, time_unix_nano=time)
        self._past = self._pasts[request.by_text]
        self.sight.push(request.lacks, request.scopes, self._newest)
        changes = dict(self._push(request))
        if self._way_back is not None:
            for diff in self._past.diffs(self._newest):
                self._way_back.push(diff)
        if self._newest.number <= self._first_sure:
            self._early = changes | self._early
        else:
            if changes and not self._changes:
                self._certain = self._newest.number
            self._changes = {n: self._early.get(n, at) for n, at in changes.items()} | self._changes
        oldest = self._newest.number - LONG_WINDOW
        # What came longer ago has been learned as usual: a change that was never named is void.
        self._changes = {name: at for name, at in self._changes.items() if at.number > oldest}
        self._early = {name: at for name, at in self._early.items() if at.number > oldest}
        return True

    def accept(self, notice: Notice) -> None:
        """Takes over a notice made after the newest request, so that it is not made again."""
        number = max(self._newest.number - notice.requests + 1, 1)
        since = Mark(number=number, time_unix_nano=notice.since_unix_nano)
        named = CORPUS if notice.kind in ON_CONTENT else notice.kind
        self._changes |= dict.fromkeys({named} | (set(VALUES) & notice.evidence.keys()), since)
        self._begin_anew(since, (notice,))
        self._follow((notice,))

    def settle(self) -> tuple[Notice, ...]:
        """Makes the notices of what has changed, without waiting for what else changes."""
        return self._named(is_last=True) if self._changes else ()

    @property
    def _since(self) -> Mark:
        return min(self._changes.values())

    def _push(self, request: Fingerprint) -> Iterator[tuple[str, Mark]]:
        at = self._newest
        for kind, value in zip(VALUES, request.values, strict=True):
            if (first := self._values[kind].push(value, at)) is not None:
                yield kind, first
        if (first := self._template.push(request.template, at)) is not None:
            yield TEMPLATE, first
        yield from self._past.push(request, at)

    def _named(self, *, is_last: bool) -> tuple[Notice, ...]:
        """Names what has changed; nothing yet if more requests may tell and this is not the last.

        What only other topics explain gets no notice.
        """
        since = self._since
        diffs = self._past.diffs(since)
        content = self._content(diffs, since)
        if not content.is_sure and not is_last:
            return ()
        self._add_what_came_along(since)
        values = {kind for kind in VALUES if kind in self._changes}
        if TEMPLATE in self._changes:
            values.add(ChangeKind.PROMPT)
        hollow = self._hollow(values, content.kind, diffs, since)
        kinds = named_kinds(
            (values - hollow) | ({ChangeKind.RELEASE} if hollow else set()),
            content.kind,
            counts=self._is_count_changed(diffs, since),
            whole=new_share(diffs) >= WHOLE,
        )
        notices = tuple(self._notice(kind, since, diffs, hollow) for kind in kinds)
        if content.kind in kinds and (undone := self._undone(diffs)) is not None:
            back = next(notice for notice in notices if notice.kind is content.kind)
            others = tuple(notice for notice in notices if notice is not back)
            notices = (*others, self._putting_back(back, undone))
        if kinds:
            self._begin_anew(since, notices)
            self._follow(notices)
        else:
            self._past.accept(since)
            self._changes = {}
        return notices

    def _follow(self, notices: Collection[Notice]) -> None:
        """Remembers the change of content among these, to tell when it is undone."""
        for notice in notices:
            if notice.kind in ON_CONTENT:
                self._content_notice = notice
                self._way_back = WayBack(notice, self._former) if notice.share < 1 else None

    def _over(self, change: Notice, since: Mark) -> tuple[Notice, ...]:
        """The notice that a change which a share of the requests showed is over."""
        self._way_back = None
        # Other dimensions that are changing now are named by themselves.
        pending = {name: at for name, at in self._changes.items() if name not in CONTENT}
        self._changes = {CORPUS: since}
        back = self._notice(change.kind, since, self._past.diffs(since), ())
        self._begin_anew(since, (back,))
        self._changes = pending
        self._content_notice = None
        return (self._putting_back(back, change),)

    def _undone(self, diffs: Sequence[RetrievalDiff]) -> Notice | None:
        """The last change of content, if questions find again what they found before it."""
        known = [diff for diff in diffs if diff.question in self._former]
        again = [diff for diff in known
                 if self._former[diff.question] == (diff.chunks, diff.shown)]  # fmt: skip
        is_undone = len(known) >= FEWEST_AGAIN and len(again) >= WHOLE * len(known)
        return self._content_notice if is_undone else None

    def _putting_back(self, back: Notice, undone: Notice) -> Notice:
        """The notice in the words of the change that it undoes."""
        evidence = {
            **back.evidence,
            "new_documents": undone.evidence.get("gone_documents", []),
            "gone_documents": undone.evidence.get("new_documents", []),
        }
        return replace(
            back,
            notice_id=identity(*self.place, undone.kind, back.since_unix_nano, size=12),
            kind=undone.kind,
            share=1.0,
            before=undone.after,
            after=undone.before or AS_USUAL,
            evidence=evidence,
        )

    def _add_what_came_along(self, since: Mark) -> None:
        """Adds what is not certain by itself, but changes together with something that is."""
        for kind in VALUES:
            if self._values[kind].is_changing(since):
                self._changes.setdefault(kind, since)
        if self._template.is_changing(since):
            self._changes.setdefault(TEMPLATE, since)

    def _hollow(
        self,
        values: Collection[ChangeKind],
        content: ChangeKind | None,
        diffs: Sequence[RetrievalDiff],
        since: Mark,
    ) -> set[ChangeKind]:
        """The stated versions that changed though what they are versions of did not."""
        hollow = set()
        of_version = self._values[ChangeKind.PROMPT].new_marks(since)
        if TEMPLATE not in self._changes and self._template.is_same(since, of_version):
            hollow.add(ChangeKind.PROMPT)
        again = [diff for diff in diffs if diff.previous]
        is_same = len(again) >= FEWEST_SAME and not any(diff.is_changed for diff in again)
        if content is None and is_same:
            hollow.add(ChangeKind.INDEX)
        return hollow & set(values)

    def _is_count_changed(self, diffs: Sequence[RetrievalDiff], since: Mark) -> bool:
        """Whether there are more or fewer chunks, and not because other things are asked."""
        moved = COUNTS & self._changes.keys()
        again = [diff for diff in diffs if diff.previous is not None]
        if len(again) >= FEWEST_AGAIN:
            return bool(moved) and sum(diff.is_count_changed for diff in again) >= 0.2 * len(again)
        return any(self._past.is_beyond(name, since) for name in moved)

    def _content(self, diffs: Sequence[RetrievalDiff], since: Mark) -> Naming:
        """The kind of change of what is retrieved; None if more or fewer chunks explain it."""
        changed = self._changes.keys()
        if not CONTENT & changed:
            return Naming()
        counts = COUNTS & changed or ChangeKind.TOP_K in changed
        if counts and is_only_more_or_fewer(diffs):
            return Naming()
        naming = of_content(diffs, self._past.corpus.usual_new_documents)
        again = sum(bool(diff.previous) for diff in diffs)
        if naming.kind is not None or again >= FEWEST_AGAIN:
            return naming
        # Nobody asked again: other topics have other numbers, too, but none beyond all before.
        if LENGTH in changed and self._past.is_beyond(LENGTH, since):
            named = any(chunk.document for diff in diffs for chunk in diff.chunks)
            return Naming(kind=ChangeKind.RECHUNKED if named else ChangeKind.REINDEXED)
        is_rescored = any(self._past.is_beyond(name, since) for name in SCORES & changed)
        return Naming(kind=ChangeKind.REEMBEDDED if is_rescored else None)

    def _notice(
        self,
        kind: ChangeKind,
        since: Mark,
        diffs: Sequence[RetrievalDiff],
        hollow: Collection[ChangeKind],
    ) -> Notice:
        swap, evidence = self._swap(kind, since, diffs, hollow)
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
            # What reads the same before and after is no change in these words.
            before=swap.before if swap.before != swap.after else "",
            after=swap.after,
            evidence=evidence,
        )

    def _swap(
        self,
        kind: ChangeKind,
        since: Mark,
        diffs: Sequence[RetrievalDiff],
        hollow: Collection[ChangeKind],
    ) -> tuple[Swap, Mapping[str, object]]:
        medians = self._past.medians(since)
        counted = COUNTS if kind is ChangeKind.TOP_K else frozenset()
        evidence: dict[str, object] = {
            name: [before, after]
            for name, (before, after) in medians.items()
            if before != after
            # The counts of a stated top-k tell its end where only the counts show that.
            and (name in self._changes or kind in ON_CONTENT or name in counted)
        }
        also = {name: self._values[name].swap(since) for name in VALUES
                if name in self._changes and name != kind}  # fmt: skip
        evidence |= {str(name): [swap.before, swap.after] for name, swap in also.items()}
        if kind in ON_CONTENT:
            swap, more = swap_of(kind, diffs, medians)
            return swap, evidence | more | {AS_BEFORE: is_return(diffs, self._former)}
        if kind is ChangeKind.PROMPT and TEMPLATE in self._changes:
            return self._prompt_swap(since, evidence)
        if kind is ChangeKind.RELEASE and kind not in self._changes:
            versions = sorted(hollow)
            return versions_swap({name: also[name] for name in versions}), evidence
        return self._values[kind].swap(since), evidence

    def _prompt_swap(
        self, since: Mark, evidence: Mapping[str, object]
    ) -> tuple[Swap, Mapping[str, object]]:
        """By its stated version where that changed too, else by its text."""
        text = self._template.swap(since)
        came, went = self._template.sentences(since)
        more = {"prompt_text": [text.before, text.after], "sentences": {"new": came, "gone": went}}
        is_stated = ChangeKind.PROMPT in self._changes
        swap = self._values[ChangeKind.PROMPT].swap(since) if is_stated else text
        return swap, {**evidence, **more}

    def _begin_anew(self, since: Mark, notices: Collection[Notice]) -> None:
        """Makes the requests since the change the past of everything that it may have changed."""
        changed = self._changes.keys()
        on_retrieval = not changed <= (set(VALUES) | {TEMPLATE}) - RETRIEVAL
        renewed = changed | (RETRIEVAL if on_retrieval else frozenset())
        # A release may bring another version of the same prompt, whose change has no notice then.
        renewed |= {ChangeKind.PROMPT} if ChangeKind.RELEASE in changed else frozenset()
        for kind in set(VALUES) & renewed:
            self._values[kind] = self._values[kind].renewed(since)
        if changed & {TEMPLATE, ChangeKind.PROMPT}:
            self._template = self._template.renewed(since)
        if on_retrieval:
            self._former = self._past.corpus.results()
            self._past.begin_anew(since, self._left_by(notices, since))
            for by_text, past in self._pasts.items():
                if past is not self._past:
                    self._pasts[by_text] = RetrievalPast(self._warm_up // 2)
        self._changes, self._early = {}, {}

    def _left_by(self, notices: Collection[Notice], since: Mark) -> Results:
        """What questions are to find after a change, as far as it tells of those not asked since.

        Where all find the same, each will. Where documents are gone, what did not go stays.
        """
        kinds = {notice.kind for notice in notices}
        again = [diff for diff in self._past.diffs(since) if diff.previous]
        changed = [diff for diff in again if diff.is_changed]
        is_whole = len(changed) >= STEADY * len(again)
        if ChangeKind.OTHER_CHUNKS in kinds and is_whole and is_same_for_all(changed):
            newest = changed[-1]
            return dict.fromkeys(self._former, (newest.chunks, newest.shown))
        return self._former if ChangeKind.DOCUMENTS in kinds and is_thinned(again) else NOTHING
