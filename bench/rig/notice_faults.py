"""A service with a retriever, a reranker and a system prompt, healthy in its modes and with faults.

Each question asks for a few documents of its topic; the retriever returns eight chunks, the
reranker keeps five. Everything follows from the seed, and nothing from how changes are noticed.
"""

from __future__ import annotations

import bisect
import itertools
import random
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum

from alerts.notices.fingerprint import NO_RERANKER, VALUES, Chunk, Fingerprint, mean, short
from collector.record.prompt_template import template_of
from ragvigil.model.notice import ChangeKind
from ragvigil.model.record import Absent

DAY, HOUR = 86_400, 3_600
TOPICS, DOCUMENTS_OF_TOPIC, CHUNKS_OF_DOCUMENT = 12, 15, 5
QUESTIONS_OF_TOPIC = 25
RETRIEVED, KEPT = 8, 5
BATCH_TOPIC = 100
SENTENCES = (
    "You answer questions of customers.",
    "Use only the passages below, and cite each as [n].",
    "If the passages do not answer the question, say so.",
    "Be brief and polite.",
    "Never give advice on taxes.",
    "Answer in the language of the question.",
)
OTHER_TENANT = (
    "Du hilfst den Mitarbeitern der Werkstatt.",
    "Antworte in Stichworten.",
    "Nenne zu jeder Aussage die Quelle.",
)
ZIPF = list(itertools.accumulate(1 / rank for rank in range(1, QUESTIONS_OF_TOPIC + 1)))
WRONG_SHARE = 0.3
STATED: Mapping[ChangeKind, str] = {
    ChangeKind.LLM_MODEL: "m-1",
    ChangeKind.RERANKER: "rerank-1",
    ChangeKind.PROMPT: "v3",
    ChangeKind.TOP_K: "8",
    ChangeKind.TEMPERATURE: "0",
}


class Mode(StrEnum):
    """What a healthy service does."""

    CALM = "calm"
    WANDERING = "topics wander"
    POPULAR = "one popular question an hour a day"
    TENANTS = "two tenants' prompts"
    DATED = "a date in the prompt"
    BATCH = "a weekly batch"


class Trouble(StrEnum):
    """What happens to it."""

    WRONG_CHUNKS = "other chunks for 30 % of requests"
    HALF_GONE = "half of the documents gone"
    STALE = "old versions of some documents"
    REVERSED = "reranker reversed, worst kept"
    NO_RERANKER = "reranker off"
    UPSIDE_DOWN = "the same chunks upside down"
    EMBEDDER = "embedder changed"
    CHUNKER = "chunker changed"
    TOP_K = "top-k doubled"
    JUNK = "three junk chunks for every question"
    SENTENCE = "one sentence of the prompt edited"
    VERSION = "another version of the same prompt"
    MODEL = "model swapped"
    NO_TEXTS = "chunk texts no longer sent"
    ANSWERS = "only answers are worse"


NAMED: Mapping[Trouble, frozenset[ChangeKind]] = {
    Trouble.WRONG_CHUNKS: frozenset({ChangeKind.OTHER_CHUNKS}),
    Trouble.HALF_GONE: frozenset({ChangeKind.DOCUMENTS}),
    Trouble.STALE: frozenset({ChangeKind.DOCUMENTS}),
    Trouble.REVERSED: frozenset({ChangeKind.RERANKED}),
    Trouble.NO_RERANKER: frozenset({ChangeKind.RERANKER}),
    Trouble.UPSIDE_DOWN: frozenset({ChangeKind.OTHER_ORDER}),
    Trouble.EMBEDDER: frozenset({ChangeKind.REEMBEDDED, ChangeKind.OTHER_CHUNKS}),
    Trouble.CHUNKER: frozenset({ChangeKind.RECHUNKED}),
    Trouble.TOP_K: frozenset({ChangeKind.TOP_K, ChangeKind.CHUNK_COUNT}),
    Trouble.JUNK: frozenset({ChangeKind.OTHER_CHUNKS}),
    Trouble.SENTENCE: frozenset({ChangeKind.PROMPT}),
    Trouble.VERSION: frozenset({ChangeKind.RELEASE}),
    Trouble.MODEL: frozenset({ChangeKind.LLM_MODEL}),
    Trouble.NO_TEXTS: frozenset(),
    Trouble.ANSWERS: frozenset(),
}
"""The kinds that name each trouble rightly; none where nothing of the setup changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One chunk of a document, with its score for a question."""

    document: int
    part: int
    score: float


