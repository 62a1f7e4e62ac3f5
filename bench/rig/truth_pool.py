"""The answers of the second service, and what is true of each."""

from __future__ import annotations

from bench.rig.scored_pool import HEALTHY, Case, ScoredPool
from bench.rig.truth_faults import SETUPS
from bench.rig.truth_judge import LabelJudge
from bench.rig.truth_service import Desk, Response, Setup, respond
from bench.rig.truth_spans import trace_of
from bench.rig.truth_texts import Texts
from bench.rig.truth_vectors import Vectors
from collector.record.build import records
from ragvigil.model.record import RagRecord


class Pool(ScoredPool):
    """See `ScoredPool`; the judge answers from what is true."""

    def __init__(self, texts: Texts, vectors: Vectors) -> None:
        super().__init__(texts, vectors, LabelJudge(truth_of=self.truth_of), (HEALTHY, *SETUPS))
        corpus = [chunk.text for chunks in texts.corpora.values() for chunk in chunks]
        every = list(dict.fromkeys([*corpus, *(one.text for one in texts.questions)]))
        known = dict(zip(every, vectors.embed(every), strict=True))
        self._desk = Desk(texts, known, vectors.embed)
        self._responses: dict[Case, Response] = {}

    def record_of(self, case: Case) -> RagRecord:
        """The record of what the service answers."""
        (record,) = records(trace_of(self.response(case)))
        return record

    def response(self, case: Case) -> Response:
        """What the service does in a case."""
        if case not in self._responses:
            setup = SETUPS[case.state] if case.state else Setup()
            question = self.texts.questions[case.question]
            self._responses[case] = respond(self._desk, question, setup, case.accident)
        return self._responses[case]

    def truth_of(self, trace_id: str) -> Response:
        """What the service did in the request of this trace."""
        return self.response(self.case_of(trace_id))

    def harm(self, state: str) -> float:
        """The share of questions that a fault answers worse than the healthy service does."""
        worse = [
            _badness(self.response(Case(question=question.number, state=state)))
            > _badness(self.response(Case(question=question.number)))
            for question in self.texts.questions
        ]
        return round(sum(worse) / len(worse), 3)


def _badness(response: Response) -> float:
    """What a user misses in an answer: what it leaves out, makes up, or has wrong."""
    is_lost = response.is_cut or response.has_failed or not response.text
    wrong = sum(not (part.is_supported and part.is_true) for part in response.parts)
    return 1 - response.quality + wrong + is_lost
