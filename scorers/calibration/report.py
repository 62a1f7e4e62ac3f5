"""Judges held against people: labels and verdicts of the store, measured, for API and metrics."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TypeAlias

from ragvigil.model.score import Kind, Stream
from ragvigil.store.engine.store import Store
from ragvigil.store.records.record_forms import time_of
from ragvigil.store.scores import labels, verdicts
from ragvigil.store.scores.labels import Label
from ragvigil.store.scores.verdicts import Judge, Verdict
from scorers.calibration import metrics
from scorers.calibration.disagreements import Disagreement, Said, Voice, disagreements
from scorers.calibration.measure import Measure, Pair, measure
from scorers.calibration.ppi import Sums

DAY = 86_400
AT_WORK_SECONDS = DAY
"""A judge that has not judged for so long is shown only where it has labels."""
LEVEL_SECONDS = 30 * DAY
"""The debiased level is that of these last days."""
MOST_DISAGREEMENTS = 10_000

Met: TypeAlias = tuple[Label, Verdict]
Place: TypeAlias = tuple[str, str]
"""Rubric and segment, or trace and rubric."""
Estimates: TypeAlias = Callable[[int], list[Mapping[str, object]]]
"""The two-phase estimate of every judged mean since a time, seconds since the epoch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A judge with its measure."""

    judge: Judge
    measure: Measure


class Calibration:
    """The API's `JudgeSource`. `bars` holds the value under which a record fails each rubric.

    Everything is computed when asked for, from the store; nothing is remembered.
    """

    def __init__(
        self,
        store: Store,
        rubrics: Collection[str],
        bars: Mapping[str, float],
        estimates: Estimates,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store, self._rubrics, self._bars, self._clock = store, rubrics, bars, clock
        self._estimates = estimates

    def rubrics(self) -> Collection[str]:
        """Every rubric that there is."""
        return self._rubrics

    def measures(self) -> list[Measured]:
        """Every judge that works or has labels, by rubric and segment."""
        now = int(self._clock())
        since = now - LEVEL_SECONDS
        met = _by_judge(self._met())
        judges = {(one.rubric, one.segment): one for one in _judges(met)}
        for one in verdicts.judges(self._store, now - AT_WORK_SECONDS):
            judges.setdefault((one.rubric, one.segment), one)
        if not judges:
            return []
        sums = verdicts.sums(self._store, since, {rubric for rubric, _ in judges})
        return [
            Measured(
                judge=judge,
                measure=self._measure(judge, met.get(place, []), sums.get(place), since),
            )
            for place, judge in sorted(judges.items())
        ]

    def show_metrics(self) -> None:
        """Exposes every judge's kappa, labels and state; a periodic job."""
        metrics.show(
            metrics.Shown(
                rubric=one.judge.rubric,
                judge=f"{one.judge.scorer} v{one.judge.version}",
                measure=one.measure,
            )
            for one in self.measures()
        )

    def judges(self) -> list[Mapping[str, object]]:
        """One entry per rubric and judge."""
        return [_judge_form(one) for one in self.measures()]

    def disagreements(self, since: int) -> list[Mapping[str, object]]:
        """Verdicts since then that do not go together, those with people first."""
        met = [one for one in self._met() if one[1].time_unix_nano >= since * 10**9]
        said = [
            *(_said(one) for one in verdicts.recent(self._store, since)),
            *(side for one in met for side in _sides(*one)),
        ]
        found = disagreements(said, self._bars, most=MOST_DISAGREEMENTS)
        return [_disagreement_form(one) for one in found]

    def estimates(self, since: int) -> list[Mapping[str, object]]:
        """The two-phase estimate of every judged mean since then."""
        return self._estimates(since)

    def _met(self) -> list[Met]:
        """Labels with the verdicts of judges on the same record."""
        told = labels.newest(self._store)
        if not told:
            return []
        rubrics = {one.rubric for one in told}
        found = verdicts.of_traces(self._store, {one.trace_id for one in told}, rubrics)
        return list(_meet(told, found))

    def _measure(
        self, judge: Judge, met: Sequence[Met], sums: verdicts.Sums | None, since: int
    ) -> Measure:
        judged = Sums(n=sums.n, total=sums.total, squares=sums.squares) if sums else Sums()
        return measure(
            [_pair(label, verdict, since) for label, verdict in met],
            self._bars.get(judge.rubric),
            judged,
            sums.failed if sums else 0,
        )


