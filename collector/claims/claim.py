"""The vocabulary between conventions and records: a claim is one field of one span."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum, StrEnum
from types import ModuleType
from typing import NamedTuple, Protocol

from ragvigil.model.record import Document
from ragvigil.model.span import Span


class SpanRole(StrEnum):
    """What a span does in a RAG service, whatever its convention calls it."""

    LLM = "llm"
    EMBEDDING = "embedding"
    RETRIEVER = "retriever"
    RERANKER = "reranker"
    TOOL = "tool"
    AGENT = "agent"
    CHAIN = "chain"
    GUARDRAIL = "guardrail"
    EVALUATOR = "evaluator"
    PROMPT = "prompt"


class Field(StrEnum):
    """What can be claimed. In brackets the type of the value."""

    ROLE = "role"
    """[SpanRole]"""
    QUERY = "query"
    """What a retriever, reranker or embedder was asked [payload]."""
    RETRIEVED = "retrieved"
    """What the span returned as documents [Listing]."""
    RERANK_INPUT = "rerank_input"
    """What a reranker was given [Listing]."""
    RERANKED = "reranked"
    """What a reranker returned [Listing]."""
    CONTEXT = "context"
    """Documents that are declared, or seen, to go into the prompt [Listing]."""
    INPUT = "input"
    """What the span was called with [payload: text, JSON text, list or dict]."""
    OUTPUT = "output"
    """What the span returned [payload]."""
    PROMPT = "prompt"
    """Messages sent to the model, system instructions first [tuple of Message]."""
    REPLY = "reply"
    """Messages that the model returned [tuple of Message]."""
    RAW_REPLY = "raw_reply"
    """The provider's own response, where citations hide [payload]."""
    CITATIONS = "citations"
    """Citations that the user's code declares [payload: list of mappings]."""
    ROUTE = "route"
    """The route that the user's code declares [str]."""
    ENVIRONMENT = "environment"
    """[str]"""
    WORKFLOW = "workflow"
    """Name of the workflow or function, a route of the application [str]."""
    AGENT_NAME = "agent_name"
    """[str]"""
    MODEL = "model"
    """Model of an LLM, embedding or reranker span [str]."""
    INPUT_TOKENS = "input_tokens"
    OUTPUT_TOKENS = "output_tokens"
    CACHE_READ_TOKENS = "cache_read_tokens"
    REASONING_TOKENS = "reasoning_tokens"
    COST_USD = "cost_usd"
    PROMPT_VERSION = "prompt_version"
    INDEX_EPOCH = "index_epoch"
    TEMPERATURE = "temperature"
    MAX_TOKENS = "max_tokens"
    TOP_K = "top_k"
    FINISH_REASON = "finish_reason"
    TENANT = "tenant"
    LOCALE = "locale"
    SLICE = "slice"
    SESSION = "session"
    USER = "user"
    RESPONSE_ID = "response_id"
    FIRST_TOKEN_SECONDS = "first_token_seconds"
    """Seconds from the start of an LLM span to its first token [float]."""
    ERROR = "error"
    """Why the span failed, where a vendor says so beside the span's own status; `UNNAMED` where it
    gives no reason [str]."""


UNNAMED = "error"
"""The reason of a failure that gives none."""


class Withheld(Enum):
    """Claimed in place of a value: the span has the field, but not its content."""

    HIDDEN = "hidden"
    TRUNCATED = "truncated"


class Message(NamedTuple):
    """One chat message; `calls_tool` where it asks for a tool call."""

    role: str
    text: str
    calls_tool: bool = False


class Listing(NamedTuple):
    """An ordered list of documents; `complete` is False where some were cut off.

    `slots` are the original 0-based positions of the documents where some are missing, `total` how
    many there were where that is known.
    """

    documents: tuple[Document, ...]
    complete: bool = True
    slots: tuple[int, ...] = ()
    total: int = 0


class Claim(NamedTuple):
    """One field of one span as a convention reads it; the lowest precedence wins.

    `value` may be a callable without arguments: it is called only when the field is needed and
    no stronger claim gave a value. None means no value. Precedences are the positions of the
    fact sheet's lists: 0 is what the user's code declares, 1 a vendor's own attribute, and so on.
    A NamedTuple, because a trace makes hundreds of them.
    """

    field: Field
    value: object
    precedence: int = 5


class Convention(Protocol):
    """A module in `collector.conventions`, registered under `ragvigil.conventions`.

    `ROOTS` are the first segments of the attribute, event or log names that it reads; it is
    asked only about spans that have one of them. An empty set means every span.
    """

    ROOTS: frozenset[str]

    def claims(self, span: Span) -> Iterable[Claim]:
        """What the span says, field by field; total: never raises on any span."""
        ...


Named = tuple[str, "Convention | ModuleType"]
