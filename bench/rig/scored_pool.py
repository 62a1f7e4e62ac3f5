"""Every answer that a service can give, scored once by the real scorers.

An answer is a question, a fault that is at work or none, and what went wrong by itself or nothing.
Its trace id names all three, so that a judge can find what is true about it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace

from bench.rig.noisy_judge import NoisyJudge
from bench.rig.truth_service import NATURAL
from bench.rig.truth_texts import Texts
from bench.rig.truth_vectors import Vectors
from ragvigil.app.parts import facts
from ragvigil.model.outcome import Outcome, ScoredRecord, TraceOutcome
from ragvigil.model.record import Latencies, RagRecord
from ragvigil.model.score import Kind, Score, Stream
from ragvigil.model.span import Closed, Span, Trace
from ragvigil.store.records.traces import RubricFacts
from scorers.judge.job import families
from scorers.judge.sampling import is_sampled
from scorers.label_bars import LabelBars
from scorers.local.relevance import relevance
from scorers.record_shape import measure
from scorers.rubric import load_rubrics
from scorers.runner import Runner, load_scorers

HEALTHY = ""
ACCIDENTS = ("", *NATURAL)
JUDGED = frozenset(rubric.name for family in families(load_rubrics()) for rubric in family)
SAMPLED, SALT = 0.07, "truth"
SAMPLE_RUBRICS = ("context_relevance", "groundedness", "answer_relevance")
"""What the judge asks of the sample; audits ask what their settings say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A question by its number, the fault at work, and what went wrong by itself."""

    question: int
    state: str = HEALTHY
    accident: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request: when (seconds), of which question, with which fault, and its duration."""

    at: float
    question: int
    state: str = HEALTHY
    accident: str = ""
    seconds: float = 1.5


class ScoredPool(ABC):
    """Answers and their scores, made when they are first asked for.

    `states` are the names of the faults, HEALTHY the first.
    """

    def __init__(
        self, texts: Texts, vectors: Vectors, judge: NoisyJudge, states: Sequence[str]
    ) -> None:
        self.texts, self.vectors, self.judge = texts, vectors, judge
        self._states = tuple(states)
        self._runner = Runner(load_scorers(), judged=JUDGED)
        self._scored: dict[Case, ScoredRecord] = {}

    @abstractmethod
    def record_of(self, case: Case) -> RagRecord:
        """The record of what the service answers, at no time in particular."""
        ...

    @property
    def facts(self) -> dict[str, RubricFacts]:
        """What the store must know about each rubric."""
        return facts(self._runner)

    def prepare(self, state: str) -> None:
        """Scores what every question gets in a state, so that a run does not wait for it."""
        for question in self.texts.questions:
            self.scored(Case(question=question.number, state=state))

    def scored(self, case: Case) -> ScoredRecord:
        """The record of a case with the scores of code and local models."""
        if case not in self._scored:
            record = self.record_of(case)
            local = tuple(map(_as_proxy, relevance(record, self.vectors)))
            scores = (*self._runner.score_all(record), *local)
            self._scored[case] = ScoredRecord(record=record, scores=scores, shape=measure(record))
        return self._scored[case]

    def case_of(self, trace_id: str) -> Case:
        """The case that the request of a trace was."""
        return Case(
            question=int(trace_id[24:], 16),
            state=self._states[int(trace_id[16:20], 16)],
            accident=ACCIDENTS[int(trace_id[20:24], 16)],
        )

    def outcome(self, request: Request, serial: int, bars: LabelBars) -> Outcome:
        """What the pipeline makes of a request, with labels by `bars`; a sample is judged."""
        scored = self.scored(
            Case(question=request.question, state=request.state, accident=request.accident)
        )
        trace_id = (
            f"{serial:016x}{self._states.index(request.state):04x}"
            f"{ACCIDENTS.index(request.accident):04x}{request.question:08x}"
        )
        record = _placed(scored.record, request, trace_id=trace_id, record_id=f"{serial:016x}")
        shape = {**scored.shape, "seconds_total": request.seconds}
        ended = record.ended_unix_nano
        scores = (*bars.label(scored.scores, record, ended), *self._judged(record))
        return Outcome(
            trace=Trace(
                trace_id=trace_id,
                spans=(Span(trace_id=trace_id, span_id=record.record_id, end_unix_nano=ended),),
                closed=Closed.ROOT_ENDED,
                received_unix_nano=ended,
            ),
            outcome=TraceOutcome.SCORED,
            time_unix_nano=ended,
            records=(ScoredRecord(record=record, scores=scores, shape=shape),),
        )

    def _judged(self, record: RagRecord) -> list[Score]:
        """The judge's scores of a record of the sample."""
        if record.error or not is_sampled(record.trace_id, SAMPLED, SALT):
            return []
        scores = self.judge.scores(record, SAMPLE_RUBRICS)
        return [replace(score, inclusion_probability=SAMPLED) for score in scores]


def _placed(record: RagRecord, request: Request, *, trace_id: str, record_id: str) -> RagRecord:
    """The record under its own ids, at the time of its request."""
    ended, seconds = int(request.at * 1e9), request.seconds
    return replace(
        record,
        trace_id=trace_id,
        record_id=record_id,
        started_unix_nano=ended - int(seconds * 1e9),
        ended_unix_nano=ended,
        latencies=Latencies(total=seconds, retrieval=0.14 * seconds, generation=0.73 * seconds),
    )


def _as_proxy(score: Score) -> Score:
    """As local scoring writes it: the judge scores these rubrics, too."""
    assert score.kind is Kind.MODEL
    return replace(score, stream=Stream.PROXY if score.rubric in JUDGED else Stream.BASE)
