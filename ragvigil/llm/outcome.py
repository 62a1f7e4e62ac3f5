"""The outcome of a call to a language model: a reply, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from pydantic import BaseModel

Answer = TypeVar("Answer", bound=BaseModel)


class Purpose(StrEnum):
    """What a call is for; it decides which part of the budget pays."""

    SAMPLE = "sample"
    BOOST = "boost"
    AUDIT = "audit"
    CANARY = "canary"
    ROOT_CAUSE = "root_cause"
    TRY = "try"


class FailureKind(StrEnum):
    """Why a call gave no answer; none of them is ever a score of 0. See `advice.WAYS_OUT`."""

    TIMEOUT = "timeout"
    RATE_LIMITED = "rate_limited"
    QUOTA = "quota_used_up"
    UNAVAILABLE = "unavailable"
    NO_ADDRESS = "name_not_found"
    TLS = "tls_failed"
    WRONG_KEY = "wrong_key"
    NO_MODEL = "model_not_found"
    REJECTED = "rejected"
    UNPARSEABLE = "unparseable"
    OTHER_WORDS = "other_words"
    CUT_OFF = "cut_off"
    REFUSED = "refused"
    INVALID = "invalid"
    CONTEXT = "context_too_long"
    TOO_LARGE = "too_large"
    BUDGET = "budget"
    BREAKER_OPEN = "breaker_open"


OUTAGES = frozenset(
    {
        FailureKind.TIMEOUT,
        FailureKind.RATE_LIMITED,
        FailureKind.QUOTA,
        FailureKind.UNAVAILABLE,
        FailureKind.NO_ADDRESS,
        FailureKind.TLS,
        FailureKind.WRONG_KEY,
        FailureKind.NO_MODEL,
        FailureKind.BREAKER_OPEN,
    }
)
"""Failures of the endpoint, whatever is asked: a question that met one is asked again later."""
NOT_ASKED = frozenset({FailureKind.BUDGET, FailureKind.BREAKER_OPEN})
"""Failures of questions that were never sent: they say nothing about the endpoint."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens paid for; `assumed` if the provider did not report how many."""

    input_tokens: int = 0
    output_tokens: int = 0
    assumed: bool = False

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            assumed=self.assumed or other.assumed,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply(Generic[Answer]):
    """An answer in the asked form, and the text it was read from; `usage` covers every attempt."""

    answer: Answer
    text: str
    model: str
    usage: Usage = Usage()
    attempts: int = 1
    is_cached: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """No answer; `detail` is one sentence for the log and never holds the prompt or the reply."""

    kind: FailureKind
    detail: str = ""
    usage: Usage = Usage()
    attempts: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Setback:
    """An attempt without an answer.

    `passes`: another attempt may succeed. `is_outage`: the endpoint is at fault, not the question.
    `is_paid`: the provider may charge for it. `refuses_form`: the server does not know the form
    of reply. `requested_pause`: seconds that the server asks its
    clients to wait.
    """

    kind: FailureKind
    detail: str
    passes: bool = False
    is_outage: bool = False
    is_paid: bool = False
    refuses_form: bool = False
    requested_pause: float | None = None
