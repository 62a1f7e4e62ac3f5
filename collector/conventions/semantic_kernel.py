"""Semantic Kernel: OTel's events, except for its text completions and finish reasons.

Python writes content as log records whose body is JSON text, .NET as span events with
`gen_ai.event.content`; `otel_genai` reads both, and Microsoft.Extensions.AI.
Source: microsoft/semantic-kernel, `model_diagnostics/decorators.py`, `ModelDiagnostics.cs`.
"""

from __future__ import annotations

from collections.abc import Iterator

from collector.claims.claim import Claim, Field, Message, SpanRole, Withheld
from collector.claims.documents import REDACTED
from collector.claims.recover import text
from ragvigil.model.span import Span

ROOTS = frozenset({"gen_ai"})

TEXT_COMPLETIONS = "text_completions"
FINISH_REASON = "gen_ai.response.finish_reason"
PROMPT = "gen_ai.prompt"


def claims(span: Span) -> Iterator[Claim]:
    """Reads the claims under the names that only Semantic Kernel has."""
    attributes = span.attributes
    if text(attributes.get("gen_ai.operation.name")) == TEXT_COMPLETIONS:
        yield Claim(Field.ROLE, SpanRole.LLM, 5)
        yield Claim(Field.PROMPT, Withheld.HIDDEN, 90)
        yield Claim(Field.REPLY, Withheld.HIDDEN, 90)
    if FINISH_REASON in attributes:
        yield Claim(Field.FINISH_REASON, _last_reason(attributes[FINISH_REASON]), 3)
    for record in span.logs:
        if record.event_name == PROMPT and isinstance(record.body, str) and record.body:
            hidden = record.body == REDACTED
            prompt = Withheld.HIDDEN if hidden else (Message("user", record.body),)
            yield Claim(Field.PROMPT, prompt, 7)


def _last_reason(reasons: object) -> str:
    """The last of the reasons, joined by commas; Python prefixes the name of its enum."""
    last = text(reasons).rpartition(",")[2].strip()
    return last.removeprefix("FinishReason.").lower()
