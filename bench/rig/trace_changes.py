"""Changes to a captured trace: those that a record must not notice, and lost attributes."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from ragvigil.model.span import Span, Trace

Change = Callable[[Trace, random.Random], Trace]


def shuffled(trace: Trace, rng: random.Random) -> Trace:
    """The spans in random order, some of them twice, as if split over several requests."""
    spans = [*trace.spans, *rng.sample(trace.spans, k=min(3, len(trace.spans)))]
    rng.shuffle(spans)
    return replace(trace, spans=tuple(spans))


def renamed(trace: Trace, rng: random.Random) -> Trace:
    """Renames the services."""
    name = f"service-{rng.randrange(1000)}"

    def other(span: Span) -> Span:
        attributes = {**span.resource.attributes, "service.name": name}
        return replace(span, resource=replace(span.resource, attributes=attributes))

    return replace(trace, spans=tuple(map(other, trace.spans)))


def with_unknown(trace: Trace, rng: random.Random) -> Trace:
    """Attributes that no convention knows, of every type."""
    extra = {
        "acme.flag": True,
        "acme.weights": [0.1, 0.2],
        "acme.request.body": "{'a': [1, 2",
        "retrieval.latency_ms": rng.random(),
        "llm.acme.0.thing": {"a": None},
        "gen_ai.acme": b"x",
        "team": "search",
    }
    spans = (replace(span, attributes={**extra, **span.attributes}) for span in trace.spans)
    return replace(trace, spans=tuple(spans))


def newest_dropped(limit: int) -> Change:
    """Only the first attributes of each span, as the SDKs of Java and JavaScript keep them."""
    return lambda trace, _: _cut(trace, slice(None, limit))


def oldest_dropped(limit: int) -> Change:
    """Only the last attributes of each span, as the SDK of Python keeps them."""
    return lambda trace, _: _cut(trace, slice(-limit, None))


def _cut(trace: Trace, kept: slice) -> Trace:
    def cut(span: Span) -> Span:
        attributes = dict(list(span.attributes.items())[kept])
        dropped = len(span.attributes) - len(attributes)
        count = span.dropped_attributes_count + dropped
        return replace(span, attributes=attributes, dropped_attributes_count=count)

    return replace(trace, spans=tuple(map(cut, trace.spans)))


UNNOTICED: dict[str, Change] = {
    "order_shuffled_and_doubled": shuffled,
    "services_renamed": renamed,
    "unknown_attributes": with_unknown,
}
