"""The second service: retrieves 8 chunks, reranks to 5, answers with markers.

Everything that it does is a function of the question and of its `Setup`, in which a fault is a
changed field; chance comes from a hash of the question, so that a repeated question gets the same
answer. What the answer claims and what supports it is kept beside it: a judge answers from that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from bench.rig.truth_texts import Chunk, Question, Sentence, Texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Vectors = dict[str, NDArray[np.float32]]

RETRIEVED, KEPT = 8, 5
SYSTEM = "Answer from the passages alone. Cite each sentence by the number of its passage."
REFUSALS = {
    "en": (
        "I'm sorry, but the provided passages do not contain an answer to this question.",
        "Unable to answer based on the given passages.",
        "The context does not mention this, so I cannot answer the question.",
    ),
    "de": (
        "Dazu steht in den vorliegenden Dokumenten leider nichts.",
        "Diese Frage kann ich anhand der Dokumente nicht beantworten.",
    ),
}
FRAMES = (
    "Según los documentos consultados, la respuesta a su pregunta es la siguiente: {}.",
    "Además, conviene tener en cuenta lo que dicen las fuentes sobre este asunto: {}.",
    "Por último, en los documentos que hemos encontrado se indica también lo siguiente: {}.",
)
NATURAL = ("error", "cut", "empty", "refusal", "unsupported")
"""What goes wrong in a healthy service, each on a small share of requests."""


def chance(*names: object) -> float:
    """A number in 0..1 that depends on the names alone."""
    digest = blake2b(repr(names).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") / 2**64


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A retrieved chunk and its score."""

    chunk: Chunk
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A sentence of an answer: the place that it cites, and whether the context supports it."""

    text: str
    cites: int | None
    is_supported: bool = True
    is_true: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    """A request and all that the service did with it. `quality` is how far it answers, 0..1."""

    question: Question
    retrieved: tuple[Hit, ...]
    kept: tuple[Hit, ...]
    parts: tuple[Part, ...] = ()
    refusal: str = ""
    quality: float = 1.0
    is_reranked: bool = True
    is_cut: bool = False
    has_failed: bool = False
    sends_texts: bool = True
    model: str = "meridian-2"
    prompt_version: str = "p14"
    system: str = SYSTEM

    @property
    def text(self) -> str:
        """The answer as the user sees it."""
        whole = self.refusal or " ".join(_marked(part) for part in self.parts)
        return whole[: max(20, int(len(whole) * 0.4))].rstrip(" .") if self.is_cut else whole


def _marked(part: Part) -> str:
    if part.cites is None:
        return part.text
    ends = part.text[-1:] if part.text[-1:] in ".!?:" else ""
    return f"{part.text[: len(part.text) - len(ends)]} [{part.cites + 1}]{ends or '.'}"


Retrieve = Callable[["Desk", Question], tuple[Hit, ...]]
Rerank = Callable[["Desk", Question, tuple[Hit, ...]], tuple[Hit, ...]]
Change = Callable[["Desk", Response], Response]


@dataclass(frozen=True, slots=True)
class Desk:
    """The texts with their vectors, and the vector of any further text."""

    texts: Texts
    vectors: Vectors
    embed: Callable[[Sequence[str]], NDArray[np.float32]]

    def nearness(self, question: Question, chunks: Sequence[Chunk]) -> NDArray[np.float32]:
        """The cosine of a question with each chunk."""
        unknown = [
            text for text in (question.text, *(c.text for c in chunks)) if text not in self.vectors
        ]
        if unknown:
            self.vectors.update(zip(unknown, self.embed(unknown), strict=True))
        rows = np.stack([self.vectors[chunk.text] for chunk in chunks])
        return np.asarray(rows @ self.vectors[question.text])


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """How the service works: each step, and what happens to the answer afterwards."""

    retrieve: Retrieve = field(default=lambda desk, question: nearest(desk, question))
    rerank: Rerank = field(default=lambda desk, question, hits: best(desk, question, hits))
    change: Change = field(default=lambda _, response: response)


def nearest(
    desk: Desk,
    question: Question,
    *,
    chunks: Sequence[Chunk] | None = None,
    count: int = RETRIEVED,
    noise: float = 0.08,
    name: str = "",
) -> tuple[Hit, ...]:
    """The nearest chunks of the route's corpus; `noise` is that of the index."""
    corpus = desk.texts.corpora[question.route] if chunks is None else chunks
    near = desk.nearness(question, corpus)
    blur = np.array([chance("index", name, question.number, chunk.chunk_id) for chunk in corpus])
    # A real index finds what answers the question more often than these vectors do.
    lift = np.array([_lift(question, chunk) for chunk in corpus])
    scores = near + noise * (blur - 0.5) + lift
    first = np.argsort(-scores)[:count]
    return tuple(Hit(chunk=corpus[at], score=round(float(scores[at]), 4)) for at in first)


def _lift(question: Question, chunk: Chunk) -> float:
    if question.answered_by(chunk):
        return 0.3
    return 0.15 if chunk.document_id in question.documents else 0.0