def _meet(told: Iterable[Label], found: Iterable[Verdict]) -> Iterator[Met]:
    """Each label with each judge's verdict; a trace with several records needs its record id."""
    by_trace: dict[Place, list[Verdict]] = defaultdict(list)
    for one in found:
        by_trace[one.trace_id, one.rubric].append(one)
    for label in told:
        here = by_trace.get((label.trace_id, label.rubric), [])
        records = {one.record_id for one in here}
        wanted = label.record_id or (records.pop() if len(records) == 1 else "")
        # Of several streams the uniform sample's verdict counts: it comes last here.
        ordered = sorted(here, key=lambda one: one.stream is Stream.BASE)
        last = {one.segment: one for one in ordered if one.record_id == wanted}
        yield from ((label, verdict) for verdict in last.values())


def _by_judge(met: Iterable[Met]) -> dict[Place, list[Met]]:
    found: dict[Place, list[Met]] = defaultdict(list)
    for one in met:
        found[one[1].rubric, one[1].segment].append(one)
    return found


def _judges(met: Mapping[Place, Sequence[Met]]) -> Iterator[Judge]:
    for (rubric, segment), pairs in met.items():
        verdict = pairs[0][1]
        yield Judge(rubric=rubric, segment=segment, scorer=verdict.scorer, version=verdict.version)


def _pair(label: Label, verdict: Verdict, since: int) -> Pair:
    words = tuple(word for one in verdict.label.split(",") if (word := one.strip()))
    return Pair(
        trace_id=verdict.trace_id,
        record_id=verdict.record_id,
        time_unix_nano=label.time_unix_nano,
        label=label.value,
        word=label.label,
        judged=verdict.value,
        words=words,
        is_base=verdict.stream is Stream.BASE and verdict.time_unix_nano >= since * 10**9,
    )


def _said(one: Verdict) -> Said:
    return Said(
        trace_id=one.trace_id,
        record_id=one.record_id,
        rubric=one.rubric,
        voice=Voice.JUDGE if one.kind is Kind.JUDGE else Voice.SCORER,
        value=0.0 if one.value is None else one.value,
        name=one.scorer,
        time_unix_nano=one.time_unix_nano,
        service=one.service,
        route=one.route,
    )


def _sides(label: Label, verdict: Verdict) -> Iterator[Said]:
    """What person and judge said, where both gave a value."""
    if label.value is None or verdict.value is None:
        return
    judged = _said(verdict)
    yield judged
    yield replace(
        judged,
        voice=Voice.PERSON,
        value=label.value,
        name=label.labeller,
        time_unix_nano=label.time_unix_nano,
    )


def _judge_form(one: Measured) -> dict[str, object]:
    found, kappa = one.measure, one.measure.kappa
    return {
        "rubric": one.judge.rubric,
        "judge": one.judge.scorer,
        "version": one.judge.version,
        "segment": one.judge.segment,
        "scale": found.scale.value,
        "labels": kappa.n,
        "kappa": kappa.value,
        "low": kappa.low,
        "high": kappa.high,
        "agreement": found.agreement,
        "disagreements": found.disagreements,
        "state": found.standing.state.value,
        "reason": found.standing.reason,
        "level": None if found.level is None else asdict(found.level),
    }


def _disagreement_form(one: Disagreement) -> dict[str, object]:
    first = one.first
    return {
        "kind": one.kind.value,
        "trace_id": first.trace_id,
        "record_id": first.record_id,
        "time": time_of(first.time_unix_nano),
        "service": first.service,
        "route": first.route,
        "gap": one.gap,
        "why": one.why,
        "first": _side_form(first),
        "second": _side_form(one.second),
    }


def _side_form(one: Said) -> dict[str, object]:
    return {"rubric": one.rubric, "by": one.voice.value, "name": one.name, "value": one.value}
