"""The loop guard: the calls of this daemon are never traced into it and judged again.

Within this process instrumentation is switched off around a call. To the provider goes a W3C
`traceparent` that is not sampled, so that an instrumented proxy (LiteLLM, vLLM) exports nothing;
where one exports all the same, the trace id begins with our mark.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

MARK = b"ragvigil".hex()


def marked_trace(chance: random.Random) -> str:
    """A `traceparent` header of a trace of our own, not sampled.

    >>> marked_trace(random.Random(1))
    '00-726167766967696c91b7584a2265b1f5-cd613e30d8f16adf-00'
    """
    return f"00-{MARK}{chance.getrandbits(64):016x}-{chance.getrandbits(64) | 1:016x}-00"


def is_own(trace_id: str) -> bool:
    """Whether a trace is that of a call which this house has made.

    >>> is_own("726167766967696c91b7584a2265b1f5"), is_own("4bf92f3577b34da6a3ce929d0e0e4736")
    (True, False)
    """
    return trace_id.lower().startswith(MARK)


@contextmanager
def untraced() -> Iterator[None]:
    """Switches instrumentation off, as OpenTelemetry's and OpenInference's instrumentors ask."""
    from opentelemetry import context

    token = context.attach(context.set_value("suppress_instrumentation", True))
    try:
        yield
    finally:
        context.detach(token)
