"""Services of other shapes, as fingerprints: 20,000 chunks, prompts per user or tenant, A/B."""

from __future__ import annotations

import bisect
import itertools
import random
from dataclasses import dataclass

from alerts.notices.fingerprint import VALUES, Chunk, Fingerprint, mean, short
from ragvigil.model.notice import ChangeKind

CHUNKS, CHUNKS_PER_DOCUMENT = 20_000, 4
QUESTIONS = 20_000
FOUND = 6
PROMPT, MODEL = VALUES.index(ChangeKind.PROMPT), VALUES.index(ChangeKind.LLM_MODEL)
ZIPF = list(itertools.accumulate(1 / rank for rank in range(1, CHUNKS + 1)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What a service sends: `asks_again` whether questions repeat (by Zipf), or all are new."""

    name: str
    asks_again: bool = True
    documents: bool = True
    scores: bool = True
    prompts: str = "one"
    models: tuple[str, ...] = ("m-1",)


SHAPES = (
    Shape(name="large"),
    Shape(name="all_questions_new", asks_again=False),
    Shape(name="no_scores", scores=False),
    Shape(name="prompt_per_user", prompts="user"),
    Shape(name="prompt_per_tenant_two_models", prompts="tenant", models=("m-1", "m-2")),
    Shape(name="no_ids", documents=False),
)
CHANGES = ("re-chunk", "re-embed", "edit", "model", "prompt")


class Service:
    """One route of a service; every question finds the same until something changes."""

    def __init__(self, shape: Shape, seed: int) -> None:
        self.shape, self.seed = shape, seed
        self._chance = random.Random(seed)
        self._asked = 0
        documents = list(range(CHUNKS))
        random.Random(seed + 1).shuffle(documents)
        self._document = [f"d{document // CHUNKS_PER_DOCUMENT}" for document in documents]

    def request(self, at: int, change: str = "") -> Fingerprint:
        """The next request at this time (nanoseconds), with a change or none."""
        question = self._question()
        chunks = tuple(self._chunks(question, change))
        scores = [chunk.score for chunk in chunks if chunk.score is not None]
        values = [""] * len(VALUES)
        values[MODEL] = "m-9" if change == "model" else self._chance.choice(self.shape.models)
        values[PROMPT] = self._prompt() + (" 2" if change == "prompt" else "")
        lengths = mean(chunk.length for chunk in chunks)
        return Fingerprint(
            place=("synthetic", "bench", self.shape.name),
            time_unix_nano=at,
            question=short(str(question)),
            chunks=chunks,
            values=tuple(values),
            numbers=(FOUND, FOUND, lengths, max(scores, default=None), mean(scores)),
        )

    def _question(self) -> int:
        self._asked += 1
        if not self.shape.asks_again:
            return QUESTIONS + self._asked
        return bisect.bisect_left(ZIPF, self._chance.random() * ZIPF[QUESTIONS - 1])

    def _prompt(self) -> str:
        if self.shape.prompts == "user":
            return f"user {self._chance.randrange(10**6)}"
        if self.shape.prompts == "tenant":
            return f"tenant {min(int(self._chance.paretovariate(1)), 40)}"
        return "p-1"

    def _chunks(self, question: int, change: str) -> list[Chunk]:
        chance = random.Random(self.seed * 10**8 + question)
        found = _draw(chance, [])
        scores = [0.9 - 0.05 * place - 0.03 * chance.random() for place in range(FOUND)]
        if change == "re-embed":
            other = random.Random(self.seed * 10**8 + question + 10**7)
            found = _draw(other, [number for number in found if other.random() < 0.5])
            other.shuffle(found)
            scores = [0.6 - 0.05 * place - 0.1 * other.random() for place in range(FOUND)]
        return [
            self._chunk(number, score, change) for number, score in zip(found, scores, strict=True)
        ]

    def _chunk(self, number: int, score: float, change: str) -> Chunk:
        """An edit touches two documents in five, a re-chunk cuts everything into thirds."""
        is_edited = change == "edit" and short(self._document[number]) % 5 < 2
        length = 300 + number * 7919 % 500
        return Chunk(
            text=number + CHUNKS * (change == "re-chunk" or is_edited),
            document=self._document[number] if self.shape.documents else "",
            length=length // 3 if change == "re-chunk" else length,
            score=score if self.shape.scores else None,
        )


def right_kinds(shape: Shape, change: str) -> frozenset[ChangeKind] | None:
    """The kinds that name a change correctly; None if the traffic cannot show it.

    Without document ids nobody can tell an edit from a re-chunk. Questions that are all new do not
    show that a chunk is another than last time. A prompt that is new at every request shows no
    version.
    """
    unseen = {
        ("all_questions_new", "edit"),
        ("prompt_per_user", "prompt"),
    }
    if (shape.name, change) in unseen:
        return None
    of_content = {"re-chunk": ChangeKind.RECHUNKED, "edit": ChangeKind.DOCUMENTS}
    if change in of_content and not shape.documents:
        return frozenset({ChangeKind.REINDEXED})
    rest = {
        "re-embed": ChangeKind.REEMBEDDED,
        "model": ChangeKind.LLM_MODEL,
        "prompt": ChangeKind.PROMPT,
    }
    return frozenset({(of_content | rest)[change]})


def _draw(chance: random.Random, found: list[int]) -> list[int]:
    """Draws distinct chunks by Zipf until there are enough."""
    while len(found) < FOUND:
        number = bisect.bisect_left(ZIPF, chance.random() * ZIPF[-1])
        if number not in found:
            found.append(number)
    return found