class FaultyService:
    """One route. `request` gives the next fingerprint; time decides what a mode does."""

    def __init__(self, mode: Mode, seed: int, *, has_ids: bool = True) -> None:
        self.mode, self.seed, self._has_ids = mode, seed, has_ids
        self._chance = random.Random(seed)
        self._gone = {document for document in range(TOPICS * DOCUMENTS_OF_TOPIC)
                      if random.Random(f"{seed} gone {document}").random() < 0.5}  # fmt: skip
        self._found: dict[int, list[Passage]] = {}

    def request(self, at: int, trouble: Trouble | None = None) -> Fingerprint:
        """The next request at a time in seconds, in trouble or not."""
        question = self._question(at)
        retrieved = self._retrieved(question, trouble)
        shown = self._shown(question, retrieved, trouble)
        chunks = tuple(self._chunk(passage, trouble) for passage in retrieved)
        by_chunk = dict(zip(retrieved, chunks, strict=True))
        is_blind = trouble is Trouble.NO_TEXTS
        scores = [chunk.score for chunk in chunks if chunk.score is not None]
        values = dict(STATED)
        if trouble is Trouble.NO_RERANKER:
            values[ChangeKind.RERANKER] = NO_RERANKER
        if trouble is Trouble.MODEL:
            values[ChangeKind.LLM_MODEL] = "m-2"
        if trouble is Trouble.VERSION:
            values[ChangeKind.PROMPT] = "v4"
        values[ChangeKind.TOP_K] = str(len(chunks))
        return Fingerprint(
            place=("synthetic", "bench", "/ask"),
            time_unix_nano=at * 10**9,
            question=short(str(question)),
            chunks=chunks,
            by_text=not is_blind,
            shown=tuple(by_chunk[passage].text for passage in shown),
            template=self._template(at, trouble),
            lacks={"document_texts": Absent.HIDDEN} if is_blind else {},
            values=tuple(values.get(kind, "") for kind in VALUES),
            numbers=(float(len(chunks)), float(len(shown)),
                     mean(chunk.length for chunk in chunks), max(scores), mean(scores)),
        )  # fmt: skip

    def _question(self, at: int) -> int:
        """A question: its topic times QUESTIONS_OF_TOPIC plus its rank there."""
        hour, day = at // HOUR % 24, at // DAY
        if self.mode is Mode.POPULAR and hour == 14 and self._chance.random() < 0.6:
            # Of the day's news: nobody asked it before.
            return (TOPICS + day % 7) * QUESTIONS_OF_TOPIC
        topic = self._topic(at)
        if self.mode is Mode.BATCH and at // DAY % 7 == 3 and hour == 3:
            topic = BATCH_TOPIC + self._chance.randrange(8)
        rank = bisect.bisect_left(ZIPF, self._chance.random() * ZIPF[-1])
        return topic * QUESTIONS_OF_TOPIC + rank

    def _topic(self, at: int) -> int:
        if self.mode is not Mode.WANDERING:
            return min(int(self._chance.paretovariate(0.7)) - 1, TOPICS - 1)
        # Every few hours another topic comes up, every third one for the first time.
        turn = at // (5 * HOUR)
        if self._chance.random() < 0.6:
            fashion = random.Random(f"{self.seed} {turn}")
            return TOPICS + turn % 60 if fashion.random() < 0.33 else fashion.randrange(TOPICS)
        return self._chance.randrange(TOPICS)

    def _retrieved(self, question: int, trouble: Trouble | None) -> list[Passage]:
        if trouble is Trouble.JUNK:
            return [Passage(document=-1, part=part, score=0.55 - part / 50) for part in range(3)]
        if trouble is Trouble.WRONG_CHUNKS:
            # Chunks of another question, with scores as usual.
            question = self._chance.randrange(TOPICS * QUESTIONS_OF_TOPIC)
        found = self._ranked(question)
        if trouble is Trouble.EMBEDDER:
            chance = random.Random(f"{self.seed} {question} embedder")
            found = [replace(p, score=0.8 * p.score + 0.15 * chance.random()) for p in found]
            found.sort(key=lambda passage: -passage.score)
        if trouble is Trouble.HALF_GONE:
            found = [passage for passage in found if passage.document not in self._gone]
        return found[: 2 * RETRIEVED if trouble is Trouble.TOP_K else RETRIEVED]

    def _ranked(self, question: int) -> list[Passage]:
        """All chunks of the question's topic, the most relevant first."""
        if question not in self._found:
            chance = random.Random(f"{self.seed} {question}")
            topic = question // QUESTIONS_OF_TOPIC
            first = topic * DOCUMENTS_OF_TOPIC
            about = {first + chance.randrange(DOCUMENTS_OF_TOPIC): 0.3 - place / 20
                     for place in range(4)}  # fmt: skip
            passages = [
                Passage(
                    document=document,
                    part=part,
                    score=round(0.4 + about.get(document, 0.0) + 0.2 * chance.random(), 4),
                )
                for document in range(first, first + DOCUMENTS_OF_TOPIC)
                for part in range(CHUNKS_OF_DOCUMENT)
            ]
            self._found[question] = sorted(passages, key=lambda passage: -passage.score)
        return self._found[question]

    def _shown(
        self, question: int, retrieved: list[Passage], trouble: Trouble | None
    ) -> list[Passage]:
        if trouble is Trouble.NO_RERANKER:
            return retrieved[:KEPT]
        by_worth = sorted(
            retrieved, key=lambda p: -random.Random(f"{question} {p.document} {p.part}").random()
        )
        if trouble is Trouble.REVERSED:
            return by_worth[::-1][:KEPT]
        kept = by_worth[: 2 * KEPT if trouble is Trouble.TOP_K else KEPT]
        return kept[::-1] if trouble is Trouble.UPSIDE_DOWN else kept

    def _chunk(self, passage: Passage, trouble: Trouble | None) -> Chunk:
        """A chunk; an old version is another text, a new cut another text of another length."""
        is_old = trouble is Trouble.STALE and short(f"old {passage.document}") % 6 == 0
        cut = trouble is Trouble.CHUNKER
        length = 400 + short(f"{passage.document} {passage.part}") % 300
        name = f"{passage.document} {passage.part} {is_old} {cut} {trouble is Trouble.NO_TEXTS}"
        return Chunk(
            text=short(name),
            document=f"d{passage.document}" if self._has_ids else "",
            length=None if trouble is Trouble.NO_TEXTS else length // 2 if cut else length,
            score=passage.score,
        )

    def _template(self, at: int, trouble: Trouble | None) -> tuple[int, ...]:
        sentences = list(SENTENCES)
        hour = at // HOUR % 24
        if self.mode is Mode.TENANTS and 8 <= hour < 18 and self._chance.random() < 0.4:
            sentences = list(OTHER_TENANT)
        if self.mode is Mode.DATED:
            now = datetime.fromtimestamp(at, UTC)
            sentences.insert(1, f"Today is {now:%A, %d %B %Y}, and it is {now:%H:%M} UTC.")
        if trouble is Trouble.SENTENCE:
            sentences[-2] = "Never give advice on taxes, law or health."
        return template_of([" ".join(sentences)])
