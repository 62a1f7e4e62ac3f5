"""The API's judges: their measures, disagreements and estimates as forms."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict

from alerts.audits.estimates import SeriesEstimate, estimates
from ragvigil.model.clock import Clock
from ragvigil.store.engine.store import Store
from ragvigil.store.scores import verdicts
from ragvigil.store.scores.verdicts import Quotes
from ragvigil.web.labelling.forms import GradeForm, PeopleForm, RubricForm, choices
from ragvigil.web.views.judges import (
    AlignmentForm,
    DisagreementForm,
    EstimateForm,
    JudgeForm,
    LevelForm,
    OpinionForm,
)
from ragvigil.web.views.values import time_or_none
from scorers.calibration.disagreements import Disagreement, Opinion
from scorers.calibration.people import PeopleMeasure
from scorers.calibration.report import AlignedJudge, Calibration, MeasuredJudge
from scorers.calibration.status import LEAST_LABELS
from scorers.rubric import Rubric, load_rubrics

DAY = 86_400
NO_QUOTES = Quotes()


def judge_source(
    store: Store, rubrics: Callable[[], Collection[str]], bars: Mapping[str, float], clock: Clock
) -> Judges:
    """The judges of a store; `bars` holds the value under which each rubric fails."""
    return Judges(
        Calibration(store, bars, clock),
        rubrics,
        lambda since: estimates(store, since, int(clock())),
        lambda: verdicts.quotes(store, int(clock() - DAY)),
    )


class Judges:
    """The API's `JudgeSource`; `rubrics` gives those that a label may name, which people add to."""

    def __init__(
        self,
        calibration: Calibration,
        rubrics: Callable[[], Collection[str]],
        estimates_since: Callable[[int], list[SeriesEstimate]],
        quotes: Callable[[], Mapping[tuple[str, str], Quotes]],
    ) -> None:
        self._quotes = quotes
        self._calibration, self._rubrics = calibration, rubrics
        self._estimates_since = estimates_since

    def rubrics(self) -> Collection[str]:
        """The rubrics that a label may name."""
        return self._rubrics()

    def judges(self) -> list[JudgeForm]:
        """One entry per rubric and judge."""
        quotes = self._quotes()
        return [
            _judge_form(each, quotes.get((each.judge.rubric, each.judge.segment), NO_QUOTES))
            for each in self._calibration.measures()
        ]

    def alignments(self) -> list[AlignmentForm]:
        """The value below which an answer fails, fitted to people's labels."""
        return [_alignment_form(each) for each in self._calibration.alignments()]

    def disagreements(self, since: int) -> list[DisagreementForm]:
        """Verdicts since a time (seconds since the epoch) that do not agree."""
        return [_disagreement_form(each) for each in self._calibration.disagreements(since)]

    def rubric(self, name: str) -> RubricForm | None:
        """What a person is asked by a rubric, None where there is none of this name."""
        rubric = load_rubrics().get(name)
        return _rubric_form(rubric, self._calibration.bars.get(name)) if rubric else None

    def people(self) -> list[PeopleForm]:
        """How far people agree, by rubric."""
        return [_people_form(each) for each in self._calibration.people()]

    def estimates(self, since: int) -> list[EstimateForm]:
        """Judged means since a time (seconds since the epoch)."""
        return [_estimate_form(estimate) for estimate in self._estimates_since(since)]


def _judge_form(measured: MeasuredJudge, quotes: Quotes) -> JudgeForm:
    judge, measure = measured.judge, measured.measure
    kappa, level = measure.kappa, measure.level
    return JudgeForm(
        rubric=judge.rubric,
        judge=judge.scorer,
        version=judge.version,
        segment=judge.segment,
        scale=measure.scale.value,
        labels=kappa.n,
        missing=max(0, LEAST_LABELS - kappa.n),
        kappa=kappa.value,
        low=kappa.low,
        high=kappa.high,
        agreement=measure.agreement,
        disagreements=measure.disagreements,
        quotes=quotes.quotes,
        quotes_not_found=quotes.not_found,
        state=measure.status.state.value,
        reason=measure.status.reason,
        level=None if level is None else LevelForm.model_validate(asdict(level)),
    )


def _alignment_form(aligned: AlignedJudge) -> AlignmentForm:
    judge = aligned.judge
    return AlignmentForm(
        rubric=judge.rubric,
        judge=judge.scorer,
        version=judge.version,
        segment=judge.segment,
        **asdict(aligned.alignment),
    )


def _disagreement_form(disagreement: Disagreement) -> DisagreementForm:
    first = disagreement.first
    return DisagreementForm.model_validate(
        {
            "kind": disagreement.kind.value,
            "trace_id": first.trace_id,
            "record_id": first.record_id,
            "time": time_or_none(first.time_unix_nano),
            "service": first.service,
            "route": first.route,
            "gap": disagreement.gap,
            "why": disagreement.why,
            "first": _side_form(first),
            "second": _side_form(disagreement.second),
        }
    )


def _side_form(opinion: Opinion) -> OpinionForm:
    return OpinionForm(
        rubric=opinion.rubric, by=opinion.voice.value, name=opinion.name, value=opinion.value
    )


def _estimate_form(row: SeriesEstimate) -> EstimateForm:
    return EstimateForm(
        **asdict(row.series),
        **asdict(row.estimate),
        records=row.records,
        plain_mean=row.plain_mean,
    )


def _rubric_form(rubric: Rubric, bar: float | None) -> RubricForm:
    words = rubric.labels if rubric.scale == "label" else ()
    grades = rubric.judge.grades if rubric.judge else ()
    return RubricForm(
        name=rubric.name,
        layer=rubric.layer,
        asks=rubric.asks or f"Does the answer pass {rubric.name}?",
        description=rubric.description,
        choices=choices(words, bar),
        grades=[GradeForm(name=grade.name, means=grade.means) for grade in grades],
        shows_retrieved="retrieved" in rubric.needs,
    )


def _people_form(measured: PeopleMeasure) -> PeopleForm:
    return PeopleForm(
        rubric=measured.rubric,
        answers=measured.answers,
        agreement=measured.agreement,
        kappa=measured.kappa.value,
        low=measured.kappa.low,
        high=measured.kappa.high,
    )
