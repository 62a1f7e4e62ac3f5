"""Splits an answer that holds several: a handler that answers one question after the other.

A WebSocket, a worker or a loop over questions may search and ask a model directly below one span
that says nothing itself. Each question has an answer of its own, if no prompt shows another
question or its answer: the steps of an agent, of sub-questions and of a refinement do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from collector.claims.claim import Field, SpanRole
from collector.claims.prompt_match import is_comparable
from collector.record.calls import calls_tool, prompt_texts, reply_text, turn_texts
from collector.record.remarks import holds, searchable, without_remarks
from collector.record.tree import Node, query_of
from collector.record.words import words

LEAST_WORDS = 2
"""Words; a shorter query stands in any prompt by chance."""
LEAST_ANSWER = 3
"""Words; a shorter reply is a grade, or stands in any prompt by chance."""
MOST_TURNS = 50
"""Each turn is compared with each other."""


@dataclass(slots=True, kw_only=True)
class Turn:
    """A question's searches and the model that answered it."""

    model: Node
    prompt: tuple[str, str]
    queries: list[str] = field(default_factory=list)
    start: int


def turns_of(root: Node, nodes: Sequence[Node], models: Sequence[Node]) -> list[list[Node]]:
    """The nodes of each turn below a root, in order of time; empty if they are one answer."""
    if _says_something(root) or len(models) < 2:
        return []
    turns = _turns(nodes, models)
    if not 2 <= len(turns) <= MOST_TURNS or not _are_apart(turns):
        return []
    if _go_on(turns, models) or _are_combined(turns, without_remarks(models)[-1]):
        return []
    return _shares(root, nodes, turns)


def _says_something(root: Node) -> bool:
    reading = root.reading
    return reading is not None and (reading.claims(Field.INPUT) or reading.claims(Field.OUTPUT))


def _turns(nodes: Sequence[Node], models: Sequence[Node]) -> list[Turn]:
    """A turn per model that was asked what was searched before; none if a search has no model."""
    ordered = sorted(models, key=lambda model: (model.start, model.id))
    answering = [model for model in ordered if reply_text(model) and not calls_tool(model)]
    texts = {model.id: "\n".join(turn_texts(model)) for model in answering}
    searches = _searches(nodes)
    if not is_comparable(len(searches), sum(map(len, texts.values()))):
        return []
    prompts = {name: searchable(text) for name, text in texts.items()}
    by_model: dict[str, Turn] = {}
    for search in searches:
        query = query_of(search)
        if query is None or len(words(query)) < LEAST_WORDS:
            return []
        later = (model for model in answering if model.start >= search.start)
        model = next((model for model in later if holds(prompts[model.id], query)), None)
        if model is None:
            return []
        turn = by_model.setdefault(
            model.id, Turn(model=model, prompt=prompts[model.id], start=search.start)
        )
        turn.queries.append(query)
    return sorted(by_model.values(), key=lambda turn: (turn.model.end, turn.model.id))


def _searches(nodes: Sequence[Node]) -> list[Node]:
    """The outermost retrieving spans, except rerankers, in order of time."""
    found = [node for node in nodes if node.retrieves and node.role is not SpanRole.RERANKER]
    ids = {node.id for node in found}
    outermost = [node for node in found if not any(above.id in ids for above in node.above())]
    return sorted(outermost, key=lambda node: (node.start, node.id))


def _are_apart(turns: Sequence[Turn]) -> bool:
    """Whether the turns follow one another, and none shows anything of another."""
    for at, turn in enumerate(turns):
        text = reply_text(turn.model)
        reply = searchable(text)
        for later in turns[at + 1 :]:
            if later.start < turn.model.end or holds(later.prompt, text):
                return False
            if any(holds(later.prompt, query) for query in turn.queries):
                return False
            if any(holds(turn.prompt, query) or holds(reply, query) for query in later.queries):
                return False
    return True


def _go_on(turns: Sequence[Turn], models: Sequence[Node]) -> bool:
    """Whether a model between two turns searched on: it was shown the first question unanswered.

    A grader found the chunks wanting, and another model wrote the query anew. One that was shown
    the answer, too, read a conversation.
    """
    answering = {turn.model.id for turn in turns}
    between = [model for model in models if model.id not in answering]
    prompts = ["\n".join(prompt_texts(model)) for model in between]
    queries = sum(len(turn.queries) for turn in turns)
    if any(prompts) and not is_comparable(queries, sum(map(len, prompts))):
        return True
    for model, prompt in zip(between, prompts, strict=True):
        shown, said = searchable(prompt), searchable(reply_text(model))
        later = [query for turn in turns if turn.start >= model.end for query in turn.queries]
        if not later or not (calls_tool(model) or any(holds(said, query) for query in later)):
            continue
        if any(_is_unanswered(turn, shown) for turn in turns if turn.model.end <= model.start):
            return True
    return False


def _are_combined(turns: Sequence[Turn], last: Node) -> bool:
    """Whether the last model was given the answers of several turns, to make one of them.

    In a conversation they are messages of the assistant.
    """
    shown = searchable("\n".join(turn_texts(last)))
    replies = [reply_text(turn.model) for turn in turns if turn.model is not last]
    held = [reply for reply in replies if len(words(reply)) >= LEAST_ANSWER and holds(shown, reply)]
    return len(held) > 1


def _is_unanswered(turn: Turn, shown: tuple[str, str]) -> bool:
    """Whether a prompt shows a turn's question without its answer."""
    reply = reply_text(turn.model)
    is_answered = len(words(reply)) >= LEAST_ANSWER and holds(shown, reply)
    return not is_answered and any(holds(shown, query) for query in turn.queries)


def _shares(root: Node, nodes: Sequence[Node], turns: Sequence[Turn]) -> list[list[Node]]:
    """Each span's turn by its start: what comes behind an answer belongs to the next question."""
    shares: list[list[Node]] = [[] for _ in turns]
    for node in nodes:
        if node is not root:
            at = next(
                (i for i, turn in enumerate(turns) if node.start <= turn.model.end), len(turns) - 1
            )
            shares[at].append(node)
    return shares
