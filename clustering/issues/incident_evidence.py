"""Which single answers show an incident: by their values, their length, or the chunks they draw on.

An incident says what is worse on average. An answer shows it where its value is one that most
answers have by the incident: more answers have it, or lower ones, than the day before explains.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import TYPE_CHECKING

from clustering.issues.background_rate import Background, is_above
from clustering.issues.incident_group import CHANCE, MOST_BACKGROUND, Shown
from ragvigil.model.finding import Finding
from ragvigil.model.issue import MEASURES, OTHER_CHUNKS
from ragvigil.model.wilson import wilson
from ragvigil.store.issues import redrawn, spikes
from ragvigil.store.issues.spikes import LEAST_PAST, MOST, Spike, ValueCounts

if TYPE_CHECKING:
    from clustering.issues.incident_group import IncidentWindow
    from ragvigil.store.engine.store import Store
    from ragvigil.store.issues.failing_changes import Key
    from ragvigil.store.issues.redrawn import RedrawnMinute

MINUTE, HOUR = 60, 3600
MOST_USUAL = 0.15
"""Of the answers that show an incident by their values at most this share would have had them."""
SOONEST, LATER = 5 * MINUTE, 1.5
"""When the values of an incident are compared: after SOONEST, then each time it is LATER times as
old. Each new bar has all of its minutes read again."""
CONTROL = 3 * HOUR
"""The time before an incident that tells how many answers draw on other chunks anyhow."""
LEAST_CONTROL = 20
"""Fewer answers of that time tell nothing."""
OVERLAP = 10 * MINUTE
"""Answers may come so late."""
MANY = 50_000
"""Answers of CONTROL that add a minute between two looks: each reads a day of them."""
MOST_ANSWERS = 5000
"""The first so many answers of an incident that draw on other chunks; queries name each."""
LEAST_ABOVE = 20
"""Values of before above a place, from which it tells how many answers are left as before."""
SHORT, LONG, FEW = "short", "long", "few"
LOW = {"answer_words": SHORT, "citations": FEW}


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What incidents show of single answers.

    `redrawn` are the answers that draw on other chunks than before, with their minutes; `usual` is
    the share (0..1) of answers that showed the same before.
    """

    spikes: tuple[Spike, ...] = ()
    redrawn: Mapping[Key, int] = field(default_factory=dict)
    usual: Mapping[Shown, float] = field(default_factory=dict)


def value_spikes(
    window: IncidentWindow, counts: Sequence[ValueCounts], findings: Sequence[Finding]
) -> Iterator[tuple[Spike, float]]:
    """Values that show an incident, and the share (0..1) of answers that had them before."""
    for each in counts:
        if window.routes and each.route not in window.routes:
            continue
        for is_rise in _sides(each.rubric, findings):
            before, since = (half[::-1] if is_rise else half for half in (each.before, each.since))
            place = places_shown(before, since)
            if place:
                bar = each.value_at((len(before) - place if is_rise else place) - 0.5)
                yield _spike(window, each, bar, is_rise=is_rise), sum(before[:place]) / sum(before)


def places_shown(before: Sequence[int], since: Sequence[int]) -> int:
    """How many of the lowest places hold values that answers mostly have by an incident.

    >>> places_shown([5, 5, 190], [30, 6, 64])
    2
    >>> places_shown([0, 50, 50], [100, 0, 0]), places_shown([5, 5, 190], [3, 3, 94])
    (3, 0)
    """
    past, total = sum(before), sum(since)
    if past < LEAST_PAST:
        return 0
    as_before = share_as_before(before, since)
    shown = 0
    for place in range(1, len(before) + 1):
        usual, count = as_before * sum(before[:place]), sum(since[:place])
        background = Background(failing=round(usual), requests=past)
        if usual * total <= MOST_USUAL * count * past and is_above(
            count, total, background, chance=CHANCE
        ):
            shown = place
    return shown


def share_as_before(before: Sequence[int], now: Sequence[int]) -> float:
    """The most that the share of answers can be which nothing has changed, from two histograms.

    Where values above some place have become rarer, so have answers as before: those that are left
    above it stand for all of them. The least of these estimates, each by the upper end of its
    interval (the share of true null hypotheses: Storey 2002).

    >>> round(share_as_before([10, 10, 80], [30, 10, 60]), 2)
    0.86
    >>> round(share_as_before([0, 50, 50], [500, 0, 0]), 3)
    0.008
    """
    total, known = sum(now), sum(before)
    above = zip(_from_the_end(before), _from_the_end(now), strict=True)
    ratios = [wilson(left, total)[1] * known / past for past, left in above if past >= LEAST_ABOVE]
    return min(1.0, *ratios) if ratios else 1.0


def _from_the_end(histogram: Sequence[int]) -> list[int]:
    return list(accumulate(reversed(histogram)))[::-1]


def _sides(rubric: str, findings: Sequence[Finding]) -> Iterator[bool]:
    """Whether high values show it: of rubrics the low ones do, of a measure those of its move."""
    if rubric not in MEASURES:
        yield False
        return
    moved = {
        finding.value > finding.reference
        for finding in findings
        if finding.signal == rubric and finding.value is not None and finding.reference is not None
    }
    yield from (is_rise for is_rise in moved if not is_rise or rubric == "answer_words")


def _spike(window: IncidentWindow, each: ValueCounts, bar: float, *, is_rise: bool) -> Spike:
    first, last = int(window.first) // MINUTE * MINUTE, int(window.last) // MINUTE * MINUTE
    return Spike(
        service=window.service,
        environment=window.environment,
        route=each.route,
        rubric=each.rubric,
        label=LONG if is_rise else LOW.get(each.rubric, ""),
        below=-1.0 if is_rise else bar,
        above=bar if is_rise else MOST,
        first=first,
        last=max(first, last),
    )


