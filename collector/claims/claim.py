"""The vocabulary between conventions and records: a claim is the value of a field of a span."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum, StrEnum
from typing import NamedTuple, Protocol

from ragvigil.model.record import Document
from ragvigil.model.span import Attributes, AttributeValue, Span


class SpanRole(StrEnum):
    """The role of a span in a RAG service, whatever its convention calls it."""

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
    """The fields that can be claimed; the type of the value in brackets."""

    ROLE = "role"
    """[SpanRole]"""
    QUERY = "query"
    """The query to a retriever, reranker or embedder [payload]."""
    RETRIEVED = "retrieved"
    """The documents that the span returned [Listing]."""
    RERANK_INPUT = "rerank_input"
    """The documents that went into a reranker [Listing]."""
    RERANKED = "reranked"
    """The documents that a reranker returned [Listing]."""
    CONTEXT = "context"
    """Documents that went into the prompt, as declared or observed [Listing]."""
    INPUT = "input"
    """The arguments of the span [payload: text, JSON text, list or dict]."""
    OUTPUT = "output"
    """The result of the span [payload]."""
    PROMPT = "prompt"
    """Messages sent to the model, system instructions first [tuple of Message]."""
    REPLY = "reply"
    """Messages that the model returned [tuple of Message; NO_TEXT if it said nothing]."""
    RAW_REPLY = "raw_reply"
    """The provider's raw response, which may contain citations [payload]."""
    CALLED_TOOLS = "called_tools"
    """The names of the tools that the model's reply calls [tuple of str]."""
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
    TOOL_NAME = "tool_name"
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
    """The vendor's reason why the span failed, in addition to the span's status; `UNNAMED` if the
    vendor gives none [str]."""


UNNAMED = "error"
"""Stands for the reason of a failure that has none."""


class Withheld(Enum):
    """Claimed instead of a value: the span has the field, but not its content."""

    HIDDEN = "hidden"
    TRUNCATED = "truncated"


class Message(NamedTuple):
    """A chat message; `calls_tool` if it requests a tool call."""

    role: str
    text: str
    calls_tool: bool = False


NO_TEXT: tuple[Message, ...] = ()
"""The value of REPLY where the model sent a reply without a text and without a tool call. Unlike
None it says something: the answer is empty. Any claim with a text is stronger."""


class Listing(NamedTuple):
    """An ordered list of documents; `complete` is False if some were cut off.

    If some are missing, `slots` are the original 0-based positions of the others, and `total` is
    the original number, if known.
    """

    documents: tuple[Document, ...]
    complete: bool = True
    slots: tuple[int, ...] = ()
    total: int = 0


class Claim(NamedTuple):
    """The value of a field of a span as a convention reads it; the lowest precedence wins.

    `value` may be a callable without arguments, for values that are costly to parse: it is called
    only if the field is needed and no stronger claim has a value. None means no value. Precedence 0
    is what the user's code declares, 1 a vendor's own attribute, and so on; 90 is the last resort,
    for content that a span of this kind should have but hides.
    A NamedTuple, because a trace creates hundreds of them.
    """

    field: Field
    value: object
    precedence: int = 5


Scalars = Mapping[str, tuple[Field, Callable[[AttributeValue], object], int]]
"""The field of an attribute, how its value is read, and the claim's precedence, by its name.

No two of one field have the same precedence: claims come in no order."""


def scalar_claims(attributes: Attributes, scalars: Scalars) -> Iterator[Claim]:
    """The claims of attributes that hold a field's value each."""
    for name in attributes.keys() & scalars.keys():
        field, read, precedence = scalars[name]
        yield Claim(field, read(attributes[name]), precedence)


class Convention(Protocol):
    """A module in `collector.conventions`, registered under `ragvigil.conventions`.

    `ROOTS` are the first segments of the attribute, event or log names that it reads. It is
    called only for spans that have one of them; with an empty set, for every span.
    """

    ROOTS: frozenset[str]

    def claims(self, span: Span) -> Iterable[Claim]:
        """Reads claims from the span. Total: never raises, whatever the span."""
        ...
