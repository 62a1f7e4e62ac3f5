"""Finds the question and the answer, and the reason if one of them is unknown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from collector.claims.claim import Field, SpanRole, Withheld
from collector.claims.payload import (
    answer_of,
    is_empty_answer,
    last_user_text,
    question_of,
    returns_nothing,
)
from collector.claims.prompt_chunks import context_blocks, question_beside, question_in
from collector.claims.recover import as_container, text
from collector.record.boundaries import Extent
from collector.record.calls import (
    calls_tool,
    ended_unanswered,
    has_failed,
    reply_text,
    said_nothing,
    turn_texts,
    unwrapped,
)
from collector.record.evidence import Evidence
from collector.record.tree import Node
from ragvigil.model.record import Absent

PLAIN_NAMES = frozenset({"question", "query", "user_query", "user_question", "user_input"})
CUT_REASONS = frozenset(
    {"length", "max_tokens", "max_output_tokens", "model_length", "incomplete", "MAX_TOKENS"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """`text` is what the user read; `reply` is what the model wrote, if that differs (JSON).

    An empty `text` is an answer without a text; None is an unknown one, `why` gives the reason.
    """

    text: str | None = None
    reply: str = ""
    is_cut: bool = False
    why: Absent = Absent.NOT_SENT


def question(extent: Extent, evidence: Evidence) -> str | None:
    """The user's question, from the first of these that exists.

    What the user's code declares; the retrievers' query, if it is the same for all and no model
    could have rewritten it; the input of the record's root; that query, if it is what the answering
    model was asked; the question that the prompt labels; the first rewritten query; the input of
    spans between root and model; the last user message.
    """
    declared = _declared(extent.nodes, "ragvigil.query")
    if declared:
        return declared
    queries = {retrieval.query for retrieval in evidence.retrievals if retrieval.query}
    queries.update(_rerank_queries(extent.nodes) if not queries else ())
    if len(queries) == 1 and not _is_rewritten(extent):
        return queries.pop()
    at_root = _question_at(extent.root)
    if at_root:
        return at_root
    if len(queries) == 1 and _last_user(extent.answering) in queries:
        return queries.pop()
    prompts = turn_texts(extent.answering)
    labelled = next(
        (question_ for prompt in reversed(prompts) if (question_ := question_in(prompt))), None
    )
    if labelled is None and _calls_tools(extent):
        # The user's own text, before any tool's result; helpers of a framework show no messages.
        in_order = sorted(extent.models, key=lambda model: (model.start, model.id))
        labelled = next(filter(None, map(_last_user, in_order)), None)
    if labelled:
        return labelled
    if queries:  # several, or rewritten: the one that was searched first
        return _first_searched(evidence, queries)
    return _below_root(extent) or _last_user(extent.answering)


def _first_searched(evidence: Evidence, queries: set[str]) -> str:
    """The query of the first retrieval; of those without a retrieval the first by alphabet."""
    searched = (retrieval.query for retrieval in evidence.retrievals)
    return next((query for query in searched if query in queries), min(queries))


def _declared(nodes: Iterable[Node], name: str) -> str | None:
    """The first text that the user's code declares under a name; an empty one if all are empty."""
    values = [node.reading.span.attributes.get(name) for node in nodes if node.reading is not None]
    texts = [text(value) for value in values if value is not None]
    return next(filter(None, texts), "" if texts else None)


def _rerank_queries(nodes: Iterable[Node]) -> set[str]:
    rerankers = [node for node in nodes if node.role is SpanRole.RERANKER and node.reading]
    return {query for node in rerankers if node.reading
            and (query := question_of(node.reading.get(Field.QUERY)))}  # fmt: skip


def _is_rewritten(extent: Extent) -> bool:
    """Whether a model ran before the retrieval: then the query may not be the user's text.

    A model that calls a tool wrote the query, even if rounded times say that it ended later; one
    that began after the retrieval calls a tool for another reason, such as a form for its reply.
    """
    starts = [node.start for node in extent.nodes if node.retrieves]
    if not starts:
        return _calls_tools(extent)
    return any(
        model.end <= min(starts) or (model.start <= min(starts) and calls_tool(model))
        for model in extent.models
    )


def _calls_tools(extent: Extent) -> bool:
    """Whether a model of this answer requested a tool call."""
    return any(map(calls_tool, extent.models))


def _question_at(root: Node) -> str | None:
    if root.reading is None:
        return None
    question_ = _without_context(question_of(root.reading.get(Field.INPUT)))
    if question_:
        return question_
    attributes = root.reading.span.attributes
    for name, value in attributes.items():
        if name.rpartition(".")[2].lower() in PLAIN_NAMES:
            plain = question_of(value)
            if plain:
                return plain
    return None


def _below_root(extent: Extent) -> str | None:
    """The question in the input of the spans between root and answering model, outermost first."""
    if extent.answering is None:
        return None
    inner = [node for node in extent.answering.above() if node.role is not SpanRole.LLM]
    return next((question_ for node in reversed(inner) if (question_ := _question_at(node))), None)


def _last_user(answering: Node | None) -> str | None:
    messages = answering.reading.get(Field.PROMPT) if answering and answering.reading else None
    if not isinstance(messages, tuple):
        return None
    text_ = last_user_text([{"role": m.role, "content": m.text} for m in messages])
    return _without_context(text_)


