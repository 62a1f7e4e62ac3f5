"""The RAG record: one answer, with what was asked, retrieved, ranked, shown and cited."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum

from ragvigil.model.values import dataclass


class Absent(StrEnum):
    """Why a field of a record is unknown. Absent is not empty."""

    NOT_SENT = "not_sent"
    """No span carries it."""
    HIDDEN = "hidden"
    """The instrumentor replaced or withheld it (`__REDACTED__`, content capture off)."""
    TRUNCATED = "truncated"
    """Attributes, events or characters were cut before the span was sent."""
    ERRORED = "errored"
    """The step that would have produced it failed."""
    NOT_RUN = "not_run"
    """The step does not exist in this trace (no reranker, say)."""


class ContextSource(StrEnum):
    """The source of the list of chunks that reached the prompt."""

    RERANKED = "reranked"
    INFERRED = "inferred"
    """The retriever's chunks in an order that only a reranker without a span explains: `reranked`
    is inferred from the prompt."""
    RETRIEVED = "retrieved"
    PROMPT = "prompt"
    DECLARED = "declared"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One chunk. `rank` is 0-based; `score` is raw and never compared across spans.

    `chunk_id` is the user's id where one is on the span, else `text_hash`. `content` is None
    where the spans hide or lack the text.
    """

    chunk_id: str
    content: str | None = None
    document_id: str = ""
    text_hash: str = ""
    score: float | None = None
    rank: int = 0
    metadata: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieval:
    """One retriever call: its query and the documents that it returned."""

    query: str | None
    documents: tuple[Document, ...]
    span_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """A claim of the answer that points at a chunk.

    `marker` is the text in the answer (`[2]`), empty for a provider's structured citation.
    `target` is what it points at as written (`2`, `refund-02`). `chunk_id` is the resolved
    chunk, None where nothing in the record matches. `index` is the 0-based position it names,
    for positional markers. `start` and `end` are character offsets of the marker (or of the
    cited text, for structured citations) in the answer; `claim_start` and `claim_end` those of
    the sentence that it supports. `quote` is the text it claims to quote from the chunk.
    """

    target: str
    chunk_id: str | None = None
    document_id: str = ""
    index: int | None = None
    marker: str = ""
    quote: str | None = None
    start: int | None = None
    end: int | None = None
    claim_start: int | None = None
    claim_end: int | None = None
    style: str = "marker"


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens, summed over LLM leaves only."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Latencies:
    """Wall time in seconds; None where the step has no span."""

    total: float | None = None
    retrieval: float | None = None
    rerank: float | None = None
    generation: float | None = None
    first_token: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimensions:
    """What may explain a regression: each is a value that a release can change."""

    llm_model: str = ""
    embedding_model: str = ""
    reranker_model: str = ""
    prompt_version: str = ""
    index_epoch: str = ""
    temperature: float | None = None
    max_tokens: int | None = None
    finish_reason: str = ""
    top_k: int | None = None
    service_version: str = ""
    tenant: str = ""
    locale: str = ""
    slice: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """Feedback of a user or reviewer on an answer, through a span or the API.

    `kind` is thumbs, escalation, correction, retry or rating; `value` is 1 good .. 0 bad, None
    where the kind has no direction.
    """

    kind: str
    value: float | None = None
    comment: str = ""
    source: str = "api"
    time_unix_nano: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class RagRecord:
    """One answer of a RAG service, with all that its spans hold of it.

    `record_id` is the span id of the record's root. `context` is what reached the prompt;
    `retrieved` what the retriever returned (several calls are merged by `chunk_id`, first
    position wins). A field that the spans do not carry is empty here *and* named in `absent`
    with its reason; an empty `retrieved` without an entry in `absent` is a finding.
    Keys of `absent`: query, retrieved, document_texts, retrieved_texts (only chunks outside the
    context lack their texts), document_ids, reranked, context, answer, citations, usage.
    """

    record_id: str
    trace_id: str
    generation: int = 1
    service: str = ""
    environment: str = ""
    route: str = ""
    entry_route: str = ""
    query: str | None = None
    retrievals: tuple[Retrieval, ...] = ()
    retrieved: tuple[Document, ...] = ()
    reranked: tuple[Document, ...] = ()
    context: tuple[Document, ...] = ()
    context_source: ContextSource = ContextSource.NONE
    answer: str | None = None
    citations: tuple[Citation, ...] = ()
    usage: Usage = Usage()
    cost_usd: float | None = None
    latencies: Latencies = Latencies()
    error: str | None = None
    truncated: tuple[str, ...] = ()
    feedback: tuple[Feedback, ...] = ()
    absent: Mapping[str, Absent] = field(default_factory=dict)
    dimensions: Dimensions = Dimensions()
    prompt_template: tuple[int, ...] = ()
    """Hashes of the system prompt's sentences, without what varies by itself; empty if unseen."""
    session_id: str = ""
    user_id: str = ""
    response_ids: tuple[str, ...] = ()
    started_unix_nano: int = 0
    ended_unix_nano: int = 0
    instrumentors: tuple[str, ...] = ()
    """Instrumentation scopes: that of the span that answered, then of the one that retrieved."""
    conventions: tuple[str, ...] = ()
    sampling_probability: float | None = None
    """Upstream head-sampling probability seen in `tracestate`, None where not stated."""
