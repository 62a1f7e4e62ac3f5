"""traceAI (Future AGI): `gen_ai.span.kind` or `fi.span.kind`, else OpenInference's own names.

It began as a copy of OpenInference; it renamed the kind, and flattens messages under OTel's names.
The rest is read as OpenInference. Others that write `gen_ai.span.kind` mean the same kinds.
Source: future-agi/traceAI, `fi_instrumentation/fi_types.py` 1.0, `java/traceai-java-core`,
`traceai_cohere`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from collector.claims.claim import Claim, Field, SpanRole, scalar_claims
from collector.claims.flat import columns
from collector.claims.messages import messages_of_rows
from collector.claims.recover import text, whole
from collector.conventions import openinference
from ragvigil.model.span import Attributes, AttributeValue, Span

ROOTS = frozenset({"gen_ai", "fi"})

KINDS = ("gen_ai.span.kind", "fi.span.kind")
ROLES = {
    **openinference.ROLES,
    "CONVERSATION": SpanRole.CHAIN, "A2A_CLIENT": SpanRole.CHAIN, "A2A_SERVER": SpanRole.AGENT,
}  # fmt: skip
RENAMED = {
    "fi.raw_input": "input.value", "fi.raw_output": "output.value",
    "gen_ai.request.parameters": "llm.invocation_parameters",
}  # fmt: skip
MESSAGES = (
    ("gen_ai.input.messages.", Field.PROMPT), ("gen_ai.output.messages.", Field.REPLY),
)  # fmt: skip
SCALARS = {
    "gen_ai.reranker.model": (Field.MODEL, text, 8),
    "gen_ai.reranker.top_n": (Field.TOP_K, whole, 5),
    "gen_ai.usage.input_tokens.cache_read": (Field.CACHE_READ_TOKENS, whole, 4),
    "gen_ai.usage.output_tokens.reasoning": (Field.REASONING_TOKENS, whole, 3),
}


def claims(span: Span) -> Iterator[Claim]:
    """Reads the claims of a traceAI span; none if the span has no kind of traceAI."""
    attributes = span.attributes
    kind = next((text(attributes[name]).upper() for name in KINDS if name in attributes), "")
    if kind not in ROLES:
        return
    yield from scalar_claims(attributes, SCALARS)
    if ROLES[kind] in (SpanRole.LLM, SpanRole.AGENT):
        yield from _messages(attributes)
    yield from openinference.claims(replace(span, attributes=_as_openinference(attributes, kind)))


def _messages(attributes: Attributes) -> Iterator[Claim]:
    for prefix, field in MESSAGES:
        rows = columns(attributes, prefix)
        if rows:
            yield Claim(field, partial(messages_of_rows, rows), 1)


def _as_openinference(attributes: Attributes, kind: str) -> dict[str, AttributeValue]:
    """The attributes as OpenInference would have written them."""
    translated = dict(attributes)
    translated["openinference.span.kind"] = ROLES[kind].value
    for name, other in RENAMED.items():
        if name in attributes:
            translated.setdefault(other, attributes[name])  # a real OpenInference name wins
    return translated