def _without_context(text_: str | None) -> str | None:
    """A question unchanged; of a whole prompt only the question that its template labels."""
    if text_ is None or "\n" not in text_:
        return text_
    return question_beside(text_) if context_blocks([text_]) else question_in(text_) or text_


def answer(extent: Extent) -> Answer:
    """The answer: the root's output, else the answering model's reply, else a wrapper's output.

    It is empty if the service's code says so, or the model, and no span has a text.
    """
    model = extent.answering
    output = _output_at_root(extent)
    reply = reply_text(model) if model is not None else ""
    failed = model is not None and has_failed(model)
    text_ = output or unwrapped(reply) or _from_wrappers(extent)
    declared = _declared(extent.nodes, "ragvigil.answer")
    if (text_ is None or declared == "") and _is_empty(extent, failed, declared):
        text_ = ""
    if text_ is None:
        return Answer(why=_why(extent, failed))
    return Answer(
        text=text_,
        reply=reply if reply != text_ else "",
        is_cut=failed or _finish_reason(model) in CUT_REASONS,
    )


def _output_at_root(extent: Extent) -> str | None:
    """The output of the root or of a span above it; a short single word is a status code.

    A span above that was given the same question and returns a text has the last word: it may
    have replaced the answer. Else entry spans count where the root says nothing.
    """
    above = list(extent.root.above())
    final = [node for node in reversed(above) if _returns_text(node) and _asked(node, extent)]
    for node in (*final, extent.root, *above):
        is_known = node is extent.root or node in final
        if node.reading is None or not (is_known or node.is_entry):
            continue
        output = answer_of(node.reading.get(Field.OUTPUT))
        if output and (len(output.split()) > 1 or len(output) > 12 or not output.isascii()):
            return output
    return None


def _returns_text(node: Node) -> bool:
    output = node.reading.get(Field.OUTPUT) if node.reading is not None else None
    structure = as_container(output).value
    if isinstance(structure, dict):
        output = structure.get("outputs", structure.get("output"))
    return isinstance(output, str) and not isinstance(as_container(output).value, (dict, list))


def _asked(node: Node, extent: Extent) -> bool:
    """Whether a span was given the question of an answer inside, and holds no other retrieval."""
    readings = (node.reading, extent.root.reading)
    asked, own = (question_of(r.get(Field.INPUT)) if r is not None else None for r in readings)
    if not own or asked != own:
        return False
    members = {inner.id for inner in extent.nodes}
    return all(inner.id in members for inner in node.below() if inner.retrieves)


def _from_wrappers(extent: Extent) -> str | None:
    """The output of the spans around the answering model, nearest first."""
    if extent.answering is None:
        return None
    for node in (*extent.answering.above(), extent.answering):
        output = answer_of(node.reading.get(Field.OUTPUT)) if node.reading is not None else None
        if output and (node.role is SpanRole.LLM or extent.root in (node, *node.above())):
            # LlamaIndex writes a message as text like this, with None for no text.
            words = output.removeprefix("assistant: ")
            return None if words in ("", "None") and words != output else words
    return None


def _is_empty(extent: Extent, failed: bool, declared: str | None) -> bool:
    """Whether a missing text is an empty answer: somebody says so, and nothing failed."""
    model = extent.answering
    if failed or has_failed(extent.root):
        return False
    if model is not None and said_nothing(model):
        return True
    return declared == "" or _is_returned_empty(extent)


def _is_returned_empty(extent: Extent) -> bool:
    """Whether the root returned an empty answer, or a span around a model of an unknown reply.

    Some instrumentors leave out an empty reply.
    """
    model = extent.answering
    if model is None:
        return extent.root.reading is not None and is_empty_answer(
            extent.root.reading.get(Field.OUTPUT)
        )
    if model.reading is None or model.reading.get(Field.REPLY) or ended_unanswered(model):
        return False
    around = [node for node in model.above() if extent.root in (node, *node.above())]
    outputs = [node.reading.get(Field.OUTPUT) for node in around if node.reading is not None]
    return any(is_empty_answer(output) or returns_nothing(output) for output in outputs)


def _finish_reason(model: Node | None) -> str:
    return text(model.reading.get(Field.FINISH_REASON)) if model and model.reading else ""


def _why(extent: Extent, failed: bool) -> Absent:
    if failed or has_failed(extent.root):
        return Absent.ERRORED
    why = why_unseen(extent.nodes, (Field.REPLY, Field.OUTPUT), extent.answering)
    is_cut = why is Absent.NOT_SENT and _may_be_cut_away(extent.root)
    return Absent.TRUNCATED if is_cut else why


def _may_be_cut_away(root: Node) -> bool:
    """Whether a span lost attributes and, with them, its role: it may be the one that answered."""
    top = [root, *root.above()][-1]
    return any(
        node.role is None and node.reading and node.reading.span.dropped_attributes_count > 0
        for node in top.below()
    )


def why_unseen(nodes: Sequence[Node], fields: Sequence[Field], at: Node | None) -> Absent:
    """The reason why content is missing: at the span that should have it first, then at any."""
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
