"""What was asked and what was answered, and why one of them cannot be told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from collector.claims.claim import Field, SpanRole, Withheld
from collector.claims.payload import (
    answer_of,
    is_json_answer,
    last_user_text,
    question_of,
    unfenced,
)
from collector.claims.prompt_chunks import blocks, question_in
from collector.claims.recover import as_container, text
from collector.record.boundaries import Extent, has_failed, reply_text
from collector.record.context import prompt_texts
from collector.record.evidence import Evidence
from collector.record.tree import Node
from ragvigil.model.record import Absent

PLAIN_NAMES = frozenset({"question", "query", "user_query", "user_question", "user_input"})
CUT_REASONS = frozenset(
    {"length", "max_tokens", "max_output_tokens", "model_length", "incomplete", "MAX_TOKENS"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """`text` is what the user read; `reply` what the model wrote, where that is JSON around it."""

    text: str | None = None
    reply: str = ""
    is_cut: bool = False
    why: Absent = Absent.NOT_SENT


def question(extent: Extent, evidence: Evidence) -> str | None:
    """The user's question.

    The retriever's query, where all retrievers were asked the same before any model could rewrite
    it; else what the record's root was asked; else what the prompt names as the question.
    """
    declared = _declared(extent.nodes)
    if declared:
        return declared
    asked = {one.query for one in evidence.retrievals if one.query}
    asked.update(_rerank_queries(extent.nodes) if not asked else ())
    if len(asked) == 1 and not _is_rewritten(extent):
        return asked.pop()
    at_root = _asked_at(extent.root)
    if at_root:
        return at_root
    prompts = prompt_texts(extent.answering)
    named = next((found for one in reversed(prompts) if (found := question_in(one))), None)
    if named is None and _calls_tools(extent):
        first = min(extent.models, key=lambda one: (one.start, one.id))
        named = _last_user(first)  # the user's own words, before any tool's result
    if named:
        return named
    if asked:
        return min(asked, key=lambda one: (evidence_order(evidence, one), one))
    return _below_root(extent) or _last_user(extent.answering)


def evidence_order(evidence: Evidence, query: str) -> int:
    """The place of the first retrieval that was asked this."""
    queries = [one.query for one in evidence.retrievals]
    return queries.index(query) if query in queries else len(queries)


def _declared(nodes: Iterable[Node]) -> str | None:
    for node in nodes:
        if node.reading is not None and "ragvigil.query" in node.reading.span.attributes:
            found = text(node.reading.span.attributes["ragvigil.query"])
            if found:
                return found
    return None


def _rerank_queries(nodes: Iterable[Node]) -> set[str]:
    rerankers = [node for node in nodes if node.role is SpanRole.RERANKER and node.reading]
    return {found for node in rerankers if node.reading
            and (found := question_of(node.reading.get(Field.QUERY)))}  # fmt: skip


def _is_rewritten(extent: Extent) -> bool:
    """Whether a model ran before the retrieval: its query need not be the user's words.

    A model that calls tools wrote the query, even where rounded times say otherwise.
    """
    if _calls_tools(extent):
        return True
    starts = [node.start for node in extent.nodes if node.retrieves]
    return bool(starts) and any(model.end <= min(starts) for model in extent.models)


def _calls_tools(extent: Extent) -> bool:
    """Whether a model of this answer asked for a tool call."""
    replies = (one.reading.get(Field.REPLY) for one in extent.models if one.reading is not None)
    return any(m.calls_tool for reply in replies if isinstance(reply, tuple) for m in reply)


def _asked_at(root: Node) -> str | None:
    if root.reading is None:
        return None
    found = _without_context(question_of(root.reading.get(Field.INPUT)))
    if found:
        return found
    attributes = root.reading.span.attributes
    for name, value in attributes.items():
        if name.rpartition(".")[2].lower() in PLAIN_NAMES:
            plain = question_of(value)
            if plain:
                return plain
    return None


def _below_root(extent: Extent) -> str | None:
    """What the spans between the root and the answering model were asked, outermost first."""
    if extent.answering is None:
        return None
    inner = [node for node in extent.answering.above() if node.role is not SpanRole.LLM]
    return next((found for node in reversed(inner) if (found := _asked_at(node))), None)


def _last_user(answering: Node | None) -> str | None:
    messages = answering.reading.get(Field.PROMPT) if answering and answering.reading else None
    if not isinstance(messages, tuple):
        return None
    asked = last_user_text([{"role": m.role, "content": m.text} for m in messages])
    return _without_context(asked)


def _without_context(asked: str | None) -> str | None:
    """A question as it is; of a whole prompt only the question that its template names."""
    if asked is None or "\n" not in asked:
        return asked
    return question_in(asked) or (None if blocks([asked]) else asked)


def answer(extent: Extent) -> Answer:
    """The answer: what the root returned, else what the answering model replied."""
    model = extent.answering
    said = _said_at_root(extent)
    reply = reply_text(model) if model is not None else ""
    failed = model is not None and has_failed(model)
    found = said or _inside(reply) or _from_wrappers(extent)
    if found is None:
        return Answer(why=_why(extent, failed))
    return Answer(
        text=found,
        reply=reply if reply != found else "",
        is_cut=failed or _finish_reason(model) in CUT_REASONS,
    )


def _said_at_root(extent: Extent) -> str | None:
    """What the root or an entry span above it returned; a lone word is a status, not an answer."""
    for node in (extent.root, *extent.root.above()):
        if node.reading is None or (node is not extent.root and not node.is_entry):
            continue
        said = answer_of(node.reading.get(Field.OUTPUT))
        if said and (len(said.split()) > 1 or len(said) > 12 or not said.isascii()):
            return said
    return None


def _inside(reply: str) -> str | None:
    """A reply's text; of a JSON reply the answer in it."""
    if not reply:
        return None
    if is_json_answer(reply):
        container = as_container(unfenced(reply)).value
        inner = answer_of(container) if isinstance(container, dict) else None
        return inner or reply
    return reply


def _from_wrappers(extent: Extent) -> str | None:
    """What the spans around the answering model returned, nearest first."""
    if extent.answering is None:
        return None
    for node in (*extent.answering.above(), extent.answering):
        said = answer_of(node.reading.get(Field.OUTPUT)) if node.reading is not None else None
        if said and (node.role is SpanRole.LLM or extent.root in (node, *node.above())):
            return said.removeprefix("assistant: ")  # LlamaIndex writes a message as text
    return None


def _finish_reason(model: Node | None) -> str:
    return text(model.reading.get(Field.FINISH_REASON)) if model and model.reading else ""


def _why(extent: Extent, failed: bool) -> Absent:
    if failed or has_failed(extent.root):
        return Absent.ERRORED
    return why_unseen(extent.nodes, (Field.REPLY, Field.OUTPUT), extent.answering)


def why_unseen(nodes: Sequence[Node], fields: Sequence[Field], at: Node | None) -> Absent:
    """Why content is missing: withheld at the span that should have it, or anywhere else."""
    for node in ([at] if at is not None else []) + list(nodes):
        if node.reading is None:
            continue
        withheld = [node.reading.raw(field) for field in fields]
        if Withheld.HIDDEN in withheld:
            return Absent.HIDDEN
        if Withheld.TRUNCATED in withheld or (
            node is at and node.reading.span.dropped_attributes_count > 0
        ):
            return Absent.TRUNCATED
    return Absent.NOT_SENT
