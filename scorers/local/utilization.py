"""Chunk utilization by meaning, where the answer repeats no sentence of any chunk.

    >>> from ragvigil import Document
    >>> from ragvigil.inference.outcome import Reason, Unavailable
    >>> class NoModel:
    ...     embedding_name, embedding_version = "MiniLM", "abc"
    ...     def embed(self, texts):
    ...         return Unavailable(reason=Reason.NO_MODEL, detail="no model is installed")
    >>> chunk = Document(chunk_id="a", content="Card refunds take 5 days to appear on your card.")
    >>> def said(answer):
    ...     record = RagRecord(record_id="1", trace_id="1", context=(chunk,), answer=answer)
    ...     score = utilization(record, NoModel())
    ...     return score.value, score.explanation, score.details.get("looked")
    >>> said("A card refund appears: refunds take 5 days.")
    (1.0, '1 of 1 chunks used', 'words')
    >>> said("Your bank books the money within a week.")
    (None, 'no model is installed', None)

The scorer of every answer compares words, so that an answer that says all of it in other words uses
nothing there. Here a chunk is used if one of its sentences is as near to one of the answer as two
wordings of a fact are. The details say which way it looked: `words` or `meaning`. It is a series of
its own, of kind `model`: its mean does not move with the share of answers that is looked at. A
sentence of a few words says what it means only after its question. Models of other languages find
any two sentences of theirs alike, so a bar is known by model and language. Range 0..1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ragvigil.inference.outcome import Unavailable
from ragvigil.inference.settings import PACKAGED, SHORT_NAMES
from ragvigil.model.record import RagRecord
from ragvigil.model.score import Kind, Score
from scorers.absence import first_absent
from scorers.chunk_utilization import ChunkUtilization
from scorers.local.relevance import METHOD, Embedder
from scorers.rubric import house_rubrics
from scorers.text.language import language
from scorers.text.sentences import cuts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RUBRIC = "chunk_utilization"
ALIKE = {(SHORT_NAMES[PACKAGED], "en"): 0.4}
"""By model and language, the cosine from which two sentences say the same: see bench/unseen.py."""
MOST_OF_ANSWER, MOST_OF_CHUNK, MOST_SENTENCES = 16, 48, 240
"""Most sentences embedded of an answer, of a chunk and of a record: it bounds the time."""
MOST_CHARACTERS = 600
"""Of a sentence: tables and lists without a full stop are no sentences."""
SHORT = 6
"""Words under which a sentence of the answer is read after its question."""
Place = tuple[int, int]


def utilization(record: RagRecord, embedder: Embedder) -> Score:
    """The share of the context's chunks that the answer used: by words, else by meaning."""
    by_words = _by_words(record)
    if by_words.value is None:
        return _without(by_words.explanation, by_words.absent)
    if not embedder.embedding_version:  # else answers that need no model would be a series
        return _without("no model has been loaded")
    if by_words.value > 0:
        return _scored(by_words.value, by_words.details, "words", embedder, by_words.explanation)
    bar = ALIKE.get((embedder.embedding_name, _language(record)))
    near = _near(record, embedder, bar) if bar is not None else None
    if near is None:
        return _without("no bar is known of this model and language")
    if isinstance(near, Unavailable):
        return _without(str(near))
    used = [row for row in near if row["sentences"]]
    value = len(used) / len(record.context)
    explanation = f"{len(used)} of {len(record.context)} chunks used, by meaning"
    return _scored(value, {"used": used}, "meaning", embedder, explanation)


def _by_words(record: RagRecord) -> Score:
    field, reason = first_absent(record, house_rubrics()[RUBRIC].needs)
    if field:
        return Score.not_applicable(RUBRIC, reason, absent=field)
    return ChunkUtilization().score(record)


def _near(
    record: RagRecord, embedder: Embedder, bar: float
) -> list[dict[str, object]] | Unavailable:
    """By chunk, its sentences that are near one of the answer's, and where they stand."""
    said = _said(record)
    texts = [chunk.content or "" for chunk in record.context]
    most = min(MOST_OF_CHUNK, max(1, MOST_SENTENCES // len(texts)))
    places = [_places(text, most) for text in texts]
    written = [text[start:end] for text, at in zip(texts, places, strict=True) for start, end in at]
    vectors = embedder.embed([*said, *written])  # one call: the model is in a process of its own
    if isinstance(vectors, Unavailable):
        return vectors
    alike = _alike(vectors, len(said), bar)
    rows: list[dict[str, object]] = []
    for chunk, at in zip(record.context, places, strict=True):
        hits = [number for number in range(len(at)) if alike[number]]
        alike = alike[len(at) :]
        spans = [list(at[number]) for number in hits]
        rows.append({"chunk_id": chunk.chunk_id, "sentences": hits, "places": spans})
    return rows


def _alike(vectors: NDArray[np.float32], said: int, bar: float) -> list[bool]:
    """Whether each sentence behind the first `said` ones is as near to one of these as the bar."""
    cosines = vectors[said:] @ vectors[:said].T
    return [bool(row.max() >= bar) for row in cosines]


def _said(record: RagRecord) -> list[str]:
    """The sentences of the answer; a short one after the question."""
    answer = record.answer or ""
    sentences = [answer[start:end] for start, end in _places(answer, MOST_OF_ANSWER)]
    return [
        text if len(text.split()) >= SHORT else f"{record.query or ''} {text}" for text in sentences
    ]


def _places(text: str, most: int) -> list[Place]:
    """The offsets of the first sentences that have a text."""
    whole = [(start, end) for start, end in cuts(text) if text[start:end].strip()][:most]
    return [(start, min(end, start + MOST_CHARACTERS)) for start, end in whole]


def _language(record: RagRecord) -> str:
    """The language of the context, if that of the answer is the same or not sure; else empty."""
    texts = " ".join((chunk.content or "")[:MOST_CHARACTERS] for chunk in record.context)
    code = language(texts) or ""
    return code if language(record.answer or "") in (code, None) else ""


def _without(reason: str, absent: str = "") -> Score:
    layer = house_rubrics()[RUBRIC].layer
    return Score(rubric=RUBRIC, explanation=reason, layer=layer, kind=Kind.MODEL, absent=absent)


def _scored(
    value: float, details: Mapping[str, object], looked: str, embedder: Embedder, explanation: str
) -> Score:
    return Score(
        rubric=RUBRIC,
        value=value,
        explanation=explanation,
        layer=house_rubrics()[RUBRIC].layer,
        kind=Kind.MODEL,
        scorer=embedder.embedding_name,
        version=f"{METHOD}-{embedder.embedding_version}",
        details={**details, "looked": looked},
    )
