"""The faults of the second service, each with its truth: which layer, and whom it must wake.

A fault changes steps of the service (`Setup`) for a share of the requests, or the traffic itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from enum import StrEnum
from functools import partial

from bench.rig.truth_service import (
    KEPT,
    RETRIEVED,
    SYSTEM,
    Desk,
    Hit,
    Response,
    Setup,
    best,
    chance,
    in_spanish,
    nearest,
    refused,
    relevance,
    stale,
    unsupported,
)
from bench.rig.truth_texts import Chunk, Question

JUNK = tuple(
    Chunk(chunk_id=f"boilerplate.{number}", document_id="boilerplate", text=text)
    for number, text in enumerate(
        (
            "We use cookies to give you the best experience. Accept all or manage choices.",
            "Home | Products | Pricing | Careers | Contact. Sign in or create an account.",
            "Copyright. All rights reserved. Terms of service and privacy policy apply here.",
        )
    )
)


class Truth(StrEnum):
    """Where a fault lies; BLIND is the instrumentation, NONE no fault of quality."""

    RETRIEVAL = "retrieval"
    CORPUS = "corpus"
    GENERATION = "generation"
    BLIND = "blind"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """A fault: `share` of the requests get `setup`; traffic and seconds are multiplied.

    `must_page` and `must_not_page` are what the watch owes; `is_quiet`: it owes nothing at all.
    """

    name: str
    truth: Truth
    setup: Setup = field(default_factory=Setup)
    share: float = 1.0
    traffic: float = 1.0
    seconds: float = 1.0
    mix: float = 1.0
    must_page: bool = False
    must_not_page: bool = False
    is_quiet: bool = False


def _other_chunks(desk: Desk, question: Question) -> tuple[Hit, ...]:
    """What the index returns for another question of the route."""
    others = [other for other in desk.texts.of(question.route) if not other.gold & question.gold]
    other = others[int(chance("broken index", question.number) * len(others))]
    hits = nearest(desk, other)
    return tuple(hit for hit in hits if hit.chunk.document_id not in question.documents)


def _half_gone(desk: Desk, question: Question) -> tuple[Hit, ...]:
    corpus = desk.texts.corpora[question.route]
    left = [chunk for chunk in corpus if chance("gone", chunk.document_id) >= 0.5]
    return nearest(desk, question, chunks=left)


def _stale(desk: Desk, question: Question) -> tuple[Hit, ...]:
    """A third of the documents have come back in an older version."""
    return tuple(
        replace(hit, chunk=_older(hit.chunk))
        if chance("stale", hit.chunk.document_id) < 0.33
        else hit
        for hit in nearest(desk, question)
    )


def _older(chunk: Chunk) -> Chunk:
    return replace(chunk, chunk_id=f"{chunk.chunk_id}/stale", text=stale(chunk.text))


def _halves(desk: Desk, question: Question) -> tuple[Hit, ...]:
    """Chunks of half the length: the answer stands in one half, and may lose to the other."""
    halves = [half for chunk in desk.texts.corpora[question.route] for half in _split(chunk)]
    return nearest(desk, question, chunks=halves, noise=0.5, name="chunker")


def _split(chunk: Chunk) -> tuple[Chunk, Chunk]:
    words = chunk.text.split(" ")
    middle = max(1, len(words) // 2)
    first, second = " ".join(words[:middle]), " ".join(words[middle:]) or words[-1]
    return (
        replace(chunk, chunk_id=f"{chunk.chunk_id}/1", text=first, is_half=True),
        replace(chunk, chunk_id=f"{chunk.chunk_id}/2", text=second, is_half=True),
    )


def _worst(_: Desk, question: Question, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
    scored = [replace(hit, score=round(1 - relevance(question, hit), 4)) for hit in hits]
    return tuple(sorted(scored, key=lambda hit: -hit.score)[:KEPT])


def _first(_: Desk, __: Question, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
    return hits[:KEPT]


def _reversed(desk: Desk, question: Question, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
    return best(desk, question, hits)[::-1]


def _junk(_: Desk, __: Question) -> tuple[Hit, ...]:
    return tuple(Hit(chunk=chunk, score=0.31 - 0.02 * at) for at, chunk in enumerate(JUNK))


def _change(of: Callable[[Response], Response]) -> Setup:
    return Setup(change=lambda _, response: of(response))


def _half(response: Response) -> Response:
    """The first half of the sentences; of a single sentence its first half."""
    parts = response.parts[: max(1, len(response.parts) // 2)]
    if len(response.parts) == 1:
        words = parts[0].text.split()
        parts = (replace(parts[0], text=" ".join(words[: max(2, len(words) // 2)])),)
    return replace(response, parts=parts, quality=0.6 * response.quality)


def _off_by_one(response: Response) -> Response:
    most = max(1, len(response.kept))
    moved = tuple(
        part if part.cites is None else replace(part, cites=(part.cites + 1) % most)
        for part in response.parts
    )
    return replace(response, parts=moved)


FAULTS = (
    Fault(
        name="wrong_chunks",
        truth=Truth.RETRIEVAL,
        setup=Setup(retrieve=_other_chunks),
        share=0.3,
        must_page=True,
    ),
    Fault(
        name="half_the_documents",
        truth=Truth.CORPUS,
        setup=Setup(retrieve=_half_gone),
        must_page=True,
    ),
    Fault(name="stale_documents", truth=Truth.CORPUS, setup=Setup(retrieve=_stale)),
    Fault(
        name="reranker_reversed",
        truth=Truth.RETRIEVAL,
        setup=Setup(rerank=_worst),
        must_page=True,
    ),
    Fault(
        name="reranker_off",
        truth=Truth.RETRIEVAL,
        setup=Setup(rerank=_first, change=lambda _, response: replace(response, is_reranked=False)),
    ),
    Fault(
        name="upside_down",
        truth=Truth.RETRIEVAL,
        setup=Setup(rerank=_reversed),
        must_not_page=True,
    ),
    Fault(
        name="embedder",
        truth=Truth.RETRIEVAL,
        setup=Setup(retrieve=partial(nearest, noise=1.2, name="embedder")),
    ),
    Fault(name="chunker", truth=Truth.RETRIEVAL, setup=Setup(retrieve=_halves)),
    Fault(
        name="top_k_doubled",
        truth=Truth.RETRIEVAL,
        setup=Setup(
            retrieve=partial(nearest, count=2 * RETRIEVED), rerank=partial(best, count=2 * KEPT)
        ),
        must_not_page=True,
    ),
    Fault(
        name="junk_chunks",
        truth=Truth.RETRIEVAL,
        setup=Setup(retrieve=_junk, rerank=_first),
        must_page=True,
    ),
    Fault(
        name="unsupported",
        truth=Truth.GENERATION,
        setup=Setup(change=unsupported),
        share=0.3,
        must_page=True,
    ),
    Fault(
        name="other_language",
        truth=Truth.GENERATION,
        setup=_change(in_spanish),
        must_page=True,
    ),
    Fault(name="half_as_long", truth=Truth.GENERATION, setup=_change(_half)),
    Fault(
        name="citations_off_by_one",
        truth=Truth.GENERATION,
        setup=_change(_off_by_one),
        share=0.4,
        must_page=True,
    ),
    Fault(
        name="truncation",
        truth=Truth.GENERATION,
        setup=_change(lambda response: replace(response, is_cut=True, quality=0.5)),
        share=0.3,
        must_page=True,
    ),
    Fault(
        name="empty_answers",
        truth=Truth.GENERATION,
        setup=_change(lambda response: replace(response, parts=(), refusal="", quality=0.0)),
        share=0.1,
        must_page=True,
    ),
    Fault(
        name="refusals",
        truth=Truth.GENERATION,
        setup=_change(refused),
        share=0.3,
        must_page=True,
    ),
    Fault(
        name="texts_no_longer_sent",
        truth=Truth.BLIND,
        setup=_change(lambda response: replace(response, sends_texts=False)),
        must_not_page=True,
    ),
    Fault(name="latency_doubled", truth=Truth.NONE, seconds=2.0, must_not_page=True),
    Fault(name="traffic_lost", truth=Truth.NONE, traffic=0.4, must_not_page=True),
    Fault(
        name="model_swapped",
        truth=Truth.NONE,
        setup=_change(lambda response: replace(response, model="meridian-3")),
        must_not_page=True,
    ),
    Fault(name="route_times_three", truth=Truth.NONE, mix=3.0, must_not_page=True, is_quiet=True),
)
BY_NAME = {fault.name: fault for fault in FAULTS}
SECOND_TENANT, DATED_DAYS = "second_tenant", 28


def dated(day: int) -> str:
    """The name of the state in which prompts bear the date of a day."""
    return f"dated_{day % DATED_DAYS}"


def _dated(day: int) -> Setup:
    """The prompt begins with the date, and states no version."""
    system = f"Today is {date(2026, 3, 1) + timedelta(days=day):%A, %d %B %Y}. {SYSTEM}"
    return _change(lambda response: replace(response, prompt_version="", system=system))


HABITS = {
    SECOND_TENANT: _change(
        lambda response: replace(
            response, prompt_version="p14-north", system=f"{SYSTEM} Address the reader formally."
        )
    ),
    **{dated(day): _dated(day) for day in range(DATED_DAYS)},
}
"""What healthy services do, too: see `truth_habits`."""
SETUPS = {**{fault.name: fault.setup for fault in FAULTS}, **HABITS}
