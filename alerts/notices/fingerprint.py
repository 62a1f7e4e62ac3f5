"""Fingerprints: what a record shows of the setup that made it, small enough for every request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

from ragvigil.model.notice import NOTICED_EPOCH, ChangeKind
from ragvigil.model.record import Absent, ContextSource, Document, RagRecord
from ragvigil.store.records.texts import text_hash

VALUES = (
    ChangeKind.EMBEDDING_MODEL,
    ChangeKind.RERANKER,
    ChangeKind.INDEX,
    ChangeKind.LLM_MODEL,
    ChangeKind.PROMPT,
    ChangeKind.TEMPERATURE,
    ChangeKind.MAX_TOKENS,
    ChangeKind.TOP_K,
    ChangeKind.RELEASE,
)
"""The dimensions whose values are compared as they are, in the order of `Fingerprint.values`."""
NUMBERS = ("retrieved", "in_prompt", "chunk_characters", "top_score", "mean_score")
"""In the order of `Fingerprint.numbers`; characters and scores are means over the chunks."""
NO_RERANKER = "none"
MOST_CHUNKS = 100
MOST_CHARACTERS = 200
LARGEST = 1e300
"""Scores beyond this are unknown: sums and means of them would overflow."""
Place = tuple[str, str, str]
"""Service, environment, route."""


class Chunk(NamedTuple):
    """One retrieved chunk: 8 bytes of its text's hash, its document, characters, raw score.

    `document` is empty and the numbers are None where they are unknown. A NamedTuple, because
    every request brings several.
    """

    text: int
    document: str = ""
    length: int | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """One request. An unknown value is empty, an unknown number None, unknown chunks None.

    `question` is the same for requests that should retrieve the same; 0 where it is unknown.
    """

    place: Place
    time_unix_nano: int
    question: int = 0
    chunks: tuple[Chunk, ...] | None = None
    values: tuple[str, ...] = ("",) * len(VALUES)
    numbers: tuple[float | None, ...] = (None,) * len(NUMBERS)


def fingerprint_of(
    record: RagRecord, time_unix_nano: int, lengths: Mapping[str, int] | None = None
) -> Fingerprint:
    """Takes the fingerprint of a record; `lengths` are characters by hash of texts stored apart."""
    documents = _retrieved(record)
    chunks = None if documents is None else _chunks(documents, lengths or {})
    return Fingerprint(
        place=(record.service, record.environment, record.route),
        time_unix_nano=time_unix_nano,
        question=_question(record),
        chunks=chunks,
        values=_values(record),
        numbers=_numbers(record, chunks),
    )


def _retrieved(record: RagRecord) -> Sequence[Document] | None:
    """What the retriever returned, else the documents that later steps show; None without any."""
    if "retrieved" not in record.absent and (record.retrieved or not record.error):
        return record.retrieved
    return record.reranked or record.context or None


def _chunks(documents: Sequence[Document], lengths: Mapping[str, int]) -> tuple[Chunk, ...]:
    return tuple(
        [
            Chunk(
                text=short(_name(document)),
                document=document.document_id[:MOST_CHARACTERS],
                length=lengths.get(document.text_hash)
                if document.content is None
                else len(document.content),
                score=_known(document.score),
            )
            for document in documents[:MOST_CHUNKS]
        ]
    )


def _known(score: float | None) -> float | None:
    """A score that can be computed with: neither NaN nor beyond LARGEST."""
    return score if score is not None and -LARGEST < score < LARGEST else None


def _name(document: Document) -> str:
    """The same name for the same text, whether the record holds the text or only its hash."""
    return document.text_hash or (
        text_hash(document.content) if document.content else document.chunk_id
    )


def _question(record: RagRecord) -> int:
    if not record.query:
        return 0
    about = record.dimensions
    return short(f"{about.tenant}\n{about.locale}\n{' '.join(record.query.split()).casefold()}")


def _values(record: RagRecord) -> tuple[str, ...]:
    about = record.dimensions
    return (
        about.embedding_model,
        _reranker(record),
        # An epoch that a notice has named is no value that the service sends.
        "" if about.index_epoch.startswith(NOTICED_EPOCH) else about.index_epoch,
        about.llm_model,
        about.prompt_version,
        "" if about.temperature is None else f"{about.temperature:g}",
        "" if about.max_tokens is None else str(about.max_tokens),
        "" if about.top_k is None else str(about.top_k),
        about.service_version,
    )


def _reranker(record: RagRecord) -> str:
    """The reranker's name; NO_RERANKER for a step that did not run, empty for one not seen."""
    if record.dimensions.reranker_model:
        return record.dimensions.reranker_model
    if record.context_source is ContextSource.INFERRED:
        return ""  # it shows only in answers whose order it changed
    if "reranked" not in record.absent:
        return "unnamed" if record.reranked else ""
    if record.absent["reranked"] is not Absent.NOT_RUN or record.error or not record.retrieved:
        return ""
    return NO_RERANKER


def _numbers(record: RagRecord, chunks: Sequence[Chunk] | None) -> tuple[float | None, ...]:
    if chunks is None:
        return (None,) * len(NUMBERS)
    scores = [chunk.score for chunk in chunks if chunk.score is not None]
    return (
        None if "retrieved" in record.absent else float(len(chunks)),
        None if "context" in record.absent or record.error else float(len(record.context)),
        mean(chunk.length for chunk in chunks),
        max(scores, default=None),
        mean(scores),
    )


def mean(numbers: Iterable[float | None]) -> float | None:
    """The mean of the known numbers, None without any."""
    values = [number for number in numbers if number is not None]
    return sum(values) / len(values) if values else None


@lru_cache(maxsize=16_384)
def short(text: str) -> int:
    """Hashes a text to 8 bytes, the same in every process (`hash` differs between processes)."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")
