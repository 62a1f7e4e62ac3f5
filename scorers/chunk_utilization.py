"""Chunk utilization: which share of the context did the answer use?

    >>> from ragvigil import Document, RagRecord
    >>> used = Document(chunk_id="a", content="Card refunds take 5 to 7 business days to appear.")
    >>> idle = Document(chunk_id="b", content="The warehouse is closed on public holidays.")
    >>> record = RagRecord(record_id="1", trace_id="1", context=(used, idle),
    ...                    answer="A card refund appears: refunds take 5 to 7 business days.")
    >>> score = ChunkUtilization().score(record)
    >>> score.value, score.details["used"]
    (0.5, [{'chunk_id': 'a', 'sentences': [0], 'places': [[0, 49]]}])

A sentence of a chunk is used if it overlaps with one sentence of the answer: overlap is the
geometric mean of the shares of their words that each has of the other, words weighted by length. A
chunk is used if one of its sentences is. Range 0..1, the denominator is the number of chunks in the
context; the details hold the share of sentences used. The threshold was chosen on CLAP NQ. An
answer that says all of it in other words uses nothing here; where local models are installed, they
look at such answers by meaning (`local/utilization.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt

from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score
from scorers.answer_complete_text import is_cut
from scorers.text.alignment import most_voted
from scorers.text.chunk_text import chunk_text
from scorers.text.sentences import cuts
from scorers.text.stance import classify
from scorers.text.tokens import ascii_words, tokens

USED = 0.45
"""Least overlap of a used sentence; chosen on human-marked supporting sentences (CLAP NQ)."""
PROBES = 4
"""Words looked up, and sentences of the answer compared, for one sentence of a chunk."""
FEW = 8
"""With at most this many sentences in an answer, all are compared: choosing would cost more."""
CACHED_ANSWERS, CACHED_TEXTS = 64, 131_072
"""Several scorers compare one answer with its chunks; records are scored in batches. Longer texts
(in characters, an answer and its chunks) are not cached: together they bound the cache's memory."""
CACHED_CHARACTERS = 16_384
"""What is made of longer chunks is not kept: one of them would take the room of many."""


@dataclass(frozen=True, slots=True)
class SentenceWords:
    """The set of words of a sentence and their total weight: the number of their letters.

    `start` and `end` are its character offsets in its text.
    """

    words: frozenset[str]
    total: int
    start: int = 0
    end: int = 0


class AnswerSentences:
    """The sentences of an answer, indexed by their words."""

    def __init__(self, answer: str) -> None:
        self.sentences = words_of(answer)
        self.words = frozenset[str]().union(*(sentence.words for sentence in self.sentences))
        self._by_word: dict[str, list[int]] = {}
        for place, sentence in enumerate(self.sentences):
            for word in sentence.words:
                places = self._by_word.setdefault(word, [])
                if len(places) < PROBES:  # bounds the work for a word that is in every sentence
                    places.append(place)

    def nearest(self, shared: frozenset[str]) -> Sequence[SentenceWords]:
        """Up to PROBES sentences that have most of the longest shared words.

        Keeps the time linear in the texts, however long the answer is.
        """
        if len(self.sentences) <= FEW:
            return self.sentences
        votes: dict[int, int] = {}
        for word in sorted(shared, key=_longest_first)[:PROBES]:
            for place in self._by_word[word]:
                votes[place] = votes.get(place, 0) + 1
        nearest = most_voted(votes, PROBES) if len(votes) > PROBES else votes
        return [self.sentences[place] for place in nearest]


class ChunkUtilization:
    """Scores `chunk_utilization`."""

    rubric = "chunk_utilization"

    def score(self, record: RagRecord) -> Score:
        """Scores the share of the context's chunks that the answer used."""
        if not record.context:
            return Score.not_applicable(self.rubric, "nothing reached the prompt")
        if not record.answer:
            return Score.not_applicable(self.rubric, "there is no answer")
        if is_cut(record):
            return Score.not_applicable(self.rubric, "the answer was cut")
        if classify(record.answer).label == "refused":
            return Score.not_applicable(self.rubric, "the answer refused")
        texts = tuple(chunk.content or "" for chunk in record.context)
        used, used_sentences, all_sentences = [], 0, 0
        compared = compare(record.answer, texts).used
        for chunk, text, hits in zip(record.context, texts, compared, strict=True):
            chunk_sentences = prepared_sentences(text)
            all_sentences += len(chunk_sentences)
            used_sentences += len(hits)
            if hits:
                places = [[chunk_sentences[i].start, chunk_sentences[i].end] for i in hits]
                used.append({"chunk_id": chunk.chunk_id, "sentences": [*hits], "places": places})
        return Score(
            rubric=self.rubric,
            value=len(used) / len(record.context),
            explanation=f"{len(used)} of {len(record.context)} chunks used",
            details={
                "looked": "words",
                "used": used,
                "sentence_share": round(used_sentences / all_sentences, 4)
                if all_sentences
                else None,
            },
        )


