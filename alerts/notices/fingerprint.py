"""What a record shows of the setup that made it: small enough to take from every request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

from ragvigil.model.notice import NOTICED_EPOCH, ChangeKind
from ragvigil.model.record import Absent, Document, RagRecord
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
    """The fingerprint of a record; `lengths` are characters by text hash where texts are away."""
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
    """What the retriever returned, else what is known of it; None where nothing is."""
    if "retrieved" not in record.absent and (record.retrieved or not record.error):
        return record.retrieved
    return record.reranked or record.context or None


def _chunks(documents: Sequence[Document], lengths: Mapping[str, int]) -> tuple[Chunk, ...]:
    return tuple(
        [
            Chunk(
                text=short(_name(one)),
                document=one.document_id[:MOST_CHARACTERS],
                length=lengths.get(one.text_hash) if one.content is None else len(one.content),
                score=_known(one.score),
            )
            for one in documents[:MOST_CHUNKS]
        ]
    )


def _known(score: float | None) -> float | None:
    """A score that can be reckoned with."""
    return score if score is not None and -LARGEST < score < LARGEST else None


def _name(one: Document) -> str:
    """The same for the same text, whether the text itself is at hand or only its hash is."""
    return one.text_hash or (text_hash(one.content) if one.content else one.chunk_id)


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
        "" if about.index_epoch.startswith(NOTICED_EPOCH) else about.index_epoch,
        about.llm_model,
        about.prompt_version,
        "" if about.temperature is None else f"{about.temperature:g}",
        "" if about.max_tokens is None else str(about.max_tokens),
        "" if about.top_k is None else str(about.top_k),
        about.service_version,
    )


def _reranker(record: RagRecord) -> str:
    """The reranker's name; a step that did not run is a value, one that is not seen is none."""
    if record.dimensions.reranker_model:
        return record.dimensions.reranker_model
    if "reranked" not in record.absent:
        return "unnamed" if record.reranked else ""
    if record.absent["reranked"] is not Absent.NOT_RUN or record.error or not record.retrieved:
        return ""
    return NO_RERANKER


def _numbers(record: RagRecord, chunks: Sequence[Chunk] | None) -> tuple[float | None, ...]:
    if chunks is None:
        return (None,) * len(NUMBERS)
    scores = [one.score for one in chunks if one.score is not None]
    return (
        None if "retrieved" in record.absent else float(len(chunks)),
        None if "context" in record.absent or record.error else float(len(record.context)),
        mean(one.length for one in chunks),
        max(scores, default=None),
        mean(scores),
    )


def mean(numbers: Iterable[float | None]) -> float | None:
    """The mean of those that are known, None where none is."""
    known = [one for one in numbers if one is not None]
    return sum(known) / len(known) if known else None


@lru_cache(maxsize=16_384)
def short(text: str) -> int:
    """8 bytes that stand for a text, the same in every process."""
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")
