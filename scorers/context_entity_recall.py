"""Context entity recall: are the names and numbers of the golden answer among what was retrieved?

    >>> from ragvigil import Document, RagRecord
    >>> from scorers.golden import parse_case
    >>> case = parse_case({"question": "Who pays?", "gold_answer": "In 2021 the Visa fund."})
    >>> chunk = Document(chunk_id="a", content="The fund of VISA pays all fees.")
    >>> record = RagRecord(record_id="1", trace_id="1", query="who pays", retrieved=(chunk,))
    >>> score = ContextEntityRecall([case]).score(record)
    >>> score.value, score.explanation, score.details["missing"]
    (0.5, '1 of 2 names and numbers retrieved', ['2021'])

The share of the distinct names and numbers of the answer that a golden case expects, or else of its
gold texts, that a retrieved chunk has. A name is a capitalised word inside a sentence, or one in
capitals. Range 0..1. Only where a record asks a golden question that expects any.

Source: Ragas, context entities recall, by code instead of a model.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score
from scorers.golden import Case, question_key, read_golden
from scorers.settings import ScorersSettings
from scorers.text.normalise import is_number, words
from scorers.text.support import NAME

SHOWN = 20


class ContextEntityRecall:
    """Scores `context_entity_recall`."""

    rubric = "context_entity_recall"
    is_sparse = True

    def __init__(self, cases: Iterable[Case] = ()) -> None:
        self._cases = {question_key(case.question): case for case in cases}

    @classmethod
    def from_settings(cls, settings: ScorersSettings) -> Self:
        """A scorer with the cases of `[scorers] golden`. Raises BadGolden."""
        return cls(read_golden(settings.golden).values() if settings.golden else ())

    def score(self, record: RagRecord) -> Score:
        """Scores the share of the expected names and numbers that were retrieved."""
        case = self._cases.get(question_key(record.query or "")) if self._cases else None
        expected = entities(case) if case else ()
        if not expected:
            return Score.not_applicable(self.rubric, "no golden case expects a name or number")
        if "retrieved" in record.truncated or any(c.content is None for c in record.retrieved):
            reason = "document_texts is not wholly known, so a name may be there unseen"
            return Score.not_applicable(self.rubric, reason, absent="document_texts")
        known = {word for chunk in record.retrieved for word in words(chunk.content or "")}
        missing = [word for word in expected if word not in known]
        return Score(
            rubric=self.rubric,
            value=1 - len(missing) / len(expected),
            explanation=f"{len(expected) - len(missing)} of {len(expected)} names and numbers "
            "retrieved",
            details={"matched": "words", "missing": missing[:SHOWN]},
        )


def entities(case: Case) -> tuple[str, ...]:
    """The distinct names and numbers of a case's answer, else of its gold texts, normalised."""
    text = case.gold_answer or "\n".join(gold.text for gold in case.gold)
    names = {word for name in NAME.findall(text) for word in words(name)}
    return tuple(dict.fromkeys(word for word in words(text) if word in names or is_number(word)))
