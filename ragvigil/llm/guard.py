"""The loop guard: the daemon never judges traces of its own calls.

Within this process instrumentation is switched off around a call. The provider gets a W3C
`traceparent` that is not sampled, so that an instrumented proxy (LiteLLM, vLLM) exports nothing;
if one exports all the same, the trace id begins with our mark.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

MARK = b"ragvigil".hex()


def marked_trace(chance: random.Random) -> str:
    """The `traceparent` header of a new trace of ours, not sampled.

    >>> marked_trace(random.Random(1))
    '00-726167766967696c91b7584a2265b1f5-cd613e30d8f16adf-00'
    """
    return f"00-{MARK}{chance.getrandbits(64):016x}-{chance.getrandbits(64) | 1:016x}-00"


def is_own(trace_id: str) -> bool:
    """Whether a trace is that of one of our own calls.

    >>> is_own("726167766967696c91b7584a2265b1f5"), is_own("4bf92f3577b34da6a3ce929d0e0e4736")
    (True, False)
    """
    return trace_id.lower().startswith(MARK)


@contextmanager
def untraced() -> Iterator[None]:
    """Switches instrumentation off by the key that OpenTelemetry and OpenInference read."""
    from opentelemetry import context

    token = context.attach(context.set_value("suppress_instrumentation", True))
    try:
        yield
    finally:
        context.detach(token)
