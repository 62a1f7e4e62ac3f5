"""Cost and latency of an answer. Sums go over LLM leaves, never over the spans that wrap them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from collector.claims.claim import Field, SpanRole
from collector.claims.recover import number, whole
from collector.record.boundaries import Extent, is_echo
from collector.record.calls import prompt_texts, reply_text
from collector.record.tree import Node
from ragvigil.model.record import Latencies, Usage

SPENDING = frozenset({SpanRole.LLM, SpanRole.EMBEDDING, SpanRole.RERANKER})
COUNTS = (
    Field.INPUT_TOKENS,
    Field.OUTPUT_TOKENS,
    Field.CACHE_READ_TOKENS,
    Field.REASONING_TOKENS,
)


def model_calls(nodes: Sequence[Node]) -> list[Node]:
    """LLM calls, each once: the deepest span that states tokens, without wrappers and twins."""
    models = [node for node in nodes if node.role is SpanRole.LLM and not is_echo(node)]
    calls = [node for node in models if _states_usage(node)]
    wrappers = {above.id for node in calls for above in node.above()}
    return _without_twins(node for node in calls if node.id not in wrappers)


def stated_at_root(root: Node, calls: list[Node]) -> list[Node]:
    """The calls; if no model states tokens, the root where it states those of the whole answer."""
    return calls or ([root] if _states_usage(root) else [])


def _states_usage(node: Node) -> bool:
    return node.reading is not None and (
        node.reading.claims(Field.INPUT_TOKENS) or node.reading.claims(Field.OUTPUT_TOKENS)
    )


def _without_twins(calls: Iterable[Node]) -> list[Node]:
    """Drops twins: two instrumentors report the same call, so tokens would count twice.

    Twins have the same response id, the same tokens or the same messages, overlap in time and come
    from different scopes. Of twins the one with more counts is kept, then the longer one: a client
    inside may estimate the tokens of a stream.
    """
    distinct: list[Node] = []
    for node in sorted(calls, key=lambda node: (_missing_counts(node), node.start - node.end)):
        if not any(_is_twin(node, other) for other in distinct):
            distinct.append(node)
    return distinct


def _missing_counts(node: Node) -> int:
    reading = node.reading
    return sum(reading is None or reading.get(field) is None for field in COUNTS[:2])


def _is_twin(node: Node, other: Node) -> bool:
    if node.reading is None or other.reading is None:
        return False
    overlapping = node.start < other.end and other.start < node.end
    if not overlapping or node.reading.span.scope.name == other.reading.span.scope.name:
        return False
    own = node.reading.get(Field.RESPONSE_ID)
    return (
        all(node.reading.get(field) == other.reading.get(field) for field in COUNTS[:2])
        or bool(own and own == other.reading.get(Field.RESPONSE_ID))
        or _says_the_same(node, other)
    )


def _says_the_same(node: Node, other: Node) -> bool:
    reply = reply_text(node)
    return bool(reply) and reply == reply_text(other) and prompt_texts(node) == prompt_texts(other)


def usage(calls: Sequence[Node]) -> Usage:
    """Tokens summed over the calls; None if no call states them."""
    sums = [_sum(calls, field) for field in COUNTS]
    return Usage(
        input_tokens=sums[0],
        output_tokens=sums[1],
        cache_read_tokens=sums[2],
        reasoning_tokens=sums[3],
    )


def _sum(nodes: Iterable[Node], field: Field) -> int | None:
    values = [whole(node.reading.get(field)) for node in nodes if node.reading is not None]
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def cost(nodes: Sequence[Node], calls: Sequence[Node]) -> float | None:
    """The cost in US dollars of the LLM calls and of embedding and reranking leaves."""
    if not any(n.reading is not None and n.reading.claims(Field.COST_USD) for n in nodes):
        return None
    leaves = [n for n in nodes if n.role in SPENDING and n.role is not SpanRole.LLM
              and not any(child.role is n.role for child in n.children)]  # fmt: skip
    paid = {node.id: node for node in map(_paid, calls)}  # a span around several calls once
    values = [number(n.reading.get(Field.COST_USD)) for n in (*paid.values(), *leaves) if n.reading]
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _paid(call: Node) -> Node:
    """The span that states the cost of a call: its own, else the nearest LLM span around it."""
    around = (node for node in call.above() if node.role is SpanRole.LLM)
    return next((node for node in (call, *around) if node.reading is not None
                 and node.reading.get(Field.COST_USD) is not None), call)  # fmt: skip


def latencies(extent: Extent) -> Latencies:
    """Wall time per stage in seconds; overlapping spans of a stage count once."""
    total = (extent.root.end - extent.root.start) / 1e9
    return Latencies(
        total=total if total > 0 else None,
        retrieval=_wall(n for n in extent.nodes if n.role is SpanRole.RETRIEVER),
        rerank=_wall(n for n in extent.nodes if n.role is SpanRole.RERANKER),
        generation=_wall(extent.models),
        first_token=_first_token(extent.answering),
    )


def _wall(nodes: Iterable[Node]) -> float | None:
    spans = sorted((node.start, node.end) for node in nodes)
    if not spans:
        return None
    # A sweep over the sorted intervals; everything before `reached` is counted already.
    seconds, reached = 0, 0
    for start, end in spans:
        seconds += max(0, end - max(start, reached))
        reached = max(reached, end)
    return seconds / 1e9


def _first_token(answering: Node | None) -> float | None:
    seconds = (
        answering.reading.get(Field.FIRST_TOKEN_SECONDS)
        if answering and answering.reading
        else None
    )
    return number(seconds)
