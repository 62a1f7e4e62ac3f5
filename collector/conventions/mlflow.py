"""MLflow Tracing over OTLP: `mlflow.spanType`, `mlflow.spanInputs`, `mlflow.spanOutputs`.

Every value is encoded as JSON, texts too: the type of a retriever arrives as `"RETRIEVER"` with
its quotes. Inputs and outputs are what a function or a client took and returned.
Source: mlflow/mlflow `mlflow/tracing/constant.py`, 2.14 to 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from collector.claims.claim import Claim, Field, Listing, Message, SpanRole, Withheld
from collector.claims.messages import several
from collector.claims.recover import as_container, number, text, whole
from collector.claims.traced_calls import (
    asked,
    decoded,
    field,
    given,
    plain,
    prompt,
    reply,
    returned,
    tool_returned,
)
from ragvigil.model.span import Attributes, Span

ROOTS = frozenset({"mlflow"})

ROLES = {
    "LLM": SpanRole.LLM, "CHAT_MODEL": SpanRole.LLM, "RETRIEVER": SpanRole.RETRIEVER,
    "RERANKER": SpanRole.RERANKER, "EMBEDDING": SpanRole.EMBEDDING, "CHAIN": SpanRole.CHAIN,
    "AGENT": SpanRole.AGENT, "TOOL": SpanRole.TOOL, "PARSER": SpanRole.CHAIN,
    "MEMORY": SpanRole.CHAIN, "WORKFLOW": SpanRole.CHAIN, "TASK": SpanRole.CHAIN,
    "GUARDRAIL": SpanRole.GUARDRAIL, "EVALUATOR": SpanRole.EVALUATOR,
}  # fmt: skip
SCALARS = {
    "mlflow.llm.model": (Field.MODEL, plain, 6),
    "session.id": (Field.SESSION, plain, 1),
    "user.id": (Field.USER, plain, 1),
    "mlflow.trace.session": (Field.SESSION, plain, 4),
    "mlflow.trace.user": (Field.USER, plain, 4),
    "mlflow.traceName": (Field.WORKFLOW, plain, 5),
    "mlflow.traceTag.tenant": (Field.TENANT, plain, 5),
    "mlflow.traceTag.locale": (Field.LOCALE, plain, 5),
}
INPUTS, OUTPUTS = "mlflow.spanInputs", "mlflow.spanOutputs"
SPENDING = (SpanRole.LLM, SpanRole.EMBEDDING, SpanRole.RERANKER)
INVOCATION = ("invocation_params", "params", "model_parameters")
"""Attributes in which integrations keep the parameters of a call."""


def claims(span: Span) -> Iterator[Claim]:
    """What a span of MLflow says."""
    attributes = span.attributes
    kind = plain(attributes.get("mlflow.spanType")).upper()
    role = _role(span, kind)
    if role is not None:
        yield Claim(Field.ROLE, role, 4 if kind in ROLES else 12)
    for key in attributes.keys() & SCALARS.keys():
        claimed, read, precedence = SCALARS[key]
        yield Claim(claimed, read(attributes[key]), precedence)
    if "mlflow.linkedPrompts" in attributes:
        yield Claim(Field.PROMPT_VERSION, partial(_linked, attributes["mlflow.linkedPrompts"]), 6)
    if role in SPENDING:
        yield from _spent(attributes)
    if role is SpanRole.LLM:
        yield from _model_call(attributes)
    else:
        yield from _called(span, role)


def _role(span: Span, kind: str) -> SpanRole | None:
    """The type; of a span without one its name, where it returned documents."""
    if kind in ROLES:
        return ROLES[kind]
    name = span.name.lower()
    if "rerank" in name and isinstance(returned(span.attributes.get(OUTPUTS)), Listing):
        return SpanRole.RERANKER
    return SpanRole.CHAIN if kind else None


def _called(span: Span, role: SpanRole | None) -> Iterator[Claim]:
    taken, result = span.attributes.get(INPUTS), span.attributes.get(OUTPUTS)
    if taken is not None:
        claimed = Field.QUERY if role is SpanRole.EMBEDDING else Field.INPUT
        yield Claim(claimed, partial(_asked_or_all, taken), 5)
        if role is SpanRole.RERANKER:
            yield Claim(Field.RERANK_INPUT, partial(given, taken), 5)
    if result is None or role is SpanRole.EMBEDDING:
        return
    yield Claim(Field.OUTPUT, partial(decoded, result), 5)
    if role is SpanRole.RERANKER:
        yield Claim(Field.RERANKED, partial(returned, result), 5)
    elif role is SpanRole.TOOL:
        yield Claim(Field.RETRIEVED, partial(tool_returned, result), 5)
    elif role is SpanRole.RETRIEVER or (
        role in (None, SpanRole.CHAIN) and "retriev" in span.name.lower()
    ):
        yield Claim(Field.RETRIEVED, partial(returned, result), 5)


def _asked_or_all(value: object) -> object:
    return asked(value) or decoded(value)


def _model_call(attributes: Attributes) -> Iterator[Claim]:
    """A call of a model. `mlflow.chat.messages` (2.20 to 3.1) ends with the reply."""
    if INPUTS in attributes:
        yield Claim(Field.PROMPT, partial(prompt, attributes[INPUTS]), 5)
    if OUTPUTS in attributes:
        yield Claim(Field.REPLY, partial(reply, attributes[OUTPUTS]), 5)
        yield Claim(Field.RAW_REPLY, attributes[OUTPUTS], 5)
        yield Claim(Field.FINISH_REASON, partial(_finish_reason, attributes[OUTPUTS]), 5)
    if "mlflow.chat.messages" in attributes:
        messages = attributes["mlflow.chat.messages"]
        yield Claim(Field.PROMPT, partial(_conversation, messages, replies=False), 6)
        yield Claim(Field.REPLY, partial(_conversation, messages, replies=True), 6)
    sources = [attributes[name] for name in INVOCATION if name in attributes]
    for source in [*sources, *([attributes[INPUTS]] if INPUTS in attributes else [])]:
        yield Claim(Field.TEMPERATURE, partial(_temperature, source), 6)
        yield Claim(Field.MAX_TOKENS, partial(_max_tokens, source), 6)


def _conversation(value: object, *, replies: bool) -> tuple[Message, ...] | Withheld | None:
    """The messages of a conversation, without its last reply or only that."""
    found = several(value)
    if not isinstance(found, tuple):
        return found
    is_answered = found[-1].role in ("assistant", "ai", "model")
    if replies:
        return found[-1:] if is_answered else None
    return (found[:-1] if is_answered else found) or None


def _finish_reason(output: object) -> str | None:
    choices = field(output, "choices", "candidates")
    first = choices[0] if isinstance(choices, list) and choices else output
    found = field(first, "finish_reason", "finishReason", "stop_reason", "stopReason")
    return text(found) or None


def _temperature(parameters: object) -> float | None:
    return number(field(parameters, "temperature"))


def _max_tokens(parameters: object) -> int | None:
    return whole(field(parameters, "max_tokens", "max_completion_tokens", "max_output_tokens"))


def _spent(attributes: Attributes) -> Iterator[Claim]:
    usage = attributes.get("mlflow.chat.tokenUsage")
    if usage is not None:
        yield Claim(Field.INPUT_TOKENS, whole(field(usage, "input_tokens")), 6)
        yield Claim(Field.OUTPUT_TOKENS, whole(field(usage, "output_tokens")), 6)
        cached = field(usage, "cache_read_input_tokens")
        yield Claim(Field.CACHE_READ_TOKENS, whole(cached), 6)
    cost = attributes.get("mlflow.llm.cost")
    if cost is not None:
        yield Claim(Field.COST_USD, number(field(cost, "total_cost")), 5)


def _linked(value: object) -> str | None:
    """The version of the only prompt that is linked; of several, all with their names."""
    container = as_container(value).value
    listed = [one for one in container if isinstance(one, dict)] if isinstance(
        container, list) else []  # fmt: skip
    if len(listed) == 1:
        return text(listed[0].get("version")) or None
    return ",".join(f"{text(one.get('name'))}:{text(one.get('version'))}" for one in listed) or None
