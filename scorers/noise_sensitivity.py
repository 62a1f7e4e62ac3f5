"""Noise sensitivity: does the answer to a golden question rest on the gold chunks, or on others?

    >>> from ragvigil import Document, RagRecord
    >>> from scorers.golden import parse_case
    >>> case = parse_case({"question": "How long is it?", "gold_chunk_ids": ["a"]})
    >>> chunks = (
    ...     Document(chunk_id="a", content="Card refunds take five working days."),
    ...     Document(chunk_id="b", content="Vouchers are sent by letter within three weeks."),
    ... )
    >>> record = RagRecord(record_id="1", trace_id="1", query="how long is it", context=chunks,
    ...     answer="Card refunds take five working days. Vouchers are sent within three weeks.")
    >>> score = NoiseSensitivity([case]).score(record)
    >>> score.value, score.explanation
    (0.5, '1 of 2 sentences rest on a gold chunk')

Of the answer's sentences that repeat a chunk of the prompt, the share whose nearest chunk is a gold
one: 1 = no noise got into the answer. Sentences that repeat no chunk count for `groundedness`.
Range 0..1. Only where a record asks a golden question and a gold chunk is in its prompt: without
one it is retrieval that failed.

Source: Ragas, noise sensitivity, upside down, and by words instead of a model.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Self

from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score
from scorers.chunk_utilization import compare
from scorers.context_recall import matches
from scorers.golden import Case, question_key, read_golden
from scorers.settings import ScorersSettings


class NoiseSensitivity:
    """Scores `noise_sensitivity`."""

    rubric = "noise_sensitivity"
    is_sparse = True

    def __init__(self, cases: Iterable[Case] = ()) -> None:
        self._cases = {question_key(case.question): case for case in cases}

    @classmethod
    def from_settings(cls, settings: ScorersSettings) -> Self:
        """A scorer with the cases of `[scorers] golden`. Raises BadGolden."""
        return cls(read_golden(settings.golden).values() if settings.golden else ())

    def score(self, record: RagRecord) -> Score:
        """Scores the share of the repeated sentences that rest on a gold chunk."""
        case = self._cases.get(question_key(record.query or "")) if self._cases else None
        if case is None or not case.gold:
            return Score.not_applicable(self.rubric, "no golden case asks this")
        gold = {place for found in matches(case.gold, record.context) for place in found}
        if not gold:
            return Score.not_applicable(self.rubric, "no gold chunk is in the prompt")
        texts = tuple(chunk.content or "" for chunk in record.context)
        nearest = [source.chunks for source in compare(record.answer or "", texts).sources]
        if not nearest:
            return Score.not_applicable(self.rubric, "no sentence repeats a chunk")
        on_gold = sum(not gold.isdisjoint(near) for near in nearest)
        return Score(
            rubric=self.rubric,
            value=on_gold / len(nearest),
            explanation=f"{on_gold} of {len(nearest)} sentences rest on a gold chunk",
            details={"matched": "words"},
        )
