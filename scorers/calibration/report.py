"""Measures judges by the labels and verdicts of the store, for the API and the metrics."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ragvigil.model.score import Kind, Stream
from ragvigil.store.engine.store import Store
from ragvigil.store.scores import labels, verdicts
from ragvigil.store.scores.labels import Label
from ragvigil.store.scores.verdicts import Judge, Verdict
from scorers.calibration import metrics
from scorers.calibration.align import Alignment, align
from scorers.calibration.disagreements import Disagreement, Opinion, Voice, disagreements
from scorers.calibration.measure import Measure, Pair, measure
from scorers.calibration.people import PeopleMeasure, between_people
from scorers.calibration.ppi import Sums
from scorers.calibration.status import JudgeState
from scorers.rubric import load_rubrics

DAY = 86_400
AT_WORK_SECONDS = DAY
"""A judge that has not judged within this time is shown only if it has labels."""
LEVEL_SECONDS = 30 * DAY
"""Age of the oldest verdicts in the debiased level."""
MOST_DISAGREEMENTS = 10_000

LabelledVerdict: TypeAlias = tuple[Label, Verdict]
Place: TypeAlias = tuple[str, str]
"""Rubric and segment, or trace and rubric."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredJudge:
    """A judge and its measure; `is_at_work` says whether it judged within AT_WORK_SECONDS."""

    judge: Judge
    measure: Measure
    is_at_work: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignedJudge:
    """A judge, and the value below which an answer fails as people's labels have it."""

    judge: Judge
    alignment: Alignment


