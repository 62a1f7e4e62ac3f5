"""What an answer cost and how long it took; sums go over LLM leaves, never over wrappers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from collector.claims.claim import Field, SpanRole
from collector.claims.recover import number, whole
from collector.record.boundaries import Extent
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
    """LLM calls, each once: the deepest span that states its tokens, not its wrappers and twins."""
    calls = [node for node in nodes if node.role is SpanRole.LLM and _states_usage(node)]
    wrappers = {above.id for node in calls for above in node.above()}
    return _without_twins(node for node in calls if node.id not in wrappers)


def _states_usage(node: Node) -> bool:
    return node.reading is not None and (
        node.reading.claims(Field.INPUT_TOKENS) or node.reading.claims(Field.OUTPUT_TOKENS)
    )


def _without_twins(calls: Iterable[Node]) -> list[Node]:
    """Two instrumentors see one call twice: same tokens, overlapping in time, different scopes."""
    kept: list[Node] = []
    for node in calls:
        if not any(_is_twin(node, other) for other in kept):
            kept.append(node)
    return kept


def _is_twin(one: Node, other: Node) -> bool:
    if one.reading is None or other.reading is None:
        return False
    same = all(one.reading.get(field) == other.reading.get(field) for field in COUNTS[:2])
    overlapping = one.start < other.end and other.start < one.end
    return same and overlapping and one.reading.span.scope.name != other.reading.span.scope.name


def usage(calls: Sequence[Node]) -> Usage:
    """Tokens summed over the calls; None where no call states them."""
    sums = [_sum(calls, field) for field in COUNTS]
    return Usage(
        input_tokens=sums[0],
        output_tokens=sums[1],
        cache_read_tokens=sums[2],
        reasoning_tokens=sums[3],
    )


def _sum(nodes: Iterable[Node], field: Field) -> int | None:
    stated = [whole(node.reading.get(field)) for node in nodes if node.reading is not None]
    known = [one for one in stated if one is not None]
    return sum(known) if known else None


def cost(nodes: Sequence[Node], calls: Sequence[Node]) -> float | None:
    """US dollars, summed over LLM calls and over embedding and reranking leaves."""
    if not any(n.reading is not None and n.reading.claims(Field.COST_USD) for n in nodes):
        return None
    leaves = [n for n in nodes if n.role in SPENDING and n.role is not SpanRole.LLM
              and not any(child.role is n.role for child in n.children)]  # fmt: skip
    stated = [number(n.reading.get(Field.COST_USD)) for n in (*calls, *leaves) if n.reading]
    known = [one for one in stated if one is not None]
    return sum(known) if known else None


def latencies(extent: Extent) -> Latencies:
    """Seconds of wall time per stage; overlapping spans of a stage are counted once."""
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
    seconds, reached = 0, 0
    for start, end in spans:
        seconds += max(0, end - max(start, reached))
        reached = max(reached, end)
    return seconds / 1e9


def _first_token(answering: Node | None) -> float | None:
    found = (
        answering.reading.get(Field.FIRST_TOKEN_SECONDS)
        if answering and answering.reading
        else None
    )
    return number(found)
