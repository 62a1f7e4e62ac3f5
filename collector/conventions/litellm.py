"""LiteLLM: the provider's request and response under `llm.<provider>.*`, as Python's repr.

Its span `raw_gen_ai_request` is the only one of a call, unless LiteLLM also makes
`litellm_request`, whose names `otel_genai` and `openllmetry` read.
Source: BerriAI/litellm 1.110, `integrations/opentelemetry.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from collector.claims.claim import Claim, Field, Message, SpanRole, Withheld
from collector.claims.recover import as_container, text, whole
from collector.claims.tool_results import messages_with_tools
from collector.claims.traced_calls import first_member
from ragvigil.model.span import Attributes, AttributeValue, Span

ROOTS = frozenset({"llm"})

RAW = "raw_gen_ai_request"
USAGE = (
    (Field.INPUT_TOKENS, ("prompt_tokens", "input_tokens")),
    (Field.OUTPUT_TOKENS, ("completion_tokens", "output_tokens")),
)
HIDDEN = "redacted-by-litellm"


def claims(span: Span) -> Iterator[Claim]:
    """Reads the claims of a raw request."""
    if span.name != RAW:
        return
    raw = _by_name(span.attributes)
    yield Claim(Field.ROLE, SpanRole.LLM, 6)
    yield Claim(Field.MODEL, text(raw.get("model")), 6)
    yield Claim(Field.RESPONSE_ID, text(raw.get("id")), 6)
    for name in ("messages", "input", "contents"):
        if name in raw:
            yield Claim(Field.PROMPT, partial(_messages, raw[name], "user"), 6)
    for name in ("choices", "output", "content", "candidates"):
        if name in raw:
            yield Claim(Field.REPLY, partial(_messages, raw[name], "assistant"), 6)
            yield Claim(Field.FINISH_REASON, partial(_finish_reason, raw[name]), 6)
    for field, names in USAGE:
        if "usage" in raw:
            yield Claim(field, whole(first_member(raw["usage"], *names)), 6)


def _by_name(attributes: Attributes) -> dict[str, AttributeValue]:
    """The members of the request and the response, whatever the provider is called."""
    names = (name.split(".", 2) for name in attributes)
    return {
        parts[2]: attributes[".".join(parts)]
        for parts in names
        if len(parts) == 3 and parts[0] == "llm"
    }


def _messages(value: object, role: str) -> tuple[Message, ...] | Withheld | None:
    if HIDDEN in text(value):
        return Withheld.HIDDEN
    return messages_with_tools(value, role)


def _finish_reason(choices: object) -> str:
    entries = as_container(choices).value
    last = entries[-1] if isinstance(entries, list) and entries else None
    return text(last.get("finish_reason")) if isinstance(last, dict) else ""
