"""Runs of faults on copies of a healthy store, and what the watch made of each."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.rig.scored_pool import ScoredPool
from bench.rig.truth_clock import Rehearsal, copied, fill, opened, play
from bench.rig.truth_faults import Fault, Truth
from bench.rig.truth_traffic import DAY, HOUR, MINUTE, Episode
from ragvigil.model.finding import Finding, FindingKind
from ragvigil.model.incident import Incident, IncidentState

BEFORE_MINUTES = 10
OLD_HOURS, OLD_MINUTES = 6, 90
ALL = "all routes"
UNDETERMINED = "undetermined"
QUALITY = (Truth.RETRIEVAL, Truth.CORPUS, Truth.GENERATION)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Minutes: how long a fault lasts, how long it may take to clear, and between turns.

    For the first `watched_minutes` of a fault the watch has a turn every `turn_minutes`, then
    every `later_minutes`: when something comes is of interest, how long it goes on is not.
    """

    fault_minutes: int = 90
    after_minutes: int = 120
    watched_minutes: int = 40
    turn_minutes: int = 1
    later_minutes: int = 3


USUAL = Plan()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What the watch made of a fault; times are minutes since its onset, or since its fix.

    `layers` are those of the incidents that opened while it lasted, in their order, as they stood
    when it was fixed. `before` counts incidents that opened before it, and `later` those after the
    fix. `headline` is the first line of the incident that paged, else of the first.
    """

    fault: str
    onset: int
    scope: str
    truth: str
    must_page: bool
    must_not_page: bool
    is_quiet: bool
    notices: tuple[str, ...]
    noticed_minutes: float | None
    ticket_minutes: float | None
    page_minutes: float | None
    incidents: int
    pages: int
    layers: tuple[str, ...]
    routes: tuple[str, ...]
    cleared_minutes: float | None
    audited: bool
    before: int
    later: int
    headline: str
    signals: tuple[str, ...]
    incident_lines: tuple[str, ...] = ()
    """A line for each incident: when it opened, where, whether it paged, its layer, its signals."""
    suspects: tuple[str, ...] = ()
    """The kinds of change that the incident that matters most names, the likeliest first."""

    @property
    def layer(self) -> str:
        """What the incident that matters most said: the first that paged, else the first."""
        return self.layers[0] if self.layers else ""

    @property
    def line(self) -> str:
        """The run in one line."""
        return (
            f"{self.fault} [{self.onset}] {self.scope}: ticket {self.ticket_minutes} "
            f"page {self.page_minutes} layers {self.layers} (true {self.truth}) "
            f"incidents {self.incidents} pages {self.pages} later {self.later} "
            f"before {self.before} cleared {self.cleared_minutes} notices {self.notices} "
            f"| {self.headline} | {' | '.join(self.incident_lines)}"
        )

    @property
    def is_right(self) -> bool | None:
        """Whether the layer is the true one; None where none was named, or none is to be."""
        if self.truth not in QUALITY or self.layer in ("", UNDETERMINED):
            return None
        return self.layer == self.truth


def rehearse(
    pool: ScoredPool,
    healthy: Path,
    fault: Fault,
    *,
    ended: float,
    onset: int,
    route: str = "",
    seed: int = 0,
    plan: Plan = USUAL,
) -> RunResult:
    """One fault on a copy of a store whose traffic `ended` then (seconds), on all routes or one."""
    pool.prepare(fault.name)
    with copied(healthy) as folder, opened(pool, folder, ended) as rehearsal:
        begin = ended + BEFORE_MINUTES * MINUTE
        fixed = begin + plan.fault_minutes * MINUTE
        episode = Episode(fault=fault, start=begin, end=fixed, routes=(route,) if route else ())
        play(rehearsal, begin, [], seed=seed, each_minutes=plan.later_minutes)
        watched = min(fixed, begin + plan.watched_minutes * MINUTE)
        play(rehearsal, watched, [episode], seed=seed + 1, each_minutes=plan.turn_minutes)
        play(rehearsal, fixed, [episode], seed=seed + 2, each_minutes=plan.later_minutes)
        during = rehearsal.incidents(ended)
        play(
            rehearsal,
            fixed + plan.after_minutes * MINUTE,
            [],
            seed=seed + 3,
            each_minutes=plan.later_minutes,
            until=lambda: _is_over(rehearsal, begin),
        )
        return _result(rehearsal, episode, during, onset=onset, ended=ended)


@dataclass(frozen=True, slots=True, kw_only=True)
class OldResult:
    """What became of a fault from before the first span; `since_minutes` after that span."""

    incidents: int
    pages: int
    since_minutes: float | None
    layer: str


def rehearse_old(pool: ScoredPool, fault: Fault, *, seed: int) -> OldResult:
    """A fault that is there from the first request on; the watch begins hours later."""
    pool.prepare(fault.name)
    ended = (time.time() // DAY - 1) * DAY + 12 * HOUR
    start, end = ended - OLD_HOURS * HOUR, ended + OLD_MINUTES * MINUTE
    episode = Episode(fault=fault, start=start, end=end)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "data"
        fill(pool, folder, start=start, end=ended, seed=seed, episodes=[episode])
        with opened(pool, folder, ended) as rehearsal:
            play(rehearsal, end, [episode], seed=seed, each_minutes=3)
            found = rehearsal.incidents(ended)
    first = min((one.since_unix_nano for one in found), default=None)
    return OldResult(
        incidents=len(found),
        pages=sum(bool(one.paged_unix_nano) for one in found),
        since_minutes=None if first is None else _first([first], start),
        layer=layer_of(found[0]) if found else "",
    )


def _is_over(rehearsal: Rehearsal, begin: float) -> bool:
    return all(one.state is IncidentState.RESOLVED for one in rehearsal.incidents(begin))


def _result(
    rehearsal: Rehearsal, episode: Episode, during: Sequence[Incident], *, onset: int, ended: float
) -> RunResult:
    begin, fixed, fault = episode.start, episode.end, episode.fault
    every = rehearsal.incidents(ended)
    opened_then = [one for one in every if begin <= one.opened_unix_nano / 1e9]
    mine = sorted(
        (one for one in during if one.opened_unix_nano / 1e9 >= begin),
        key=lambda one: (not one.paged_unix_nano, one.paged_unix_nano, one.opened_unix_nano),
    )
    notices = rehearsal.notices(begin)
    findings = [finding for one in mine for finding in one.findings]
    return RunResult(
        fault=fault.name,
        onset=onset,
        scope=", ".join(episode.routes) or ALL,
        truth=fault.truth,
        must_page=fault.must_page,
        must_not_page=fault.must_not_page,
        is_quiet=fault.is_quiet,
        notices=tuple(sorted({str(notice.kind) for notice in notices})),
        noticed_minutes=_first([one.noticed_unix_nano for one in notices], begin),
        ticket_minutes=_first([one.opened_unix_nano for one in opened_then], begin),
        page_minutes=_first([one.paged_unix_nano for one in opened_then], begin),
        incidents=len(opened_then),
        pages=sum(bool(one.paged_unix_nano) for one in opened_then),
        layers=tuple(layer_of(one) for one in mine),
        routes=tuple(sorted({route for finding in findings for route in finding.routes})),
        cleared_minutes=_cleared(opened_then, fixed),
        audited=any(finding.kind is FindingKind.AUDIT for finding in findings),
        before=len(every) - len(opened_then),
        later=sum(one.opened_unix_nano / 1e9 >= fixed for one in opened_then),
        headline=rehearsal.watch.incidents.message(mine[0]).worse if mine else "",
        signals=_signals(findings),
        incident_lines=tuple(_line(one, begin) for one in mine),
        suspects=tuple(str(change.kind) for change in mine[0].suspects) if mine else (),
    )


def _signals(findings: Sequence[Finding]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(f"{finding.kind}:{finding.signal}" for finding in findings))


def _line(incident: Incident, begin: float) -> str:
    routes = sorted({route for finding in incident.findings for route in finding.routes})
    opened = _first([incident.opened_unix_nano], begin)
    return (
        f"{opened} min {incident.severity} {', '.join(routes)}: {layer_of(incident)} "
        f"by {', '.join(_signals(incident.findings))}"
    )


def layer_of(incident: Incident) -> str:
    """The layer that an incident names, UNDETERMINED where it names none."""
    if incident.verdict.is_blind:
        return Truth.BLIND
    return str(incident.cause) if incident.cause else UNDETERMINED


def _first(times: Sequence[int], begin: float) -> float | None:
    known = [time for time in times if time]
    return round((min(known) / 1e9 - begin) / MINUTE, 1) if known else None


def _cleared(opened_then: Sequence[Incident], fixed: float) -> float | None:
    """Minutes from the fix until the last incident was resolved; None where one is open."""
    ends = [one.resolved_unix_nano for one in opened_then]
    if not ends or not all(ends):
        return None
    return round((max(ends) / 1e9 - fixed) / MINUTE, 1)
