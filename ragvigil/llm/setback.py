"""From an error of a provider to a setback: its kind, and whether another attempt may succeed.

Imports pydantic_ai; only what opens a client imports this module.
"""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Iterator

from pydantic_ai import exceptions as errors

from ragvigil.llm.outcome import FailureKind, Setback
from ragvigil.llm.reply_form import names_the_form
from ragvigil.llm.retry_after import requested_pause
from ragvigil.llm.transport import ReplyTooLarge

OUT_OF_ORDER = Setback(
    kind=FailureKind.UNPARSEABLE,
    detail="the endpoint answered something else than its protocol",
    passes=True,
    is_outage=True,
    is_paid=True,
)
FLAGGED = {"content_filter", "content_policy_violation", "ResponsibleAIPolicyViolation"}
"""Error codes of OpenAI and Azure that mean a refusal."""
FORM_STATUS = {400, 422, 500, 501}
"""A server that does not know a form should answer 400; llama_cpp.server answers 500."""
REFUSED_FORM = "the server refuses this form of reply (reply_form)"
CODE = re.compile(r"[A-Za-z][\w.-]{0,59}", re.ASCII)
"""A code that is a name; anything else may hold text that must not be logged."""


def setback_of(error: Exception, now: float, prompt: str = "") -> Setback:
    """The setback for an exception of the SDKs; `now` is Unix time."""
    if any(isinstance(cause, ReplyTooLarge) for cause in _chain(error)):
        return Setback(
            kind=FailureKind.TOO_LARGE, detail="the reply is too large to be read", is_paid=True
        )
    if isinstance(error, errors.ContentFilterError):
        return Setback(kind=FailureKind.REFUSED, detail="the provider's filter", is_paid=True)
    if isinstance(error, errors.ModelHTTPError):
        return _of_status(error, now, prompt)
    if isinstance(error, errors.ModelTimeoutError | errors.ModelRequestTimeout):
        return Setback(
            kind=FailureKind.TIMEOUT,
            detail="the connection timed out",
            passes=True,
            is_outage=True,
            is_paid=True,
        )
    if isinstance(error, errors.ModelConnectionError):
        return _of_connection(error)
    return OUT_OF_ORDER


def _of_connection(error: errors.ModelConnectionError) -> Setback:
    kind, detail = FailureKind.UNAVAILABLE, f"while it was to {error.phase or 'work'}"
    for cause in _chain(error):
        if isinstance(cause, socket.gaierror):
            kind, detail = FailureKind.NO_ADDRESS, "the host's name is not known"
        elif isinstance(cause, ssl.SSLCertVerificationError):
            kind, detail = FailureKind.TLS, f"certificate: {cause.verify_message}"
        elif isinstance(cause, ssl.SSLError):
            kind, detail = FailureKind.TLS, f"TLS: {cause.reason or 'no handshake'}"
        elif isinstance(cause, ConnectionRefusedError):
            detail = "nothing listens there"
    return Setback(
        kind=kind,
        detail=f"the connection failed: {detail}",
        passes=True,
        is_outage=True,
        is_paid=error.phase not in ("pool", "connect"),
    )


def may_be_the_form(error: Exception) -> bool:
    """Whether the form of reply may be the reason for the error."""
    return isinstance(error, errors.ModelHTTPError) and error.status_code in FORM_STATUS


def _of_status(error: errors.ModelHTTPError, now: float, prompt: str) -> Setback:
    kind, passes, is_outage = _class_of(error)
    may_be_open = kind in (FailureKind.UNAVAILABLE, FailureKind.REJECTED)
    is_open = may_be_open and may_be_the_form(error)
    if is_open and names_the_form(f"{error.body}", prompt):
        return Setback(kind=kind, detail=f"{_detail(error)}: {REFUSED_FORM}", refuses_form=True)
    return Setback(
        kind=kind,
        detail=_detail(error),
        passes=passes,
        is_outage=is_outage,
        requested_pause=requested_pause(error.headers or {}, now),
    )


def _class_of(error: errors.ModelHTTPError) -> tuple[FailureKind, bool, bool]:
    """Kind, whether another attempt may succeed, whether the endpoint is at fault."""
    if isinstance(error, errors.ModelContextWindowExceededError) or error.status_code == 413:
        return FailureKind.CONTEXT, False, False
    if {error.provider_error_code, error.provider_error_type} & FLAGGED:
        return FailureKind.REFUSED, False, False
    if isinstance(error, errors.ModelQuotaExceededError):
        return FailureKind.QUOTA, False, True
    if isinstance(error, errors.ModelRateLimitError) or error.status_code == 429:
        return FailureKind.RATE_LIMITED, True, True
    if error.status_code >= 500 or error.status_code == 408:
        return FailureKind.UNAVAILABLE, True, True
    if isinstance(error, errors.ModelAuthenticationError):
        return FailureKind.WRONG_KEY, False, True
    if isinstance(error, errors.ModelNotFoundError):
        return FailureKind.NO_MODEL, False, True
    return FailureKind.REJECTED, False, False


def _detail(error: errors.ModelAPIError) -> str:
    """Status and code; not the message, which may repeat the prompt or a part of the key."""
    status = getattr(error, "status_code", None)
    code = error.provider_error_code or error.provider_error_type or ""
    shown = code if CODE.fullmatch(code) else ""
    parts = [f"HTTP {status}" if status else type(error).__name__, shown]
    return " ".join(part for part in parts if part)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
