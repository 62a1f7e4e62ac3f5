"""Tells the traces that an evaluation causes from those of users: they are stored, and no answers.

Who asks a service a golden case sends `tracestate: ragvigil=offline`. By W3C Trace Context a
service passes that on, and OpenTelemetry's SDKs write it into every span of the trace: the service
needs no change. A service that does not go on with the trace it is asked under may set the
attribute `ragvigil.offline` to true on a span, or capture the header `x-ragvigil-golden`.
"""

from __future__ import annotations

from collections.abc import Iterable

from ragvigil.model.span import Attributes, Span

MEMBER = "ragvigil=offline"
"""The member of `tracestate` that marks a trace."""
ATTRIBUTE = "ragvigil.offline"
HEADERS = (
    "http.request.header.x-ragvigil-golden",
    "http.request.header.x_ragvigil_golden",
)
"""The names under which instrumentations write a captured header; it names the golden case."""


def is_offline(spans: Iterable[Span]) -> bool:
    """Whether any span of a trace says that no user asked."""
    return any(
        (span.trace_state and is_marked(span.trace_state))
        or _is_declared(span.attributes)
        or _is_declared(span.resource.attributes)
        for span in spans
    )


def is_marked(trace_state: str) -> bool:
    """Whether a tracestate holds the mark.

    >>> is_marked("ot=th:8, ragvigil=offline"), is_marked("x=ragvigil=offline"), is_marked("")
    (True, False, False)
    """
    return any(member.strip() == MEMBER for member in trace_state.split(","))


def _is_declared(attributes: Attributes) -> bool:
    return attributes.get(ATTRIBUTE) in (True, "true") or any(
        name in attributes for name in HEADERS
    )