class Calibration:
    """Measures judges by people's labels. `bars` holds the value under which each rubric fails.

    Every call computes its answer from the store; only `retired` is kept from measure to measure.
    """

    def __init__(
        self,
        store: Store,
        bars: Mapping[str, float],
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store, self.bars, self._clock = store, bars, clock
        self._retired: frozenset[str] | None = None

    def measures(self) -> list[MeasuredJudge]:
        """Measures every judge that works or has labels, by rubric and segment."""
        now = int(self._clock())
        since = now - LEVEL_SECONDS
        labelled = _by_judge(self._labelled_verdicts())
        judges = {(judge.rubric, judge.segment): judge for judge in _judges(labelled)}
        at_work = {
            (judge.rubric, judge.segment): judge
            for judge in verdicts.judges(self._store, now - AT_WORK_SECONDS)
        }
        judges |= at_work
        if not judges:
            return []
        sums = verdicts.sums(self._store, since, {rubric for rubric, _ in judges})
        return [
            MeasuredJudge(
                judge=judge,
                measure=self._measure(judge, labelled.get(place, []), sums.get(place), since),
                is_at_work=place in at_work,
            )
            for place, judge in sorted(judges.items())
        ]

    def retired(self) -> frozenset[str]:
        """The rubrics whose judges are retired, by the newest `show_metrics`.

        The first call measures, so that a new process trusts nobody unmeasured. Raises StoreError.
        """
        if self._retired is None:
            self._retired = retired_rubrics(self.measures())
        return self._retired

    def show_metrics(self) -> None:
        """Exposes kappa, labels and state of every judge; a periodic job."""
        measured = self.measures()
        self._retired = retired_rubrics(measured)
        metrics.show(
            metrics.JudgeSeries(
                rubric=entry.judge.rubric,
                judge=f"{entry.judge.scorer} v{entry.judge.version}",
                measure=entry.measure,
            )
            for entry in measured
        )

    def alignments(self) -> list[AlignedJudge]:
        """Fits to people's labels the value below which each judge fails an answer."""
        labelled = _by_judge(self._labelled_verdicts())
        judges = {(judge.rubric, judge.segment): judge for judge in _judges(labelled)}
        return [
            AlignedJudge(
                judge=judge,
                alignment=align(
                    [_pair(label, verdict, 0) for label, verdict in labelled[place]],
                    self.bars.get(judge.rubric),
                ),
            )
            for place, judge in sorted(judges.items())
        ]

    def disagreements(self, since: int) -> list[Disagreement]:
        """Verdicts since a time (seconds since the epoch) that do not agree, people's first."""
        labelled = [
            pair for pair in self._labelled_verdicts() if pair[1].time_unix_nano >= since * 10**9
        ]
        opinions = [
            *(_opinion_of(verdict) for verdict in verdicts.recent(self._store, since)),
            *(side for pair in labelled for side in _opinions(*pair)),
        ]
        return disagreements(opinions, self.bars, most=MOST_DISAGREEMENTS)

    def people(self) -> list[PeopleMeasure]:
        """Measures how far people agree who labelled the same answers, by rubric."""
        return between_people(labels.newest(self._store), self.bars)

    def _labelled_verdicts(self) -> list[LabelledVerdict]:
        """The newest labels, each paired with the verdicts of judges on the same record."""
        newest = labels.newest(self._store)
        if not newest:
            return []
        rubrics = {label.rubric for label in newest}
        candidates = verdicts.of_traces(self._store, {label.trace_id for label in newest}, rubrics)
        return list(_pair_up(newest, candidates))

    def _measure(
        self,
        judge: Judge,
        labelled: Sequence[LabelledVerdict],
        sums: verdicts.Sums | None,
        since: int,
    ) -> Measure:
        judged = Sums(n=sums.n, total=sums.total, squares=sums.squares) if sums else Sums()
        return measure(
            [_pair(label, verdict, since) for label, verdict in labelled],
            self.bars.get(judge.rubric),
            judged,
            sums.failed if sums else 0,
        )


def retired_rubrics(judges: Iterable[MeasuredJudge]) -> frozenset[str]:
    """The rubrics all of whose judges at work are retired; where none works, all that have labels.

    A judge that rests still has findings open. A rubric that is computed from the grades of a
    retired one is as wrong, unless its own labels say otherwise.
    """
    by_rubric: dict[str, list[MeasuredJudge]] = defaultdict(list)
    for entry in judges:
        by_rubric[entry.judge.rubric].append(entry)
    states = {
        rubric: {
            entry.measure.status.state
            for entry in [entry for entry in entries if entry.is_at_work] or entries
        }
        for rubric, entries in by_rubric.items()
    }
    measured = {rubric for rubric, of_judges in states.items() if of_judges == {JudgeState.RETIRED}}
    derived = {
        name
        for name, rubric in load_rubrics().items()
        if rubric.derived_from in measured and JudgeState.TRUSTED not in states.get(name, ())
    }
    return frozenset(measured | derived)


def _pair_up(newest: Iterable[Label], candidates: Iterable[Verdict]) -> Iterator[LabelledVerdict]:
    """Pairs each label with each judge's verdict on its record.

    A label without a record id pairs only if its trace has one record.
    """
    by_trace: dict[Place, list[Verdict]] = defaultdict(list)
    for verdict in candidates:
        by_trace[verdict.trace_id, verdict.rubric].append(verdict)
    for label in newest:
        same_rubric = by_trace.get((label.trace_id, label.rubric), [])
        records = {verdict.record_id for verdict in same_rubric}
        record_id = label.record_id or (records.pop() if len(records) == 1 else "")
        # Of verdicts of several streams, that of the uniform sample counts: it is sorted last.
        ordered = sorted(same_rubric, key=lambda verdict: verdict.stream is Stream.BASE)
        last = {verdict.segment: verdict for verdict in ordered if verdict.record_id == record_id}
        yield from ((label, verdict) for verdict in last.values())


def _by_judge(labelled: Iterable[LabelledVerdict]) -> dict[Place, list[LabelledVerdict]]:
    by_judge: dict[Place, list[LabelledVerdict]] = defaultdict(list)
    for pair in labelled:
        by_judge[pair[1].rubric, pair[1].segment].append(pair)
    return by_judge


def _judges(labelled: Mapping[Place, Sequence[LabelledVerdict]]) -> Iterator[Judge]:
    for (rubric, segment), pairs in labelled.items():
        verdict = pairs[0][1]
        yield Judge(rubric=rubric, segment=segment, scorer=verdict.scorer, version=verdict.version)


def _pair(label: Label, verdict: Verdict, since: int) -> Pair:
    words = tuple(word for part in verdict.label.split(",") if (word := part.strip()))
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


def _opinion_of(verdict: Verdict) -> Opinion:
    return Opinion(
        trace_id=verdict.trace_id,
        record_id=verdict.record_id,
        rubric=verdict.rubric,
        voice=Voice.JUDGE if verdict.kind is Kind.JUDGE else Voice.SCORER,
        value=0.0 if verdict.value is None else verdict.value,
        name=verdict.scorer,
        time_unix_nano=verdict.time_unix_nano,
        service=verdict.service,
        route=verdict.route,
    )


def _opinions(label: Label, verdict: Verdict) -> Iterator[Opinion]:
    """The opinions of judge and person; none unless both gave a value."""
    if label.value is None or verdict.value is None:
        return
    judged = _opinion_of(verdict)
    yield judged
    yield replace(
        judged,
        voice=Voice.PERSON,
        value=label.value,
        name=label.labeller,
        time_unix_nano=label.time_unix_nano,
    )
