"""Requests of a service as they are stored, with what went wrong and what was measured."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from itertools import count

from ragvigil.model.outcome import Outcome
from ragvigil.model.score import Kind, Layer, Score, Stream
from ragvigil.store.engine.store import Store
from ragvigil.store.records.traces import RubricFacts, TraceRows
from ragvigil.store.scores import rollups
from tests.outcomes import NOW, SECOND, outcome_of

VERSIONS = count(NOW)

FACTS = {
    name: RubricFacts(version="1", fails_below=1.0)
    for name in ("citation_validity", "answer_complete_text", "injected_context", "answer_language")
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """One request at `time` (seconds); the defaults are a good one."""

    number: int
    time: int
    route: str = "/ask"
    validity: float | None = 1.0
    label: str = "answered"
    retrieval: str = ""
    ending: str = ""
    error: str | None = None
    local: float | None = None
    local_label: str = ""
    query: str | None = None
    is_irrelevant: bool | None = None
    language: float | None = None
    measures: dict[str, float] = field(default_factory=lambda: {"answer_words": 90.0})

    def outcome(self) -> Outcome:
        """The closed and scored trace."""
        made = outcome_of(
            self.number,
            route=self.route,
            time_unix_nano=self.time * SECOND,
            received=self.time * SECOND,
        )
        scores = [
            Score(rubric="citation_validity", value=self.validity, scorer="c", version="1"),
            Score(rubric="refusal", label=self.label, layer=Layer.GENERATION),
            Score(
                rubric="retrieval_shape",
                value=0.0 if self.retrieval else 1.0,
                label=self.retrieval,
                layer=Layer.RETRIEVAL,
            ),
            Score(
                rubric="answer_complete_text",
                value=0.0 if self.ending else 1.0,
                label=self.ending,
                layer=Layer.GENERATION,
            ),
        ]
        if self.local is not None:
            scores.append(
                Score(
                    rubric="groundedness",
                    value=self.local,
                    label=self.local_label,
                    kind=Kind.MODEL,
                    stream=Stream.PROXY,
                    scorer="m",
                )
            )
        if self.is_irrelevant is not None:
            scores.append(
                Score(
                    rubric="context_relevance",
                    value=0.02 if self.is_irrelevant else 0.6,
                    label="none_relevant" if self.is_irrelevant else "",
                    kind=Kind.MODEL,
                    stream=Stream.PROXY,
                    scorer="m",
                )
            )
        if self.language is not None:
            scores.append(Score(rubric="answer_language", value=self.language, scorer="l"))
        stored = made.records[0]
        record = replace(stored.record, error=self.error, query=self.query or stored.record.query)
        scored = replace(stored, record=record, scores=tuple(scores), shape=self.measures)
        return replace(made, records=(scored,))


def write(store: Store, served: Iterable[Served]) -> None:
    """Stores the requests and counts their minutes again, as the daemon does."""
    rows = TraceRows(FACTS)
    for request in served:
        rows.add(request.outcome())
    written = store.write(rows.take())
    rollups.recompute(store, written.minutes, version=next(VERSIONS))
