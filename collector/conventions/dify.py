"""Dify's workflows: the result of a knowledge retrieval, with scores in the chunks' metadata.

Its other names are OTel's, OpenInference's and traceAI's: those conventions read them.
Source: langgenius/dify, `api/extensions/otel/parser` and `semconv/gen_ai.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from collector.claims.claim import Claim, Field, SpanRole
from collector.claims.documents import listed_under
from collector.claims.recover import text
from ragvigil.model.span import Span

ROOTS = frozenset({"gen_ai"})

ROLES = {
    "RETRIEVER": SpanRole.RETRIEVER, "LLM": SpanRole.LLM, "TOOL": SpanRole.TOOL,
    "TASK": SpanRole.CHAIN,
}  # fmt: skip


def claims(span: Span) -> Iterator[Claim]:
    """Reads the claims of a node of a workflow."""
    attributes = span.attributes
    if text(attributes.get("gen_ai.framework")) != "dify":
        return
    role = ROLES.get(text(attributes.get("gen_ai.span.kind")))
    if role is not None:
        yield Claim(Field.ROLE, role, 2)
    if role is SpanRole.RETRIEVER:
        yield Claim(Field.QUERY, text(attributes.get("retrieval.query")), 3)
        yield Claim(
            Field.RETRIEVED,
            partial(listed_under, "result", attributes.get("output.value"), _content),
            3,
        )


def _content(entry: Mapping[str, object]) -> object:
    return entry.get("content")
