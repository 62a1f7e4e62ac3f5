"""Chunk utilization: what share of the context did the answer use?

    >>> from ragvigil import Document, RagRecord
    >>> used = Document(chunk_id="a", content="Card refunds take 5 to 7 business days to appear.")
    >>> idle = Document(chunk_id="b", content="The warehouse is closed on public holidays.")
    >>> record = RagRecord(record_id="1", trace_id="1", context=(used, idle),
    ...                    answer="A card refund appears: refunds take 5 to 7 business days.")
    >>> score = ChunkUtilization().score(record)
    >>> score.value, score.details["used"]
    (0.5, [{'chunk_id': 'a', 'sentences': [0]}])

A sentence of a chunk is used when it and one sentence of the answer say mostly the same: the
geometric mean of the share of its words that the answer's sentence has, and of the share of the
answer's sentence that it has, words weighted by length. A chunk is used when one of its sentences
is. Range 0..1, denominator the context; the share of sentences used stands beside it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt

from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score
from scorers.answer_complete_text import is_cut
from scorers.refusal import classify
from scorers.sentences import sentences
from scorers.tokens import tokens, weight

USED = 0.45
"""Least overlap of a used sentence; chosen on human-marked supporting sentences (CLAP NQ)."""
CACHED_CHUNKS = 2048
CACHED_CHARACTERS = 16_384


@dataclass(frozen=True, slots=True)
class Words:
    """The distinct words of a sentence and what they weigh together."""

    words: frozenset[str]
    total: int


class ChunkUtilization:
    """Scores `chunk_utilization`."""

    rubric = "chunk_utilization"

    def score(self, record: RagRecord) -> Score:
        """The share of the context's chunks that the answer used."""
        if not record.context:
            return Score.not_applicable(self.rubric, "nothing reached the prompt")
        if not record.answer:
            return Score.not_applicable(self.rubric, "there is no answer")
        if is_cut(record):
            return Score.not_applicable(self.rubric, "the answer was cut")
        if classify(record.answer).label == "refused":
            return Score.not_applicable(self.rubric, "the answer refused")
        said = words_of(record.answer)
        used, used_sentences, all_sentences = [], 0, 0
        for chunk in record.context:
            chunk_sentences = _prepared(chunk.content or "")
            hits = [i for i, one in enumerate(chunk_sentences) if overlap(one, said) >= USED]
            all_sentences += len(chunk_sentences)
            used_sentences += len(hits)
            if hits:
                used.append({"chunk_id": chunk.chunk_id, "sentences": hits})
        return Score(
            rubric=self.rubric,
            value=len(used) / len(record.context),
            explanation=f"{len(used)} of {len(record.context)} chunks used",
            details={
                "used": used,
                "sentence_share": round(used_sentences / all_sentences, 4)
                if all_sentences
                else None,
            },
        )


def overlap(sentence: Words, said: Iterable[Words]) -> float:
    """How much of one sentence the most similar of others says, 0..1.

    >>> overlap(words_of("it takes five days")[0], words_of("It takes five days."))
    1.0
    """
    best = 0.0
    for other in said:
        if sentence.words.isdisjoint(other.words):
            continue
        shared = sum(map(weight, sentence.words & other.words))
        best = max(best, shared * shared / (sentence.total * other.total))
    return sqrt(best)


def words_of(text: str) -> tuple[Words, ...]:
    """The words of each sentence of a text; sentences without words are left out."""
    distinct = (frozenset(tokens(one.text)) for one in sentences(text))
    return tuple(Words(words, sum(map(weight, words))) for words in distinct if words)


_remembered = lru_cache(maxsize=CACHED_CHUNKS)(words_of)


def _prepared(content: str) -> tuple[Words, ...]:
    """The words of a chunk's sentences; short chunks are remembered, since they come again."""
    return _remembered(content) if len(content) <= CACHED_CHARACTERS else words_of(content)
