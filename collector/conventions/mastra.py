"""Mastra: OTel's names for models and tools; what goes into a run and comes out has its own.

`mastra.<type>.input` and `mastra.<type>.output` stand on the runs of agents and workflows and on
their steps; `mastra.span.type` is the type. In the messages of a step the results of tools are left
out, so the prompt of a model is never claimed.
Source: @mastra/otel-exporter 1.4, `gen-ai.ts`.
"""

from __future__ import annotations

from collections.abc import Iterator

from collector.claims.claim import Claim, Field, SpanRole
from collector.claims.recover import text
from ragvigil.model.span import Span

ROOTS = frozenset({"mastra"})

ROLES = {
    "agent_run": SpanRole.AGENT, "workflow_run": SpanRole.CHAIN, "workflow_step": SpanRole.CHAIN,
    "model_generation": SpanRole.CHAIN, "scorer_run": SpanRole.EVALUATOR,
}  # fmt: skip


def claims(span: Span) -> Iterator[Claim]:
    """Reads the claims under Mastra's own names."""
    attributes = span.attributes
    kind = text(attributes.get("mastra.span.type"))
    if kind not in ROLES:
        return
    yield Claim(Field.ROLE, ROLES[kind], 4)
    for name, field in (("input", Field.INPUT), ("output", Field.OUTPUT)):
        if f"mastra.{kind}.{name}" in attributes:
            yield Claim(field, attributes[f"mastra.{kind}.{name}"], 5)
