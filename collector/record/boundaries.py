"""Splits a trace into answers: there is a record per answer, not per trace.

The root of a record is the nearest ancestor of an answering LLM span that also contains a
retrieval, else the SERVER or AGENT entry above it. The trace of a worker or a session has many
records; a gateway, a retriever service and an answering service together have one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from collector.claims.claim import Field, Listing, SpanRole
from collector.claims.payload import answer_of, is_empty_answer, question_of
from collector.claims.recover import as_container
from collector.record.calls import (
    calls_tool,
    has_failed,
    prompt_texts,
    reply_text,
    said_nothing,
    unwrapped,
)
from collector.record.remarks import LEAST_WORDS, without_remarks
from collector.record.tree import STEP_ROLES, Node
from collector.record.turns import turns_of
from collector.record.words import words

AUXILIARY = frozenset(
    {SpanRole.RETRIEVER, SpanRole.RERANKER, SpanRole.EMBEDDING, SpanRole.GUARDRAIL,
     SpanRole.EVALUATOR}
)  # fmt: skip


@dataclass(slots=True, kw_only=True)
class Extent:
    """The spans of an answer. `models` are its LLM leaves by end time."""

    root: Node
    nodes: list[Node]
    models: list[Node]
    answering: Node | None


def extents(nodes: Sequence[Node]) -> list[Extent]:
    """The answers of a trace by start time; empty if nothing was answered."""
    inside = _retrievals_inside(nodes)
    leaves = _answering_leaves(nodes)
    if not leaves:
        return _silent_answers(nodes, inside)
    groups = _group(leaves, inside)
    _settle_nested(groups)
    _join_attempts(groups)
    whole = [_extent(root, members, groups) for root, members in groups.values()]
    extents = [extent for each in whole for extent in _by_turn(each)]
    _adopt_strays(extents, nodes)
    return sorted(extents, key=lambda extent: (extent.root.start, extent.root.id))


def _retrievals_inside(nodes: Sequence[Node]) -> dict[str, int]:
    """The number of retrieving spans in the subtree of each node, the node included."""
    inside = dict.fromkeys((node.id for node in nodes), 0)
    for node in nodes:
        if node.retrieves:
            inside[node.id] += 1
            for ancestor in node.above():
                inside[ancestor.id] += 1
    return inside


def _answering_leaves(nodes: Sequence[Node]) -> list[Node]:
    """LLM spans with no LLM span below, outside of retrieval; in tools only for lack of others."""
    wrappers = {
        ancestor.id
        for node in nodes
        if node.role is SpanRole.LLM and not is_echo(node)
        for ancestor in node.above()
        if ancestor.role is SpanRole.LLM
    }
    leaves: list[Node] = []
    tools: list[Node] = []
    for node in nodes:
        if node.role is not SpanRole.LLM or node.id in wrappers or is_echo(node):
            continue
        # A model inside a retriever, guardrail or evaluator does not answer the user.
        roles = {ancestor.role for ancestor in node.above()}
        if roles & AUXILIARY:
            continue
        (tools if SpanRole.TOOL in roles else leaves).append(node)
    return leaves or tools


def is_echo(node: Node) -> bool:
    """Whether an LLM span repeats, without any content, the call of an LLM span around it.

    Clients with tracing of their own do so inside of an instrumentor's span.
    """
    if node.role is not SpanRole.LLM:
        return False
    around = [above for above in node.above() if above.role is SpanRole.LLM]
    # Most calls have no other around them: their messages are not parsed for this.
    return bool(around) and not _has_content(node) and any(map(_has_content, around))


def _has_content(node: Node) -> bool:
    if node.reading is None:
        return False
    read = (node.reading.raw(field) for field in (Field.REPLY, Field.PROMPT))
    return any(isinstance(value, tuple) for value in read)


Groups = dict[str, tuple[Node, list[Node]]]


def _group(leaves: list[Node], inside: dict[str, int]) -> Groups:
    """Groups the leaves by root. A leaf with an entry before any retrieval searches on."""
    groups: Groups = {}
    stopped: list[Node] = []
    for leaf in leaves:
        root = _nearest(leaf, inside)
        if root is None:
            stopped.append(leaf)
        else:
            groups.setdefault(root.id, (root, []))[1].append(leaf)
    taken = _retrievals_taken(groups, inside)
    batches = _batches(stopped)
    for leaf in stopped:
        free = (above for above in leaf.above() if inside[above.id] > taken.get(above.id, 0))
        root = next(free, None) or _entry(leaf, batches)
        groups.setdefault(root.id, (root, []))[1].append(leaf)
    return groups


def _nearest(leaf: Node, inside: dict[str, int]) -> Node | None:
    for ancestor in leaf.above():
        if inside[ancestor.id]:
            return ancestor
        if ancestor.is_entry:
            return None
    return None


def _retrievals_taken(groups: Groups, inside: dict[str, int]) -> dict[str, int]:
    """The number of retrieving spans that answers below each span contain, by the outermost."""
    taken: dict[str, int] = {}
    for root, _ in groups.values():
        for ancestor in root.above():
            taken[ancestor.id] = taken.get(ancestor.id, 0) + inside[root.id]
            if ancestor.id in groups:
                break
    return taken


def _batches(leaves: Sequence[Node]) -> set[str]:
    """Spans that only hold several calls of the same program together: each call has an answer.

    Such a span says nothing itself. The calls have the same name and the same arguments.
    """
    calls: dict[str, dict[str, Node]] = {}
    for leaf in leaves:
        for node in (leaf, *leaf.above()):
            if node.parent is not None:
                calls.setdefault(node.parent.id, {})[node.id] = node
    return {above for above, children in calls.items() if _are_repeated([*children.values()])}


def _are_repeated(calls: Sequence[Node]) -> bool:
    above = calls[0].parent
    if len(calls) < 2 or above is None or above.is_entry or above.reading is None:
        return False
    if above.reading.claims(Field.INPUT) or above.reading.claims(Field.OUTPUT):
        return False
    if any(map(calls_tool, calls)):
        return False  # an agent's turn: the next call goes on with the tool's result
    inputs = [
        as_container(call.reading.get(Field.INPUT)).value if call.reading is not None else None
        for call in calls
    ]
    names = {call.reading.span.name for call in calls if call.reading is not None}
    keys = {frozenset(arguments) if isinstance(arguments, dict) else None for arguments in inputs}
    return len(names) == len(keys) == 1 and None not in keys


def _entry(leaf: Node, batches: set[str]) -> Node:
    top = leaf
    for ancestor in leaf.above():
        if ancestor.id in batches:
            break
        # A lost parent only counts if it holds several spans together.
        if ancestor.reading is not None or len(ancestor.children) > 1:
            top = ancestor
        if ancestor.is_entry:
            break
    return top


def _settle_nested(groups: Groups) -> None:
    """Resolves nested roots: one answer if the outer model ends last or there is one inner root.

    Otherwise the inner roots are the answers, and the outer root is dropped. Deepest roots first.
    """
    inside: dict[str, list[str]] = {}
    for root, _ in list(groups.values()):
        for above in root.above():
            if above.id in groups:
                inside.setdefault(above.id, []).append(root.id)
    for root_id in sorted(inside, key=lambda id_: -_depth(groups[id_][0])):
        inner = [id_ for id_ in inside[root_id] if id_ in groups]
        if not inner:
            continue
        members = groups[root_id][1]
        last = max(leaf.end for leaf in members)
        if len(inner) == 1 or last >= max(groups[id_][0].end for id_ in inner):
            for id_ in inner:
                members.extend(groups.pop(id_)[1])
        else:
            groups.pop(root_id)


def _join_attempts(groups: Groups) -> None:
    """Joins failed attempts with the later call of the same question that did not fail.

    The span around them is the answer's root, if it holds no other answer.
    """
    by_question: dict[tuple[str, str], list[Node]] = {}
    for root, _ in groups.values():
        question = question_of(root.reading.get(Field.INPUT)) if root.reading is not None else None
        if root.parent is not None and question:
            by_question.setdefault((root.parent.id, question), []).append(root)
    for roots in by_question.values():
        last = max(roots, key=lambda root: (root.start, root.id))
        failed = [root for root in roots if has_failed(root) and root.end <= last.start]
        if not failed or has_failed(last):
            continue
        lost = [leaf for root in failed for leaf in groups.pop(root.id)[1]]
        around = last.parent
        if around is None or around.reading is None:
            continue
        if [root for root, _ in groups.values() if around in (root, *root.above())] == [last]:
            groups[around.id] = (around, [*lost, *groups.pop(last.id)[1]])


def _depth(node: Node) -> int:
    return sum(1 for _ in node.above())


def _extent(root: Node, members: list[Node], groups: Groups) -> Extent:
    nodes: list[Node] = []
    waiting = [root]
    while waiting:
        node = waiting.pop()
        nodes.append(node)
        waiting.extend(child for child in reversed(node.children) if child.id not in groups)
    models = sorted(members, key=lambda leaf: (leaf.end, leaf.start, leaf.id))
    answering = _answering(root, models, nodes)
    return Extent(root=root, nodes=nodes, models=models, answering=answering)


def _by_turn(extent: Extent) -> list[Extent]:
    """The answers of an extent that holds several, each below a root of its own."""
    shares = turns_of(extent.root, extent.nodes, extent.models)
    return [_turn(extent, share, at) for at, share in enumerate(shares)] or [extent]


def _turn(extent: Extent, share: list[Node], at: int) -> Extent:
    """An answer's spans below a new root, which has the id of its first search.

    The first answer keeps the root's id, whether others follow or not. The new root has no
    children: `take_apart` would not find them.
    """
    ids = {node.id for node in share}
    models = [model for model in extent.models if model.id in ids]
    searches = sorted((node.start, node.id) for node in share if node.retrieves)
    root = Node(searches[0][1] if at else extent.root.id, None)
    root.parent = extent.root
    root.start, root.end = min(node.start for node in share), max(node.end for node in models)
    for node in share:
        if node.parent is extent.root:
            node.parent = root
    answering = _answering(root, models, share)
    return Extent(root=root, nodes=[root, *share], models=models, answering=answering)


def _answering(root: Node, models: list[Node], nodes: list[Node]) -> Node | None:
    """The leaf whose reply the root repeats, else the last leaf that replied with text."""
    if len(models) == 1:
        return models[0]
    with_text = [leaf for leaf in models if reply_text(leaf)]
    output = root.reading and answer_of(root.reading.get(Field.OUTPUT))
    repeated = _repeated(with_text, output) if output else None
    if repeated is not None:
        return repeated
    searched = min((node.start for node in nodes if node.retrieves), default=0)
    models = without_remarks(models, searched)
    with_text = [leaf for leaf in models if reply_text(leaf)]
    if has_failed(models[-1]) and not has_failed(root):
        return _asked_the_same(models[-1], with_text) or models[-1]
    if has_failed(models[-1]) or said_nothing(models[-1]) or not with_text:
        return models[-1]  # if the answering call has no text, a rewriter's text is no answer
    return with_text[-1]


def _asked_the_same(failed: Node, models: list[Node]) -> Node | None:
    """The last of the models that were asked what a failed one was asked.

    A call that is made twice at once, for the sake of time, is broken off where the other ends.
    """
    asked = prompt_texts(failed)
    same = [model for model in models if model is not failed and prompt_texts(model) == asked]
    return same[-1] if asked and same else None


def _repeated(models: list[Node], output: str) -> Node | None:
    """The last model whose reply an output is, or has as a line, else the last that it holds.

    A reply of a word or two, such as a grade, stands in any output by chance.
    """
    replies = [(model, unwrapped(reply_text(model)).strip()) for model in models]
    lines = {output.strip(), *map(str.strip, output.splitlines())}
    whole = [model for model, reply in replies if reply in lines]
    parts = [model for model, reply in replies if reply in output
             and len(words(reply)) >= LEAST_WORDS]  # fmt: skip
    return next(reversed(whole or parts), None)


def failed_unasked(extent: Extent) -> bool:
    """Whether the answer failed, and no model is seen to be asked for it."""
    return not extent.models and has_failed(extent.root)


def _adopt_strays(extents: list[Extent], nodes: Sequence[Node]) -> None:
    """Adds stray retrievals (their parents were lost) to the only answer, if it has none."""
    poor = [extent for extent in extents if not any(node.retrieves for node in extent.nodes)]
    if len(poor) != 1 or len(extents) != 1:
        return
    known = {node.id for node in poor[0].nodes}
    for node in nodes:
        if node.retrieves and node.id not in known and not _is_above(node, poor[0].root):
            strays = [stray for stray in node.below() if stray.id not in known]
            known.update(stray.id for stray in strays)
            poor[0].nodes.extend(strays)


def _is_above(node: Node, other: Node) -> bool:
    return node is other or node in other.above()


def _silent_answers(nodes: Sequence[Node], inside: dict[str, int]) -> list[Extent]:
    """Answers without an LLM span: outermost spans that retrieve, and return an answer or fail.

    A failed span is an answer that was requested and never came.
    """
    answers: list[Extent] = []
    for node in sorted(nodes, key=_depth):
        if node.reading is None or not inside[node.id] or node.role in STEP_ROLES:
            continue
        if any(other.root in node.above() for other in answers):
            continue
        below = list(node.below())
        output = answer_of(node.reading.get(Field.OUTPUT))
        is_empty = not output and is_empty_answer(node.reading.get(Field.OUTPUT))
        if has_failed(node) or is_empty or (output and not _is_formatted_context(output, below)):
            answers.append(Extent(root=node, nodes=below, models=[], answering=None))
    return sorted(answers, key=lambda extent: (extent.root.start, extent.root.id))


def _is_formatted_context(output: str, nodes: list[Node]) -> bool:
    """Whether an output is a context: it contains every retrieved text."""
    texts = [
        document.content
        for node in nodes
        if node.retrieves and node.reading is not None
        for listing in [node.reading.get(Field.RETRIEVED)]
        if isinstance(listing, Listing)
        for document in listing.documents
        if document.content
    ]
    return bool(texts) and all(text in output for text in texts)
