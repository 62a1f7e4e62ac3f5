"""Reads the probability of head sampling upstream from the W3C `tracestate`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ragvigil.model.span import Span

VENDOR = re.compile(r"(?:^|,)\s*ot=([^,]*)")
HEX_DIGITS = 14
WHOLE: float = 16.0**14


def sampling_probability(spans: Iterable[Span]) -> float | None:
    """The lowest probability in the tracestates of the spans; None if there is none.

    Reads OpenTelemetry's `ot=th:…` (rejection threshold) and the older `ot=p:…` (a power of two).
    """
    probabilities = [value for span in spans if span.trace_state
                     and (value := probability(span.trace_state)) is not None]  # fmt: skip
    return min(probabilities, default=None)


def probability(trace_state: str) -> float | None:
    """The probability in a tracestate; None if there is none.

    >>> probability("ot=th:8"), probability("a=b,ot=p:2"), probability("ot=th:zz")
    (0.5, 0.25, None)
    """
    vendor = VENDOR.search(trace_state)
    if vendor is None:
        return None
    members = dict(part.split(":", 1) for part in vendor.group(1).split(";") if ":" in part)
    threshold, power = members.get("th"), members.get("p")
    if threshold and re.fullmatch(r"[0-9a-fA-F]{1,14}", threshold):
        return 1 - int(threshold.ljust(HEX_DIGITS, "0"), 16) / WHOLE
    if power and power.isdecimal() and int(power) < 63:
        return 1 / (1 << int(power))
    return None
