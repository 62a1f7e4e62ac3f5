"""Every answer that the second service can give, scored once by the real scorers.

An answer is a question, a fault that is at work or none, and what went wrong by itself or nothing.
Its trace id names all three, so that a judge can find what is true about it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from bench.rig.truth_faults import SETUPS
from bench.rig.truth_judge import LabelJudge
from bench.rig.truth_service import NATURAL, Desk, Response, Setup, respond
from bench.rig.truth_spans import trace_of
from bench.rig.truth_texts import Texts
from bench.rig.truth_vectors import Vectors
from collector.record.build import records
from ragvigil.app.parts import facts
from ragvigil.model.outcome import Outcome, ScoredRecord, TraceOutcome
from ragvigil.model.record import Latencies, RagRecord
from ragvigil.model.score import Kind, Score, Stream
from ragvigil.model.span import Closed, Span, Trace
from ragvigil.store.records.traces import RubricFacts
from scorers.judge.job import families
from scorers.judge.sampling import is_sampled
from scorers.local.relevance import relevance
from scorers.record_shape import measure
from scorers.rubric import load_rubrics
from scorers.runner import Runner, load_scorers

HEALTHY = ""
STATES = (HEALTHY, *SETUPS)
ACCIDENTS = ("", *NATURAL)
JUDGED = frozenset(rubric.name for family in families(load_rubrics()) for rubric in family)
SAMPLED, SALT = 0.07, "truth"
SAMPLE_RUBRICS = ("context_relevance", "groundedness", "answer_relevance")
"""What the judge asks of the sample; audits ask what their settings say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request: when (seconds), of which question, with which fault, and its duration."""

    at: float
    question: int
    state: str = HEALTHY
    accident: str = ""
    seconds: float = 1.5


@dataclass(slots=True)
class Pool:
    """Answers and their scores, made when they are first asked for."""

    texts: Texts
    vectors: Vectors
    desk: Desk = field(init=False)
    judge: LabelJudge = field(init=False)
    _runner: Runner = field(init=False)
    _scored: dict[tuple[int, str, str], tuple[Response, ScoredRecord]] = field(init=False)

    def __post_init__(self) -> None:
        corpus = [chunk.text for chunks in self.texts.corpora.values() for chunk in chunks]
        every = list(dict.fromkeys([*corpus, *(one.text for one in self.texts.questions)]))
        known = dict(zip(every, self.vectors.embed(every), strict=True))
        self.desk = Desk(self.texts, known, self.vectors.embed)
        self.judge = LabelJudge(self.truth_of)
        self._runner = Runner(load_scorers(), judged=JUDGED)
        self._scored = {}

    @property
    def facts(self) -> dict[str, RubricFacts]:
        """What the store must know about each rubric."""
        return facts(self._runner)

    def prepare(self, state: str) -> None:
        """Scores what every question gets in a state, so that a run does not wait for it."""
        for question in self.texts.questions:
            self.scored(question.number, state, "")

    def scored(self, number: int, state: str, accident: str) -> tuple[Response, ScoredRecord]:
        """What the service does, and its record with the scores of code and local models."""
        key = (number, state, accident)
        if key not in self._scored:
            setup = SETUPS[state] if state else Setup()
            response = respond(self.desk, self.texts.questions[number], setup, accident)
            (record,) = records(trace_of(response))
            local = tuple(map(_as_proxy, relevance(record, self.vectors)))
            scores = (*self._runner.score_all(record), *local)
            scored = ScoredRecord(record=record, scores=scores, shape=measure(record))
            self._scored[key] = (response, scored)
        return self._scored[key]

    def harm(self, state: str) -> float:
        """The share of questions that a fault answers worse than the healthy service does."""
        worse = [
            _badness(self.scored(question.number, state, "")[0])
            > _badness(self.scored(question.number, HEALTHY, "")[0])
            for question in self.texts.questions
        ]
        return round(sum(worse) / len(worse), 3)

    def truth_of(self, trace_id: str) -> Response:
        """What the service did in the request of this trace."""
        state, accident = STATES[int(trace_id[16:20], 16)], ACCIDENTS[int(trace_id[20:24], 16)]
        return self.scored(int(trace_id[24:], 16), state, accident)[0]

    def outcome(self, request: Request, serial: int) -> Outcome:
        """What the pipeline makes of a request; a sample of them is judged."""
        _, scored = self.scored(request.question, request.state, request.accident)
        trace_id = (
            f"{serial:016x}{STATES.index(request.state):04x}"
            f"{ACCIDENTS.index(request.accident):04x}{request.question:08x}"
        )
        record = _placed(scored.record, request, trace_id=trace_id, record_id=f"{serial:016x}")
        shape = {**scored.shape, "seconds_total": request.seconds}
        scores = (*scored.scores, *self._judged(record))
        ended = record.ended_unix_nano
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


def _badness(response: Response) -> float:
    """What a user misses in an answer: what it leaves out, makes up, or has wrong."""
    is_lost = response.is_cut or response.has_failed or not response.text
    wrong = sum(not (part.is_supported and part.is_true) for part in response.parts)
    return 1 - response.quality + wrong + is_lost


def _as_proxy(score: Score) -> Score:
    """As local scoring writes it: the judge scores these rubrics, too."""
    assert score.kind is Kind.MODEL
    return replace(score, stream=Stream.PROXY if score.rubric in JUDGED else Stream.BASE)
