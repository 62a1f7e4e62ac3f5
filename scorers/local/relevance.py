"""Relevance by meaning: how similar chunks and answer are to the question, by local embeddings.

    >>> from ragvigil.inference.outcome import Reason, Unavailable
    >>> class NoModel:
    ...     embedding_name = embedding_version = ""
    ...     def embed(self, texts):
    ...         return Unavailable(reason=Reason.NO_MODEL, detail="no model is installed")
    >>> record = RagRecord(record_id="1", trace_id="1", query="How long?", answer="5 days.")
    >>> [(score.rubric, score.value, score.explanation) for score in relevance(record, NoModel())]
    [('context_relevance', None, 'nothing was retrieved'), ('answer_relevance', None, \
'no model is installed')]

`context_relevance` is the mean cosine between the question and the nearest retrieved chunks, as
many as the judged rubric averages; a chunk longer than the model's input counts by its nearest
piece. Its label `none_relevant` says that these chunks are about something else. `answer_relevance`
is the mean cosine over the pieces of the answer, so that digressions lower it. Range 0..1 (a
negative cosine counts as 0). Cosines of different models are not comparable, so the model's hash is
part of the version. They measure what a text is about, not whether it answers the question: a judge
does that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from ragvigil.inference.outcome import Unavailable
from ragvigil.inference.settings import PACKAGED, SHORT_NAMES
from ragvigil.model.record import RagRecord
from ragvigil.model.score import Kind, Score
from scorers.absence import first_absent
from scorers.judge.aggregate import prompt_depth
from scorers.rubric import house_rubrics
from scorers.text.sentences import cuts
from scorers.text.stance import classify

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Numbers = NDArray[np.float32]

METHOD = "2"
"""Raise it when the same vectors give other scores."""
PIECE_BYTES = 1000
"""UTF-8 bytes that a model of 256 tokens reads in most languages and scripts."""
SLICE = 250
"""Characters of a sentence beyond which a piece may end inside it."""
MOST_CHARACTERS = 12_000
"""Most characters embedded of one text; the details say which texts were cut."""
MOST_CHUNKS = 100
"""More chunks are not applicable rather than a mean of some."""
UNRELATED = {SHORT_NAMES[PACKAGED]: 0.15}
"""By model, the value under which the nearest chunks are about something else: see bench/unseen.py.

No bar is known of another model; its scores have no label.
"""


class Embedder(Protocol):
    """Turns texts into vectors; implemented by `ragvigil.inference.process.Inference`."""

    @property
    def embedding_name(self) -> str:
        """Name of the model."""
        ...

    @property
    def embedding_version(self) -> str:
        """Version of the model of the last `embed`."""
        ...

    def embed(self, texts: Sequence[str]) -> Numbers | Unavailable:
        """A unit vector per text as rows, or why there is none."""
        ...


@dataclass(frozen=True, slots=True)
class Nearness:
    """Cosines (0..1) between the question and the pieces of a text; `is_cut` if it was too long."""

    best: float
    mean: float
    is_cut: bool


def relevance(record: RagRecord, embedder: Embedder) -> tuple[Score, ...]:
    """`context_relevance` and `answer_relevance` of a record, not applicable with a reason."""
    return context_relevance(record, embedder), answer_relevance(record, embedder)


def context_relevance(record: RagRecord, embedder: Embedder) -> Score:
    """The mean similarity of the nearest retrieved chunks; each chunk's is in the details."""
    rubric = "context_relevance"
    if (missing := _missing(record, rubric)) is not None:
        return missing
    # A chunk that several retrievals returned counts once.
    texts = dict.fromkeys((chunk.chunk_id, chunk.content or "") for chunk in record.retrieved)
    chunks = [(chunk_id, text) for chunk_id, text in texts if text.strip()]
    if not chunks:
        return _without(rubric, _why_no_chunk(record))
    if len(chunks) > MOST_CHUNKS:
        return _without(rubric, f"{len(chunks)} chunks were retrieved, more than {MOST_CHUNKS}")
    near = _near(record.query or "", [text for _, text in chunks], embedder)
    if isinstance(near, Unavailable):
        return _without(rubric, str(near))
    named = list(zip((chunk_id for chunk_id, _ in chunks), near, strict=True))
    nearest = sorted((chunk.best for chunk in near), reverse=True)[: _depth(record)]
    value = sum(nearest) / len(nearest)
    details: dict[str, object] = {
        "chunks": [
            {"chunk_id": chunk_id, "relevance": round(chunk.best, 4)} for chunk_id, chunk in named
        ],
        "cut": [chunk_id for chunk_id, chunk in named if chunk.is_cut],
        "without_text": len(texts) - len(chunks),
    }
    explanation = f"{len(near)} chunks, the nearest {nearest[0]:.2f}"
    label = "none_relevant" if value < UNRELATED.get(embedder.embedding_name, 0.0) else ""
    return _scored(rubric, value, explanation, details, embedder, label)


