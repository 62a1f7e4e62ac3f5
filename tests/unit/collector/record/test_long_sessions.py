"""The work for a session grows with its turns, and not with their square."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from collector.claims.registry import registered
from collector.record import boundaries
from collector.record.tree import Node, grow
from ragvigil.model.span import Span
from tests.traces import llm, retriever, span

CHAIN = {"openinference.span.kind": "CHAIN"}
AGENT = {"openinference.span.kind": "AGENT"}


def session(turns: int) -> list[Span]:
    """Half of the turns search; the others are agents' that only talk."""
    spans = [span("root", CHAIN, at=(0, turns))]
    for at in range(turns):
        moment = (at, at + 0.5)
        spans += [
            span(f"chain-{at}", CHAIN, parent="root", at=moment),
            retriever(f"search-{at}", parent=f"chain-{at}", at=moment),
            llm(f"llm-{at}", parent=f"chain-{at}", at=moment),
            span(f"agent-{at}", AGENT, parent="root", at=moment),
            llm(f"talk-{at}", parent=f"agent-{at}", at=moment),
        ]
    return spans


def test_each_answer_is_found_in_a_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = grow(session(200), registered())
    steps = 0
    above = Node.above

    def counted(node: Node) -> Iterator[Node]:
        nonlocal steps
        for ancestor in above(node):
            steps += 1
            yield ancestor

    monkeypatch.setattr(Node, "above", counted)
    assert len(boundaries.extents(nodes)) == 400
    assert steps < 50 * len(nodes)