def _longest_first(word: str) -> tuple[int, str]:
    """Sort key: longest first, then by alphabet, since the order of a set differs between runs."""
    return -len(word), word


def overlap(sentence: SentenceWords, answer: AnswerSentences) -> float:
    """The overlap (0..1) of a sentence with the most similar sentence of an answer.

    >>> overlap(words_of("it takes five days")[0], AnswerSentences("It takes five days. Bye."))
    1.0
    """
    return max((share for _, share in _shares(sentence, answer)), default=0.0)


def _shares(
    sentence: SentenceWords, answer: AnswerSentences
) -> Iterator[tuple[SentenceWords, float]]:
    """The sentences of the answer that are compared with a chunk's, and their overlap."""
    shared = sentence.words & answer.words
    # The geometric mean is at most the root of the share that the whole answer has of the sentence,
    # so most sentences are rejected without comparing them one by one.
    if len("".join(shared)) < sentence.total * USED * USED:
        return
    for other in answer.nearest(shared):
        weight = len("".join(shared & other.words))
        yield other, sqrt(weight * weight / other.total / sentence.total)


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceSource:
    """A sentence of an answer by its offsets, and the places of the chunks that it repeats most."""

    start: int
    end: int
    chunks: frozenset[int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What an answer repeats: of each chunk the numbers of its sentences, and whence its own are.

    `sources` leaves out sentences that repeat no chunk.
    """

    used: tuple[tuple[int, ...], ...]
    sources: tuple[SentenceSource, ...]


def compare(answer: str, chunks: tuple[str, ...]) -> Comparison:
    """Compares each sentence of an answer with those of chunks. Caches short texts.

    >>> texts = ("Card refunds take five working days.", "The shop is closed on Sunday.")
    >>> compare("Refunds take five working days. Bye.", texts).sources
    (SentenceSource(start=0, end=31, chunks=frozenset({0})),)
    """
    is_short = len(answer) + sum(map(len, chunks)) <= CACHED_TEXTS
    return _cached_comparison(answer, chunks) if is_short else _compare(answer, chunks)


def _compare(answer: str, chunks: tuple[str, ...]) -> Comparison:
    said = AnswerSentences(answer)
    shares: dict[tuple[int, int], dict[int, float]] = {}
    used = []
    for place, text in enumerate(chunks):
        hits = []
        for number, written in enumerate(prepared_sentences(text)):
            near = [(other, share) for other, share in _shares(written, said) if share >= USED]
            for other, share in near:
                of_chunks = shares.setdefault((other.start, other.end), {})
                of_chunks[place] = max(share, of_chunks.get(place, 0.0))
            if near:
                hits.append(number)
        used.append(tuple(hits))
    sources = tuple(
        SentenceSource(start=start, end=end, chunks=_most(of_chunks))
        for (start, end), of_chunks in sorted(shares.items())
    )
    return Comparison(used=tuple(used), sources=sources)


_cached_comparison = lru_cache(maxsize=CACHED_ANSWERS)(_compare)


def _most(shares: Mapping[int, float]) -> frozenset[int]:
    most = max(shares.values())
    return frozenset(place for place, share in shares.items() if share == most)


def words_of(text: str) -> tuple[SentenceWords, ...]:
    """The words of each sentence of a text; leaves out sentences without words."""
    places = cuts(text)
    if text.isascii():
        plain = ascii_words(text)
        distinct = [frozenset(plain[start:end].split()) for start, end in places]
    else:
        distinct = [frozenset(tokens(text[start:end])) for start, end in places]
    return tuple(
        [
            SentenceWords(words, len("".join(words)), start, end)
            for words, (start, end) in zip(distinct, places, strict=True)
            if words
        ]
    )


def prepared_sentences(content: str) -> tuple[SentenceWords, ...]:
    """The words of a chunk's sentences. Caches short chunks: the same ones are retrieved again."""
    if len(content) > CACHED_CHARACTERS:
        return words_of(content)
    return chunk_text(content).derived(words_of)
