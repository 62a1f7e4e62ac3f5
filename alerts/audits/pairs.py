"""The pairs of an audit: a record from after a change and a like one from before, both judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from alerts.audits.anchors import TOGETHER
from alerts.audits.matching import comparable, least_alike, likeness, match
from ragvigil.model.audit import Audit, Pair, Side, Verdict
from ragvigil.model.record import RagRecord
from ragvigil.model.score import Layer, Score
from ragvigil.store.engine.priority import Priority
from ragvigil.store.scores import judged
from ragvigil.store.watch import audits, notices
from ragvigil.store.watch.audits import Candidate, Place

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

Ask: TypeAlias = Callable[[Sequence[RagRecord], Sequence[str]], list[tuple[Score, ...]] | None]
"""Judges each record anew by these rubrics; None while there is no judge. Blocks."""
SETTLED_SECONDS = 30.0
"""A record younger than this may still get late spans."""
HOUR, DAY = 3600.0, 86_400.0
DAYS = 7
HOUR_BEFORE, SAME_HOURS = 600, 250
"""Most records to choose from: of the hour before, and of two hours of each earlier day."""
MOST_AFTER = 1000
NOT_ASKED, GONE = "not_asked", "gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """Records from before a change to choose from; `least` is their `least_alike`."""

    candidates: tuple[Candidate, ...]
    least: float

    @property
    def questions(self) -> list[str]:
        """The questions of the candidates."""
        return [candidate.query for candidate in self.candidates]


def before_of(store: Store, audit: Audit, floor: float) -> Before:
    """Reads candidates from before the change and after `floor` (seconds since the epoch)."""
    anchor = audit.anchor_unix_nano / 1e9
    spans = [(anchor - HOUR, anchor, HOUR_BEFORE)]
    spans += [
        (anchor - day * DAY, anchor - day * DAY + 2 * HOUR, SAME_HOURS)
        for day in range(1, DAYS + 1)
    ]
    candidates = [
        candidate
        for since, until, limit in spans
        if until > floor
        for candidate in audits.candidates(
            store,
            Place(
                service=audit.service,
                environment=audit.environment,
                since=max(since, floor),
                until=until,
                routes=audit.routes,
                since_unix_nano=(int(max(since, floor) * 1e9),) * len(audit.routes),
                limit=limit,
            ),
        )
    ]
    least = least_alike([candidate.query for candidate in candidates])
    return Before(candidates=tuple(candidates), least=least)


def last_changes(store: Store, audit: Audit) -> list[float]:
    """The changes of an audit's routes in the days before its own, in seconds since the epoch."""
    anchor = audit.anchor_unix_nano
    return [
        change.since_unix_nano / 1e9
        for change in notices.find(
            store,
            service=audit.service,
            since=int(anchor / 1e9 - DAYS * DAY),
            priority=Priority.TICK,
        )
        if change.environment == audit.environment
        and (not audit.routes or not change.route or change.route in audit.routes)
        and anchor - change.since_unix_nano > TOGETHER
    ]


def after_of(store: Store, audit: Audit, now: float) -> list[Candidate]:
    """Reads candidates from after the change, each route from its own time on."""
    times = audit.since_unix_nano or (audit.anchor_unix_nano,)
    return audits.candidates(
        store,
        Place(
            service=audit.service,
            environment=audit.environment,
            since=min(times) / 1e9,
            until=now - SETTLED_SECONDS,
            routes=audit.routes,
            since_unix_nano=audit.since_unix_nano,
            limit=MOST_AFTER,
        ),
    )


def next_pairs(
    after: Sequence[Candidate], pairs: Sequence[Pair], before: Before, room: int
) -> list[Pair]:
    """Makes at most `room` new pairs, not judged yet; each record is used once in an audit."""
    if not after or not before.candidates:
        return []
    alike = likeness([candidate.query for candidate in after], before.questions)
    is_known = comparable(alike, before.least)
    used = {(side.trace_id, side.record_id) for pair in pairs for side in (pair.before, pair.after)}
    fresh = [
        place
        for place, candidate in enumerate(after)
        if is_known[place] and _key(candidate) not in used
    ]
    fresh = fresh[: max(0, room)]
    free = [
        place for place, candidate in enumerate(before.candidates) if _key(candidate) not in used
    ]
    matches = match(
        alike[fresh][:, free],
        [after[place].route for place in fresh],
        [before.candidates[place].route for place in free],
    )
    number = max((pair.number for pair in pairs), default=-1) + 1
    return [
        Pair(
            number=number + place,
            before=_side(before.candidates[free[matched.before]]),
            after=_side(after[fresh[matched.after]]),
            likeness=round(matched.likeness, 3),
        )
        for place, matched in enumerate(matches)
    ]


def judge(
    store: Store, ask: Ask, pairs: Sequence[Pair], rubrics: Sequence[str]
) -> tuple[Pair, ...] | None:
    """Adds these rubrics' verdicts to the pairs; returns None while there is no judge."""
    sides = [side for pair in pairs for side in (pair.before, pair.after)]
    stored = judged.read(store, [_key(side) for side in sides])
    # A record may be gone from the store since it was chosen; its side gets the label GONE.
    here = [side for side in sides if _key(side) in stored]
    judgements = ask([stored[_key(side)].record for side in here], rubrics)
    if judgements is None:
        return None
    scores = {_key(side): judgement for side, judgement in zip(here, judgements, strict=True)}
    return tuple(
        replace(
            pair,
            before=_with_verdicts(pair.before, scores.get(_key(pair.before)), rubrics),
            after=_with_verdicts(pair.after, scores.get(_key(pair.after)), rubrics),
        )
        for pair in pairs
    )


def _with_verdicts(side: Side, scores: Sequence[Score] | None, rubrics: Sequence[str]) -> Side:
    """Adds verdicts to a side; a rubric without a score gets a verdict without a value."""
    by_rubric = {score.rubric: score for score in scores or ()}
    fresh = tuple(
        Verdict(
            rubric=rubric,
            layer=by_rubric[rubric].layer,
            value=by_rubric[rubric].value,
            label=by_rubric[rubric].label,
            scorer=by_rubric[rubric].scorer,
            version=by_rubric[rubric].version,
        )
        if rubric in by_rubric
        else Verdict(
            rubric=rubric,
            layer=Layer.CROSS_CUTTING,
            label=GONE if scores is None else NOT_ASKED,
        )
        for rubric in rubrics
    )
    kept = tuple(verdict for verdict in side.verdicts if verdict.rubric not in rubrics)
    return replace(side, verdicts=kept + fresh)


def _side(candidate: Candidate) -> Side:
    return Side(trace_id=candidate.trace_id, record_id=candidate.record_id, route=candidate.route)


def _key(record: Candidate | Side) -> judged.Key:
    return record.trace_id, record.record_id
