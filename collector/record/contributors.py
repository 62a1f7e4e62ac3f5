"""The models whose replies an answer was made of: summaries, drafts, answers to parts of it.

A chain that refines an answer chunk by chunk, or answers sub-questions first, shows no model all
chunks. What a model read reaches the user with its reply, as far as later prompts hold that.
"""

from __future__ import annotations

from collector.claims.claim import Field, SpanRole
from collector.claims.payload import answer_of
from collector.claims.prompt_match import is_comparable
from collector.record.boundaries import AUXILIARY, Extent, is_echo
from collector.record.calls import prompt_texts, reply_text, turn_texts
from collector.record.remarks import holds, searchable
from collector.record.tree import Node
from collector.record.words import words

LEAST_WORDS = 3
"""Words; shorter replies are grades, and stand anywhere by chance."""


def contributors(extent: Extent) -> list[Node]:
    """The other models whose replies stand in the answering model's prompt, or in the answer.

    Also those whose replies stand in their prompts, and so on; by the times at which they ended.
    """
    answering, models = extent.answering, _models(extent)
    if answering is None or len(models) < 2:
        return []
    replies = {model.id: reply_text(model).strip() for model in models if model is not answering}
    left = [m for m in models if len(words(replies.get(m.id, ""))) >= LEAST_WORDS]
    # Before the last search an earlier message of the assistant may answer an earlier question.
    searched = max((node.start for node in extent.nodes if node.retrieves), default=0)
    output = extent.root.reading and answer_of(extent.root.reading.get(Field.OUTPUT))
    waiting = [("\n".join(turn_texts(answering)), "\n".join(prompt_texts(answering)))]
    waiting += [(output, "")] if output else []
    found: list[Node] = []
    characters = 0
    while waiting and left:
        turn, prompt = waiting.pop()
        characters += len(turn) + len(prompt)
        if not is_comparable(len(models), characters):
            continue
        shown, whole = searchable(turn), searchable(prompt)
        held = [
            model
            for model in left
            if holds(shown, replies[model.id])
            or (model.start >= searched and holds(whole, replies[model.id]))
        ]
        left = [model for model in left if model not in held]
        waiting += [("\n".join(turn_texts(m)), "\n".join(prompt_texts(m))) for m in held]
        found += held
    return sorted(found, key=models.index)


def _models(extent: Extent) -> list[Node]:
    """The models of an answer, with those inside of its tools: a tool may be a whole service."""
    known = {model.id for model in extent.models}
    inner = [
        node
        for node in extent.nodes
        if node.role is SpanRole.LLM
        and node.id not in known
        and not is_echo(node)
        and not any(above.role in AUXILIARY for above in node.above())
        and any(above.role is SpanRole.TOOL for above in node.above())
    ]
    return sorted([*extent.models, *inner], key=lambda node: (node.end, node.start, node.id))