def _depth(record: RagRecord) -> int:
    """How many chunks are averaged: by the rubric, so that judge and model agree."""
    table = house_rubrics()["context_relevance"].judge
    return prompt_depth(record, table.top if table else MOST_CHUNKS)


def answer_relevance(record: RagRecord, embedder: Embedder) -> Score:
    """The mean similarity of the pieces of the answer to the question."""
    rubric = "answer_relevance"
    if (missing := _missing(record, rubric)) is not None:
        return missing
    answer = record.answer or ""
    if not answer.strip():
        return _without(rubric, "there is no answer")
    if classify(answer).label == "refused":
        return _without(rubric, "the answer refused")
    near = _near(record.query or "", [answer], embedder)
    if isinstance(near, Unavailable):
        return _without(rubric, str(near))
    explanation = f"the nearest part of the answer {near[0].best:.2f}"
    return _scored(rubric, near[0].mean, explanation, {"is_cut": near[0].is_cut}, embedder)


def pieces(text: str) -> list[str]:
    """Splits a text into pieces of whole sentences, each as long as the model reads.

    >>> [len(piece) for piece in pieces("One more sentence of some words. " * 60)]
    [989, 989]
    """
    result: list[str] = []
    start = end = 0
    for begin, stop in _steps(text):
        if end > start and len(text[start:stop].encode("utf-8", "replace")) > PIECE_BYTES:
            result.append(text[start:end])
            start = begin
        end = stop
    result.append(text[start:end])
    return [piece.strip() for piece in result if piece.strip()]


def _steps(text: str) -> list[tuple[int, int]]:
    """Start and end of each sentence, or of each slice of a long one; they cover the whole text."""
    return [
        (place, min(place + SLICE, end))
        for begin, end in cuts(text)
        for place in range(begin, end, SLICE)
    ]


def _near(question: str, texts: Sequence[str], embedder: Embedder) -> list[Nearness] | Unavailable:
    """The similarity of each text to the question, from one call of the model."""
    parts = [pieces(text[:MOST_CHARACTERS]) or [text[:MOST_CHARACTERS]] for text in texts]
    # One call for question and pieces: the model runs in a process of its own.
    vectors = embedder.embed([question, *(piece for text_pieces in parts for piece in text_pieces)])
    if isinstance(vectors, Unavailable):
        return vectors
    cosines = iter((vectors[1:] @ vectors[0]).clip(0, 1).tolist())
    return [
        _of(text, [next(cosines) for _ in text_pieces])
        for text, text_pieces in zip(texts, parts, strict=True)
    ]


def _of(text: str, cosines: Sequence[float]) -> Nearness:
    mean = sum(cosines) / len(cosines)
    return Nearness(best=max(cosines), mean=min(mean, 1.0), is_cut=len(text) > MOST_CHARACTERS)


def _missing(record: RagRecord, rubric: str) -> Score | None:
    """A score that is not applicable if a needed field is absent or there is no question."""
    field, reason = first_absent(record, house_rubrics()[rubric].needs)
    if field:
        return replace(_without(rubric, reason), absent=field)
    return None if (record.query or "").strip() else _without(rubric, "there is no question")


def _why_no_chunk(record: RagRecord) -> str:
    return "no retrieved chunk has a text" if record.retrieved else "nothing was retrieved"


def _without(rubric: str, reason: str) -> Score:
    layer = house_rubrics()[rubric].layer
    return Score(rubric=rubric, explanation=reason, layer=layer, kind=Kind.MODEL)


def _scored(
    rubric: str,
    value: float,
    explanation: str,
    details: dict[str, object],
    embedder: Embedder,
    label: str = "",
) -> Score:
    return Score(
        rubric=rubric,
        value=min(value, 1.0),
        label=label,
        explanation=explanation,
        layer=house_rubrics()[rubric].layer,
        kind=Kind.MODEL,
        scorer=embedder.embedding_name,
        version=f"{METHOD}-{embedder.embedding_version}",
        details=details,
    )
