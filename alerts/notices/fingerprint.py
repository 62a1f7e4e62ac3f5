"""Fingerprints: what a record shows of the setup that made it, small enough for every request."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
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
HASHED = "sha:"
"""The prefix of a prompt version that the collector made of the prompt's text."""
OF_CHUNKS = frozenset({"retrieved", "document_texts", "retrieved_texts", "document_ids"})
WITHHELD = frozenset({Absent.NOT_SENT, Absent.HIDDEN, Absent.TRUNCATED})
"""Why a field is absent that the service has: it was not sent whole."""
MOST_CHUNKS = 100
MOST_CHARACTERS = 200
LARGEST = 1e300
"""Scores beyond this are unknown: sums and means of them would overflow."""
Place = tuple[str, str, str]
"""Service, environment, route."""


class Chunk(NamedTuple):
    """One retrieved chunk: 8 bytes of its text's hash, its document, characters, raw score.

    Where texts are not sent, `text` is made of its id. `document` is empty and the numbers are None
    where they are unknown. A NamedTuple, because every request brings several.
    """

    text: int
    document: str = ""
    length: int | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """One request. An unknown value is empty, an unknown number None, unknown chunks None.

    `question` is the same for requests that should retrieve the same; 0 where it is unknown.
    Chunks of two requests can be compared only if `by_text` is the same in both. `shown` are the
    chunks that reached the prompt, in its order. `template` holds the sentences of the system
    prompt. `lacks` maps each field that the request should have sent to the reason why it is
    absent; None if the request failed, so that it tells nothing. `scopes` sent the request.
    """

    place: Place
    time_unix_nano: int
    question: int = 0
    chunks: tuple[Chunk, ...] | None = None
    by_text: bool = True
    shown: tuple[int, ...] | None = None
    template: tuple[int, ...] = ()
    lacks: Mapping[str, Absent] | None = None
    scopes: tuple[str, ...] = ()
    values: tuple[str, ...] = ("",) * len(VALUES)
    numbers: tuple[float | None, ...] = (None,) * len(NUMBERS)


def fingerprint_of(
    record: RagRecord, time_unix_nano: int, lengths: Mapping[str, int] | None = None
) -> Fingerprint:
    """Takes the fingerprint of a record; `lengths` are characters by hash of texts stored apart."""
    documents = _retrieved(record)
    by_text = _has_texts(documents or ()) and _has_texts(record.context)
    name = _name if by_text else _id
    chunks = None if documents is None else _chunks(documents, lengths or {}, name)
    return Fingerprint(
        place=(record.service, record.environment, record.route),
        time_unix_nano=time_unix_nano,
        question=_question(record),
        chunks=chunks,
        by_text=by_text,
        shown=_shown(record, name),
        template=record.prompt_template,
        lacks=_lacks(record, chunks),
        scopes=record.instrumentors,
        values=_values(record),
        numbers=_numbers(record, chunks),
    )


def _retrieved(record: RagRecord) -> Sequence[Document] | None:
    """What the retriever returned, else the documents that later steps show; None without any."""
    if "retrieved" not in record.absent and (record.retrieved or not record.error):
        return record.retrieved
    return record.reranked or record.context or None


def _has_texts(documents: Sequence[Document]) -> bool:
    """Whether all texts are known, in words or by their hashes."""
    # The collector hashes every text, so the second question is seldom asked.
    return "" not in [document.text_hash for document in documents] or all(
        document.text_hash or document.content for document in documents
    )


def _chunks(
    documents: Sequence[Document], lengths: Mapping[str, int], name: Callable[[Document], str]
) -> tuple[Chunk, ...]:
    return tuple(
        [
            Chunk(
                text=short(name(document)),
                document=document.document_id[:MOST_CHARACTERS],
                length=lengths.get(document.text_hash)
                if document.content is None
                else len(document.content),
                score=_known(document.score),
            )
            for document in documents[:MOST_CHUNKS]
        ]
    )


def _shown(record: RagRecord, name: Callable[[Document], str]) -> tuple[int, ...] | None:
    """The chunks of the prompt in its order; None where they are unknown."""
    if "context" in record.absent or record.error:
        return None
    return tuple([short(name(document)) for document in record.context[:MOST_CHUNKS]])


def _is_without_scores(chunks: Sequence[Chunk]) -> bool:
    return chunks[0].score is None and all(chunk.score is None for chunk in chunks)


def _lacks(record: RagRecord, chunks: Sequence[Chunk] | None) -> Mapping[str, Absent] | None:
    if record.error:
        return None
    lacks = {field: reason for field, reason in record.absent.items() if reason in WITHHELD}
    if not chunks and lacks:
        # Nothing was retrieved: its texts, ids and scores were not withheld.
        lacks = {field: lacks[field] for field in lacks if field not in OF_CHUNKS}
    elif chunks and _is_without_scores(chunks):
        lacks["scores"] = Absent.NOT_SENT
    if not record.prompt_template:
        lacks["prompt"] = Absent.NOT_SENT
    if not record.dimensions.llm_model:
        lacks["model"] = Absent.NOT_SENT
    return lacks


def _known(score: float | None) -> float | None:
    """A score that can be computed with: neither NaN nor beyond LARGEST."""
    return score if score is not None and -LARGEST < score < LARGEST else None


def _name(document: Document) -> str:
    """The same name for the same text, whether the record holds the text or only its hash."""
    return document.text_hash or (
        text_hash(document.content) if document.content else document.chunk_id
    )


def _id(document: Document) -> str:
    return document.chunk_id or document.document_id


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
        _stated_prompt(record),
        "" if about.temperature is None else f"{about.temperature:g}",
        "" if about.max_tokens is None else str(about.max_tokens),
        "" if about.top_k is None else str(about.top_k),
        about.service_version,
    )


def _stated_prompt(record: RagRecord) -> str:
    """The prompt version that the service states; a hash that stands for one is none."""
    version = record.dimensions.prompt_version
    return "" if record.prompt_template and version.startswith(HASHED) else version


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
