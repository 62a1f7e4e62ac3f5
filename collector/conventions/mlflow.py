"""MLflow Tracing over OTLP: `mlflow.spanType`, `mlflow.spanInputs`, `mlflow.spanOutputs`.

Every value is encoded as JSON, even texts: the type of a retriever arrives as `"RETRIEVER"` with
quotes. Inputs and outputs are the arguments and the result of a function or a client.
Source: mlflow/mlflow `mlflow/tracing/constant.py`, 2.14 to 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from collector.claims.claim import Claim, Field, Listing, Message, SpanRole, Withheld, scalar_claims
from collector.claims.messages import messages_of
from collector.claims.recover import as_container, number, text, whole
from collector.claims.traced_calls import (
    decode,
    documents_in_arguments,
    first_member,
    plain_text,
    prompt_messages,
    question_in_arguments,
    reply_messages,
    returned_documents,
    tool_message_documents,
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
    "mlflow.llm.model": (Field.MODEL, plain_text, 6),
    "session.id": (Field.SESSION, plain_text, 1),
    "user.id": (Field.USER, plain_text, 1),
    "mlflow.trace.session": (Field.SESSION, plain_text, 4),
    "mlflow.trace.user": (Field.USER, plain_text, 4),
    "mlflow.traceName": (Field.WORKFLOW, plain_text, 5),
    "mlflow.traceTag.tenant": (Field.TENANT, plain_text, 5),
    "mlflow.traceTag.locale": (Field.LOCALE, plain_text, 5),
}
INPUTS, OUTPUTS = "mlflow.spanInputs", "mlflow.spanOutputs"
NOTHING = "null"
"""The output of a call that returned none."""
INVOCATION = ("invocation_params", "params", "model_parameters")
"""Attributes in which integrations put the parameters of a call."""


def claims(span: Span) -> Iterator[Claim]:
    """Reads the claims of an MLflow span."""
    attributes = span.attributes
    kind = plain_text(attributes.get("mlflow.spanType")).upper()
    role = _role(span, kind)
    if role is not None:
        # A guess from the name or an unknown type ranks behind the other conventions.
        yield Claim(Field.ROLE, role, 4 if kind in ROLES else 12)
    yield from scalar_claims(attributes, SCALARS)
    if "mlflow.linkedPrompts" in attributes:
        yield Claim(
            Field.PROMPT_VERSION, partial(_linked_prompts, attributes["mlflow.linkedPrompts"]), 6
        )
    yield from _usage(attributes)
    if role is SpanRole.LLM:
        yield from _model_call(attributes)
    else:
        yield from _call(span, role)


def _role(span: Span, kind: str) -> SpanRole | None:
    """The role by type; without a type by name, if the span returned documents."""
    if kind in ROLES:
        return ROLES[kind]
    name = span.name.lower()
    if "rerank" in name and isinstance(returned_documents(span.attributes.get(OUTPUTS)), Listing):
        return SpanRole.RERANKER
    return SpanRole.CHAIN if kind else None


def _call(span: Span, role: SpanRole | None) -> Iterator[Claim]:
    inputs, result = span.attributes.get(INPUTS), span.attributes.get(OUTPUTS)
    if inputs is not None:
        claim_field = Field.QUERY if role is SpanRole.EMBEDDING else Field.INPUT
        yield Claim(claim_field, partial(_question_or_all, inputs), 5)
        if role is SpanRole.RERANKER:
            yield Claim(Field.RERANK_INPUT, partial(documents_in_arguments, inputs), 5)
    if result in (None, NOTHING) or role is SpanRole.EMBEDDING:
        return
    yield Claim(Field.OUTPUT, partial(decode, result), 5)
    if role is SpanRole.RERANKER:
        yield Claim(Field.RERANKED, partial(returned_documents, result), 5)
    elif role is SpanRole.TOOL:
        yield Claim(Field.RETRIEVED, partial(tool_message_documents, result), 5)
    elif role is SpanRole.RETRIEVER or (
        role in (None, SpanRole.CHAIN) and "retriev" in span.name.lower()
    ):
        yield Claim(Field.RETRIEVED, partial(returned_documents, result), 5)


def _question_or_all(value: object) -> object:
    return question_in_arguments(value) or decode(value)


def _model_call(attributes: Attributes) -> Iterator[Claim]:
    """A call of a model. `mlflow.chat.messages` (2.20 to 3.1) ends with the reply."""
    if INPUTS in attributes:
        yield Claim(Field.PROMPT, partial(prompt_messages, attributes[INPUTS]), 5)
    if attributes.get(OUTPUTS, NOTHING) != NOTHING:
        yield Claim(Field.REPLY, partial(reply_messages, attributes[OUTPUTS]), 5)
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
    """The messages of a conversation without its final reply, or (`replies`) only that."""
    messages = messages_of(value)
    if not isinstance(messages, tuple):
        return messages
    is_answered = messages[-1].role in ("assistant", "ai", "model")
    if replies:
        return messages[-1:] if is_answered else None
    return (messages[:-1] if is_answered else messages) or None


def _finish_reason(output: object) -> str | None:
    choices = first_member(output, "choices", "candidates")
    first = choices[0] if isinstance(choices, list) and choices else output
    reason = first_member(first, "finish_reason", "finishReason", "stop_reason", "stopReason")
    return text(reason) or None


def _temperature(parameters: object) -> float | None:
    return number(first_member(parameters, "temperature"))


def _max_tokens(parameters: object) -> int | None:
    return whole(
        first_member(parameters, "max_tokens", "max_completion_tokens", "max_output_tokens")
    )


def _usage(attributes: Attributes) -> Iterator[Claim]:
    usage = attributes.get("mlflow.chat.tokenUsage")
    if usage is not None:
        yield Claim(Field.INPUT_TOKENS, whole(first_member(usage, "input_tokens")), 6)
        yield Claim(Field.OUTPUT_TOKENS, whole(first_member(usage, "output_tokens")), 6)
        cached = first_member(usage, "cache_read_input_tokens")
        yield Claim(Field.CACHE_READ_TOKENS, whole(cached), 6)
    cost = attributes.get("mlflow.llm.cost")
    if cost is not None:
        yield Claim(Field.COST_USD, number(first_member(cost, "total_cost")), 5)


def _linked_prompts(value: object) -> str | None:
    """The version of the linked prompt; of several, names and versions of all."""
    container = as_container(value).value
    prompts = [entry for entry in container if isinstance(entry, dict)] if isinstance(
        container, list) else []  # fmt: skip
    if len(prompts) == 1:
        return text(prompts[0].get("version")) or None
    return (
        ",".join(f"{text(linked.get('name'))}:{text(linked.get('version'))}" for linked in prompts)
        or None
    )
