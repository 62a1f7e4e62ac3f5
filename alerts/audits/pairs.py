"""The pairs of an audit: records from after a change, each with its like from before, judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from alerts.audits.matching import comparable, least_alike, likeness, match
from ragvigil.model.audit import Audit, Pair, Side, Verdict
from ragvigil.model.record import RagRecord
from ragvigil.model.score import Layer, Score
from ragvigil.store.scores import judged
from ragvigil.store.watch import audits
from ragvigil.store.watch.audits import Candidate, Place

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

Ask: TypeAlias = Callable[[Sequence[RagRecord], Sequence[str]], list[tuple[Score, ...]] | None]
"""The scores of each record by these rubrics, asked anew; None while there is no judge. Blocks."""
SETTLED_SECONDS = 30.0
"""A record younger than this may still get late spans."""
HOUR, DAY = 3600.0, 86_400.0
DAYS = 7
HOUR_BEFORE, SAME_HOURS = 600, 250
"""Records to choose from: of the hour before, and of the same two hours of each earlier day."""
MOST_AFTER = 1000
NOT_ASKED, GONE = "not_asked", "gone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """Records from before a change, chosen from by their questions; see `least_alike`."""

    candidates: tuple[Candidate, ...]
    least: float

    @property
    def questions(self) -> list[str]:
        """What was asked."""
        return [one.query for one in self.candidates]


def before_of(store: Store, audit: Audit, floor: float) -> Before:
    """Candidates from before the change, none from before `floor` (seconds since the epoch)."""
    anchor = audit.anchor_unix_nano / 1e9
    spans = [(anchor - HOUR, anchor, HOUR_BEFORE)]
    spans += [
        (anchor - day * DAY, anchor - day * DAY + 2 * HOUR, SAME_HOURS)
        for day in range(1, DAYS + 1)
    ]
    found = [
        one
        for since, until, limit in spans
        if until > floor
        for one in audits.candidates(
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
    least = least_alike([one.query for one in found])
    return Before(candidates=tuple(found), least=least)


def after_of(store: Store, audit: Audit, now: float) -> list[Candidate]:
    """Candidates from after the change, each route from its own time on."""
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
    """At most `room` new pairs, not judged yet; each record is used once in an audit."""
    if not after or not before.candidates:
        return []
    alike = likeness([one.query for one in after], before.questions)
    is_known = comparable(alike, before.least)
    used = {(side.trace_id, side.record_id) for pair in pairs for side in (pair.before, pair.after)}
    fresh = [place for place, one in enumerate(after) if is_known[place] and _key(one) not in used]
    fresh = fresh[: max(0, room)]
    free = [place for place, one in enumerate(before.candidates) if _key(one) not in used]
    found = match(
        alike[fresh][:, free],
        [after[place].route for place in fresh],
        [before.candidates[place].route for place in free],
    )
    number = max((pair.number for pair in pairs), default=-1) + 1
    return [
        Pair(
            number=number + place,
            before=_side(before.candidates[free[one.before]]),
            after=_side(after[fresh[one.after]]),
            likeness=round(one.likeness, 3),
        )
        for place, one in enumerate(found)
    ]


def judge(
    store: Store, ask: Ask, pairs: Sequence[Pair], rubrics: Sequence[str]
) -> tuple[Pair, ...] | None:
    """The pairs with these rubrics' verdicts; None where nobody judges."""
    sides = [side for pair in pairs for side in (pair.before, pair.after)]
    stored = judged.read(store, [_key(side) for side in sides])
    here = [side for side in sides if _key(side) in stored]
    said = ask([stored[_key(side)].record for side in here], rubrics)
    if said is None:
        return None
    scores = {_key(side): one for side, one in zip(here, said, strict=True)}
    return tuple(
        replace(
            pair,
            before=_told(pair.before, scores.get(_key(pair.before)), rubrics),
            after=_told(pair.after, scores.get(_key(pair.after)), rubrics),
        )
        for pair in pairs
    )


def _told(side: Side, scores: Sequence[Score] | None, rubrics: Sequence[str]) -> Side:
    """The side with its verdicts; a rubric that said nothing has one without a value."""
    said = {one.rubric: one for one in scores or ()}
    fresh = tuple(
        Verdict(
            rubric=rubric,
            layer=said[rubric].layer,
            value=said[rubric].value,
            label=said[rubric].label,
            scorer=said[rubric].scorer,
            version=said[rubric].version,
        )
        if rubric in said
        else Verdict(
            rubric=rubric,
            layer=Layer.CROSS_CUTTING,
            label=GONE if scores is None else NOT_ASKED,
        )
        for rubric in rubrics
    )
    others = tuple(one for one in side.verdicts if one.rubric not in rubrics)
    return replace(side, verdicts=others + fresh)


def _side(one: Candidate) -> Side:
    return Side(trace_id=one.trace_id, record_id=one.record_id, route=one.route)


def _key(one: Candidate | Side) -> judged.Key:
    return one.trace_id, one.record_id
