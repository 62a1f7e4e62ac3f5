"""The help desk's answers, healthy and with each of its faults, and what is true of the faults."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from statistics import fmean

from alerts.audits.settings import AuditSettings
from bench.rig.faults_judge import TextJudge
from bench.rig.helpdesk_answers import HEALTHY as NO_FAULT
from bench.rig.helpdesk_answers import answers
from bench.rig.scored_pool import HEALTHY, SAMPLE_RUBRICS, Case, ScoredPool
from bench.rig.truth_faults import Fault, Truth
from bench.rig.truth_texts import Question, Texts
from bench.rig.truth_vectors import Vectors
from bench.rig.watch_expected import Means, broken_rates
from bench.rig.watch_expected import Truth as Effect
from examples.helpdesk.faults import Fault as Switch
from ragvigil.model.notice import ChangeKind
from ragvigil.model.record import RagRecord

LAYERS: Mapping[Switch, Truth] = {
    Switch.CHUNKER_CHANGE: Truth.RETRIEVAL,
    Switch.EMBEDDER_CHANGE: Truth.RETRIEVAL,
    Switch.RERANKER_OFF: Truth.RETRIEVAL,
    Switch.TOP_K_DOUBLED: Truth.RETRIEVAL,
    Switch.DROPPED_CITATIONS: Truth.GENERATION,
    Switch.FABRICATED_QUOTES: Truth.GENERATION,
    Switch.TRUNCATION: Truth.GENERATION,
    Switch.OVER_REFUSAL: Truth.GENERATION,
    Switch.STALE_CORPUS: Truth.CORPUS,
    Switch.INJECTED_DOCUMENT: Truth.CORPUS,
}
"""The layer to blame, as the help desk's own page says."""
DIMENSIONS: Mapping[str, frozenset[ChangeKind]] = {
    Switch.CHUNKER_CHANGE: frozenset({ChangeKind.INDEX, ChangeKind.RECHUNKED}),
    Switch.EMBEDDER_CHANGE: frozenset({ChangeKind.EMBEDDING_MODEL}),
    Switch.RERANKER_OFF: frozenset({ChangeKind.RERANKER}),
    Switch.TOP_K_DOUBLED: frozenset({ChangeKind.TOP_K, ChangeKind.CHUNK_COUNT}),
    Switch.DROPPED_CITATIONS: frozenset({ChangeKind.PROMPT}),
    Switch.FABRICATED_QUOTES: frozenset({ChangeKind.PROMPT}),
    Switch.TRUNCATION: frozenset({ChangeKind.MAX_TOKENS}),
    Switch.OVER_REFUSAL: frozenset({ChangeKind.PROMPT}),
    Switch.STALE_CORPUS: frozenset({ChangeKind.INDEX, ChangeKind.DOCUMENTS}),
}
"""The changes of what the spans state that name a fault rightly; an injected page states none."""
COSTS = frozenset({Switch.TOP_K_DOUBLED})
"""What costs tokens, and wakes nobody."""
SEEN = sorted({*SAMPLE_RUBRICS, *AuditSettings().rubrics, *AuditSettings().then})
"""The rubrics that the watch asks its judge for."""


class DeskPool(ScoredPool):
    """See `ScoredPool`; nothing goes wrong by itself, and the judge sees texts alone."""

    def __init__(self, vectors: Vectors, *, each: int, switches: tuple[Switch, ...]) -> None:
        told = answers(switches, most=each)
        self._asked = tuple(told[NO_FAULT])
        self._told = {HEALTHY: told.pop(NO_FAULT), **told}
        routes = dict.fromkeys(route for route, _ in self._asked)
        questions = tuple(
            Question(number=number, route=route, text=text, sentences=())
            for number, (route, text) in enumerate(self._asked)
        )
        texts = Texts(questions=questions, corpora=dict.fromkeys(routes, ()))
        super().__init__(texts, vectors, TextJudge(), tuple(self._told))

    def record_of(self, case: Case) -> RagRecord:
        """The record of what the help desk answers."""
        return self._told[case.state][self._asked[case.question]].record

    def fault(self, switch: Switch) -> Fault:
        """A fault and its truth; whom it must wake is what it does to the scores."""
        must_not = switch in COSTS
        return Fault(
            name=switch.value,
            truth=LAYERS[switch],
            must_page=not must_not and self.effect(switch).must_page,
            must_not_page=must_not,
        )

    def effect(self, state: str) -> Effect:
        """What a fault does to the means of a judge that never errs, and to the broken rates."""
        before, after = self._means(HEALTHY), self._means(state)
        change = {name: after[name] - before[name] for name in after if name in before}
        rates = broken_rates([told.record for told in self._told[state].values()])
        return Effect(fault=state, change=change, rates=rates)

    def _means(self, state: str) -> Means:
        judge, values = TextJudge(noise=0.0), defaultdict[str, list[float]](list)
        for told in self._told[state].values():
            for score in judge.scores(told.record, SEEN):
                if score.rubric in SEEN and score.value is not None:
                    values[score.rubric].append(score.value)
        return {name: fmean(each) for name, each in values.items()}