def redrawn_answers(
    minutes: Sequence[RedrawnMinute], before: Sequence[RedrawnMinute], window: IncidentWindow
) -> tuple[dict[Key, int], float]:
    """The answers of routes where more draw on other chunks than before, and how many did then.

    Those that cite the same chunks at other sentences are among them, unless that is usual: models
    that vary their words vary their citations, too.
    """
    found: dict[Key, int] = {}
    most = 0.0
    for route in sorted({minute.route for minute in minutes}):
        if window.routes and route not in window.routes:
            continue
        own = [minute for minute in minutes if minute.route == route]
        past = [minute for minute in before if minute.route == route]
        for differing in (_in_any_way, _by_chunks):
            count, total = _counted(
                [each for each in own if each.start >= window.begins], differing
            )
            usual, control = _counted(past, differing)
            if control >= LEAST_CONTROL and _is_more_common(count, total, usual, control):
                found |= {key: minute.start for minute in own for key in differing(minute)}
                most = max(most, usual / control)
                break
    first = sorted(found.items(), key=lambda answer: (answer[1], answer[0]))[:MOST_ANSWERS]
    return dict(first), most


def _in_any_way(minute: RedrawnMinute) -> tuple[Key, ...]:
    return minute.redrawn + minute.recited


def _by_chunks(minute: RedrawnMinute) -> tuple[Key, ...]:
    return minute.redrawn


def _counted(
    minutes: Sequence[RedrawnMinute], differing: Callable[[RedrawnMinute], tuple[Key, ...]]
) -> tuple[int, int]:
    return sum(len(differing(each)) for each in minutes), sum(each.answers for each in minutes)


def _is_more_common(count: int, total: int, usual: int, control: int) -> bool:
    background = Background(failing=usual, requests=control)
    is_enough = usual * total <= MOST_BACKGROUND * count * control
    return is_enough and is_above(count, total, background, chance=CHANCE)


@dataclass(slots=True)
class _Known:
    """What was read of one incident, by the window it was read for."""

    values_read: tuple[object, ...] = ()
    shown: tuple[tuple[Spike, float], ...] = ()
    first: int = 0
    before: Sequence[RedrawnMinute] | None = None
    minutes: dict[tuple[str, int], RedrawnMinute] = field(default_factory=dict)
    next_look: float = 0.0


class IncidentEvidence:
    """Reads what incidents show; keeps what it read of those that last. Called by one thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, _Known] = {}

    def of(self, window: IncidentWindow, findings: Sequence[Finding], now: float) -> Evidence:
        """What one incident shows of single answers but for labels. Raises StoreError."""
        known = self._known.setdefault(window.incident_id, _Known())
        self._read_values(known, window, findings)
        self._read_redrawn(known, window, now)
        keys, share = redrawn_answers(list(known.minutes.values()), known.before or (), window)
        last = int(window.last) // MINUTE * MINUTE
        usual: dict[Shown, float] = {(OTHER_CHUNKS, ""): share} if keys else {}
        for spike, before in known.shown:
            usual[spike.rubric, ""] = max(before, usual.get((spike.rubric, ""), 0.0))
        return Evidence(
            spikes=tuple(_until(spike, last) for spike, _ in known.shown), redrawn=keys, usual=usual
        )

    def forget(self, but: Sequence[IncidentWindow]) -> None:
        """Drops what was read of incidents that gather no answers any more."""
        kept = {window.incident_id for window in but}
        self._known = {name: known for name, known in self._known.items() if name in kept}

    def _read_values(
        self, known: _Known, window: IncidentWindow, findings: Sequence[Finding]
    ) -> None:
        end = _last_comparison(window)
        signals = tuple(sorted(window.signals))
        read_for = (window.first, window.begins, window.routes, signals, end)
        if not end or read_for == known.values_read:
            return
        counts = spikes.values(
            self._store,
            window.service,
            window.environment,
            until=int(window.first) // MINUTE * MINUTE,
            first=window.begins,
            end=end,
        )
        known.shown = tuple(value_spikes(window, counts, findings))
        known.values_read = read_for

    def _read_redrawn(self, known: _Known, window: IncidentWindow, now: float) -> None:
        """Compares the newest answers with the day before; of much traffic not every minute."""
        if now < known.next_look:
            return
        first = int(window.first) // MINUTE * MINUTE
        place = (self._store, window.service, window.environment)
        if known.before is None or known.first != first:
            known.first, known.minutes = first, {}
            known.before = redrawn.read(
                *place, until=first - CONTROL, first=first - CONTROL, end=first
            )
        newest = max((start for _, start in known.minutes), default=first)
        since = max(first, newest - OVERLAP)
        end = int(window.last) // MINUTE * MINUTE + MINUTE
        if since < end:
            fresh = redrawn.read(*place, until=first, first=since, end=end)
            known.minutes |= {(minute.route, minute.start): minute for minute in fresh}
        asked = sum(minute.answers for minute in known.before)
        known.next_look = now + MINUTE * (asked // MANY)


def _last_comparison(window: IncidentWindow) -> int:
    """The minute until which values are compared; 0 where an incident is too young."""
    age, last = float(SOONEST), 0
    while window.begins + age <= window.last:
        last = window.begins + int(age) // MINUTE * MINUTE + MINUTE
        age *= LATER
    return last


def _until(spike: Spike, last: int) -> Spike:
    return replace(spike, last=max(spike.first, last))
