"""Fingerprints of a small service whose setup can be changed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from alerts.notices.detect import RouteNotices
from alerts.notices.fingerprint import VALUES, Chunk, Fingerprint, mean
from alerts.notices.settings import NoticeSettings
from ragvigil.model.notice import ChangeKind, Notice

PLACE = ("helpdesk", "prod", "/ask")
SECOND = 10**9
START = 1_767_225_600 * SECOND
QUESTIONS = 30
HEALTHY = {
    ChangeKind.EMBEDDING_MODEL: "e-1",
    ChangeKind.RERANKER: "r-1",
    ChangeKind.LLM_MODEL: "m-1",
    ChangeKind.PROMPT: "v1",
    ChangeKind.TEMPERATURE: "0",
    ChangeKind.RELEASE: "1.0",
}
Found = Callable[[int], list[Chunk]]


def healthy_chunks(question: int) -> list[Chunk]:
    """Five chunks of three documents; neighbouring questions share some."""
    return [
        Chunk(text=n, document=f"d{n // 2}", length=400 + n, score=0.9 - 0.05 * place)
        for place, n in enumerate(range(question, question + 5))
    ]


@dataclass(frozen=True, kw_only=True)
class Setup:
    """What a service does with a question: `values` are those of its dimensions."""

    chunks: Found = healthy_chunks
    values: dict[ChangeKind, str] = field(default_factory=lambda: dict(HEALTHY))

    def but(self, kind: ChangeKind, value: str) -> Setup:
        return replace(self, values=self.values | {kind: value})


def request(number: int, question: int, setup: Setup) -> Fingerprint:
    chunks = tuple(setup.chunks(question))
    scores = [chunk.score for chunk in chunks if chunk.score is not None]
    count = float(len(chunks))
    return Fingerprint(
        place=PLACE,
        time_unix_nano=START + number * 10 * SECOND,
        question=question + 1,
        chunks=chunks,
        values=tuple(setup.values.get(kind, "") for kind in VALUES),
        numbers=(
            count, count, mean(chunk.length for chunk in chunks), max(scores, default=None),
            mean(scores),
        ),
    )  # fmt: skip


def traffic(*phases: tuple[int, Setup | Sequence[Setup]], seed: int = 7) -> list[Fingerprint]:
    """Requests of each setup, or of setups mixed by chance, one every ten seconds."""
    chance = random.Random(seed)
    found: list[Fingerprint] = []
    for count, setups in phases:
        for _ in range(count):
            setup = setups if isinstance(setups, Setup) else chance.choice(setups)
            found.append(request(len(found), chance.randrange(QUESTIONS), setup))
    return found


def noticed(requests: Iterable[Fingerprint]) -> list[tuple[int, Notice]]:
    """Every notice, with the number of requests before the one that made it certain."""
    detector = RouteNotices(PLACE, NoticeSettings())
    return [
        (number, notice)
        for number, request in enumerate(requests)
        for notice in detector.step(request)
    ]