def relevance(question: Question, hit: Hit) -> float:
    """What a reranker thinks of a chunk: mostly right."""
    is_about = hit.chunk.document_id in question.documents
    grade = 0.3 * is_about + 0.4 * question.answered_by(hit.chunk)
    return grade + 0.3 * chance("reranker", question.number, hit.chunk.chunk_id)


def best(
    _: Desk, question: Question, hits: tuple[Hit, ...], *, count: int = KEPT
) -> tuple[Hit, ...]:
    """The reranker's best, with its scores."""
    scored = [Hit(chunk=hit.chunk, score=round(relevance(question, hit), 4)) for hit in hits]
    return tuple(sorted(scored, key=lambda hit: -hit.score)[:count])


def respond(desk: Desk, question: Question, setup: Setup, natural: str = "") -> Response:
    """What the service does with a question; `natural` is one of NATURAL, or empty."""
    retrieved = () if natural == "empty" else setup.retrieve(desk, question)
    kept = setup.rerank(desk, question, retrieved) if retrieved else ()
    response = answer(Response(question=question, retrieved=retrieved, kept=kept))
    response = setup.change(desk, response)
    if natural == "error":
        return replace(response, has_failed=True, parts=(), refusal="")
    if natural == "cut":
        return replace(response, is_cut=True, quality=0.5)
    if natural == "refusal":
        return refused(response)
    return unsupported(desk, response) if natural == "unsupported" else response


def answer(response: Response) -> Response:
    """What a model makes of the chunks: sentences that they support, a refusal, or worse."""
    question = response.question
    parts = tuple(
        _part(response, sentence, place)
        for sentence in question.sentences
        if (place := _place(response.kept, sentence)) is not None
    )
    if parts:
        return replace(response, parts=parts, quality=len(parts) / len(question.sentences))
    drawn = chance("without", question.number)
    if drawn < 0.4 or not response.kept:
        return refused(response)
    if drawn < 0.7:
        told = " ".join(response.kept[0].chunk.text.split()[:25]).rstrip(".,;")
        return replace(response, parts=(Part(text=f"{told}.", cites=0),), quality=0.0)
    recalled = tuple(
        Part(text=sentence.text, cites=0, is_supported=False) for sentence in question.sentences[:2]
    )
    return replace(response, parts=recalled, quality=0.75)


def _place(kept: Sequence[Hit], sentence: Sentence) -> int | None:
    return next((at for at, hit in enumerate(kept) if sentence.stands_in(hit.chunk)), None)


def _part(response: Response, sentence: Sentence, place: int) -> Part:
    """The sentence as the chunk at this place tells it: a stale chunk tells it otherwise."""
    chunk = response.kept[place].chunk
    is_stale = chunk.chunk_id.endswith("/stale")
    text = stale(sentence.text) if is_stale else sentence.text
    return Part(text=text, cites=place, is_true=text == sentence.text)


def refused(response: Response) -> Response:
    """The answer replaced by a refusal."""
    wordings = REFUSALS[response.question.language]
    at = int(chance("refusal", response.question.number) * len(wordings))
    return replace(response, parts=(), refusal=wordings[at], quality=0.5)


def unsupported(desk: Desk, response: Response) -> Response:
    """The answer with sentences of another question's answer, cited like its own."""
    question = response.question
    if not response.parts:
        return response
    others = [other for other in desk.texts.of(question.route) if other.gold != question.gold]
    other = others[int(chance("other", question.number) * len(others))]
    foreign = tuple(
        Part(text=sentence.text, cites=0, is_supported=False, is_true=False)
        for sentence in other.sentences[: max(1, len(response.parts) // 2)]
    )
    kept = response.parts[: max(1, len(response.parts) - len(foreign))]
    return replace(response, parts=(*kept, *foreign))


def stale(text: str) -> str:
    """A text as an older version of its document had it: other numbers.

    >>> stale("It costs 37 euros since 2019.")
    'It costs 26 euros since 2008.'
    """
    for number in sorted(set(_numbers(text)), key=len, reverse=True):
        text = text.replace(number, str(max(1, int(number) - 11)))
    return text


def _numbers(text: str) -> list[str]:
    marks = [at for at, (a, b) in enumerate(pairwise(f" {text} ")) if a.isdigit() != b.isdigit()]
    pieces = (text[first:last] for first, last in pairwise(marks))
    return [piece for piece in pieces if piece.isdecimal() and len(piece) < 6]


def in_spanish(response: Response) -> Response:
    """The answer in Spanish, around the names and numbers of the right one."""
    parts = []
    for at, part in enumerate(response.parts):
        names = [word.strip(".,;:()\"'") for word in part.text.split()[1:]]
        told = [word for word in names if word[:1].isupper() or word[:1].isdigit()] or names[-2:]
        parts.append(replace(part, text=FRAMES[at % len(FRAMES)].format(", ".join(told[:6]))))
    return replace(response, parts=tuple(parts), quality=0.5)
