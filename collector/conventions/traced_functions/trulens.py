"""TruLens: `ai.observability.*`, the functions that its `@instrument` traces.

A generation is a function of the user's around the call of a model: its arguments are no prompt,
and the documents among them are the context. The model's own span, from an instrumentor of its
client, says more. What a search returned may have the ids and scores that its contexts lack.
Source: trulens-otel-semconv 2.16, `otel/semconv/trace.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from collector.claims.call_claims import Call, call_claims
from collector.claims.claim import Claim, Field, Listing, SpanRole, Withheld, scalar_claims
from collector.claims.documents import draft, listing
from collector.claims.recover import as_container, number, text, whole
from collector.claims.traced_calls import (
    decode,
    documents_in_arguments,
    prompt_messages,
    reply_messages,
    returned_documents,
)
from ragvigil.model.span import Attributes, AttributeValue, Span

ROOTS = frozenset({"ai"})

OWN = "ai.observability."
ARGUMENTS, RETURNED = f"{OWN}call.kwargs.", f"{OWN}call.return"
CONTEXTS = f"{OWN}retrieval.retrieved_contexts"
ROLES = {
    "retrieval": SpanRole.RETRIEVER, "reranking": SpanRole.RERANKER, "generation": SpanRole.LLM,
    "agent": SpanRole.AGENT, "tool": SpanRole.TOOL, "mcp": SpanRole.TOOL,
    "guardrail": SpanRole.GUARDRAIL, "eval": SpanRole.EVALUATOR, "eval_root": SpanRole.EVALUATOR,
    "record_root": SpanRole.CHAIN, "nested_record_root": SpanRole.CHAIN,
    "graph_task": SpanRole.CHAIN, "graph_node": SpanRole.CHAIN, "workflow_step": SpanRole.CHAIN,
}  # fmt: skip
SCALARS = {
    "ai.observability.retrieval.query_text": (Field.QUERY, text, 3),
    "ai.observability.reranker.query_text": (Field.QUERY, text, 4),
    "ai.observability.reranker.model_name": (Field.MODEL, text, 6),
    "ai.observability.cost.model": (Field.MODEL, text, 7),
    "ai.observability.cost.num_prompt_tokens": (Field.INPUT_TOKENS, whole, 7),
    "ai.observability.cost.num_completion_tokens": (Field.OUTPUT_TOKENS, whole, 7),
    "ai.observability.conversation_id": (Field.SESSION, text, 5),
}


def claims(span: Span) -> Iterator[Claim]:
    """Reads the claims of a function that TruLens traced."""
    attributes = span.attributes
    kind = text(attributes.get(f"{OWN}span_type")).lower()
    if kind not in ROLES:
        return  # a span of another instrumentor, which TruLens only labels
    yield from scalar_claims(attributes, SCALARS)
    returned = attributes.get(RETURNED)
    if kind == "generation":
        yield from _generation(attributes, returned)
        return
    arguments = dict(_arguments(attributes))
    yield from call_claims(Call(ROLES[kind], span.name, arguments or None, returned))
    yield from _input_and_output(attributes)
    if kind == "retrieval" and CONTEXTS in attributes:
        contexts = attributes[CONTEXTS]
        yield Claim(Field.RETRIEVED, partial(_retrieved, contexts, returned), 1)
    elif kind == "reranking":
        for stage, field in (("input", Field.RERANK_INPUT), ("output", Field.RERANKED)):
            yield Claim(field, partial(_scored, attributes, stage), 3)


def _arguments(attributes: Attributes) -> Iterator[tuple[str, object]]:
    for name, value in attributes.items():
        if name.startswith(ARGUMENTS):
            yield name.removeprefix(ARGUMENTS), decode(value)


def _generation(attributes: Attributes, returned: AttributeValue) -> Iterator[Claim]:
    yield Claim(Field.ROLE, SpanRole.LLM, 7)
    yield Claim(Field.REPLY, partial(reply_messages, returned), 7)
    rest = {}
    for name, value in _arguments(attributes):
        if _is_chat(value):
            yield Claim(Field.PROMPT, partial(prompt_messages, value), 7)
        else:
            rest[name] = value
    yield Claim(Field.CONTEXT, partial(documents_in_arguments, rest), 7)


def _is_chat(value: object) -> bool:
    """Whether a value is a list of messages; as their texts they could be documents too."""
    entries = value if isinstance(value, list) else []
    return any(isinstance(entry, dict) and "role" in entry for entry in entries)


def _input_and_output(attributes: Attributes) -> Iterator[Claim]:
    for name, field in (("input", Field.INPUT), ("output", Field.OUTPUT)):
        value = attributes.get(f"{OWN}record_root.{name}")
        if value is not None:
            yield Claim(field, value, 3)


def _retrieved(contexts: AttributeValue, returned: AttributeValue) -> Listing | Withheld | None:
    """What the function returned, if its documents have the texts of the contexts; else these."""
    texts = _texts(contexts)
    result = returned_documents(returned)
    if isinstance(result, Listing) and [each.content for each in result.documents] == texts:
        return result
    return listing([draft(None, each) for each in texts])


def _scored(attributes: Attributes, stage: str) -> Listing | Withheld | None:
    """The texts before or after a reranker, with their scores where there are as many."""
    texts = _texts(attributes.get(f"{OWN}reranker.{stage}_context_texts"))
    if not texts:
        return None
    scores = as_container(attributes.get(f"{OWN}reranker.{stage}_context_scores")).value
    if not isinstance(scores, list) or len(scores) != len(texts):
        scores = [None] * len(texts)
    pairs = zip(texts, scores, strict=True)
    return listing([draft(None, each, number(score)) for each, score in pairs])


def _texts(value: AttributeValue) -> list[str]:
    container = as_container(value).value
    entries = container if isinstance(container, list) else []
    return [each for each in entries if isinstance(each, str) and each]
