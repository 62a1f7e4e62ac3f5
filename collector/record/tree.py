"""Builds the forest of a trace's spans; repairs duplicates, lost parents and cycles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from collector.claims.claim import Field, Listing, SpanRole, Withheld
from collector.claims.merge import SpanReading, read
from collector.claims.payload import question_of
from collector.claims.registry import RegisteredConvention
from ragvigil.model.span import Span, SpanKind

STEP_ROLES = frozenset({SpanRole.RETRIEVER, SpanRole.RERANKER})


class Node:
    """A span with its parent and children. `reading` is None for a parent that never arrived.

    `start` and `end` are nanoseconds since the epoch; a lost parent's are its children's.
    """

    __slots__ = ("children", "end", "id", "parent", "reading", "retrieves", "role", "start")

    def __init__(self, identifier: str, reading: SpanReading | None):
        self.id = identifier
        self.reading = reading
        self.parent: Node | None = None
        self.children: list[Node] = []
        self.role: SpanRole | None = reading.role if reading is not None else None
        self.retrieves = reading is not None and _retrieves(reading)
        self.start = reading.span.start_unix_nano if reading is not None else 0
        self.end = max(reading.span.end_unix_nano, self.start) if reading is not None else 0

    @property
    def is_entry(self) -> bool:
        """Whether a request enters a service, or an agent's turn begins, with this span."""
        return self.role is SpanRole.AGENT or (
            self.reading is not None
            and self.reading.span.kind in (SpanKind.SERVER, SpanKind.CONSUMER)
        )

    def above(self) -> Iterator[Node]:
        """Its ancestors, nearest first."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def below(self) -> Iterator[Node]:
        """Itself and its descendants, parents before children, in order of time."""
        waiting = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))


def _retrieves(reading: SpanReading) -> bool:
    if reading.role in STEP_ROLES:
        return True
    if reading.role in (SpanRole.LLM, SpanRole.EMBEDDING) or not reading.claims(Field.RETRIEVED):
        return False
    retrieved = reading.raw(Field.RETRIEVED)
    if retrieved is Withheld.HIDDEN:  # any tool may hide its result
        return reading.searches_documents
    return isinstance(retrieved, Listing)


def query_of(node: Node) -> str | None:
    """The query of a retriever: its own, else its input, else that of an embedding below it."""
    if node.reading is None:
        return None
    for field in (Field.QUERY, Field.INPUT):
        query = question_of(node.reading.get(field))
        if query:
            return query
    for child in node.children:
        if child.role in (SpanRole.EMBEDDING, SpanRole.RETRIEVER):
            query = query_of(child)
            if query:
                return query
    return None


def grow(spans: Iterable[Span], conventions: Sequence[RegisteredConvention]) -> list[Node]:
    """The nodes of a trace by start time, then lost parents; the order of `spans` has no effect."""
    nodes = {span.span_id: Node(span.span_id, read(span, conventions)) for span in distinct(spans)}
    for node in list(nodes.values()):
        parent_id = node.reading.span.parent_span_id if node.reading else ""
        if parent_id and parent_id != node.id:
            parent = nodes.get(parent_id)
            if parent is None:
                parent = nodes[parent_id] = Node(parent_id, None)
            node.parent = parent
    # Before children are linked: a walk over children must end.
    _cut_cycles(nodes.values())
    for node in nodes.values():
        if node.parent is not None:
            node.parent.children.append(node)
    for node in nodes.values():
        if node.reading is None:
            node.start = min((child.start for child in node.children), default=0)
            node.end = max((child.end for child in node.children), default=0)
    _adopt_lost_parents(nodes.values())
    return list(nodes.values())


def _adopt_lost_parents(nodes: Iterable[Node]) -> None:
    """Puts parents that never arrived under the trace's only root, if they lie within its request.

    Instrumentors lose spans in the middle of a request: an aborted chain, a stream that nobody
    closed. What is below still belongs to the request. Where models ran in several places, the
    lost spans may have held the turns of a session apart, or a job beside the answer: all stays.
    """
    tops = [node for node in nodes if node.parent is None]
    roots = [node for node in tops if node.reading is not None]
    if len(roots) != 1 or not roots[0].is_entry:
        return
    (root,) = roots
    lost = [node for node in tops if root.start <= node.start and node.end <= root.end]
    lost.remove(root)
    if not lost or sum(map(_asks_model, (*root.children, *lost))) > 1:
        return
    for node in lost:
        node.parent = root
    root.children.extend(lost)
    root.children.sort(key=lambda child: (child.start, child.id))


def _asks_model(node: Node) -> bool:
    return any(inner.role is SpanRole.LLM for inner in node.below())


def take_apart(nodes: Iterable[Node]) -> None:
    """Breaks the references between parents and children.

    Without this, everything read from a trace would wait for Python's garbage collector of cycles,
    and would be most of what it has to walk.
    """
    for node in nodes:
        node.children.clear()


def distinct(spans: Iterable[Span]) -> list[Span]:
    """One span per id, the one with most content, by start time."""
    chosen: dict[str, Span] = {}
    for span in spans:
        other = chosen.get(span.span_id)
        if other is None or _weight(span) > _weight(other):
            chosen[span.span_id] = span
    return sorted(chosen.values(), key=lambda span: (span.start_unix_nano, span.span_id))


def _weight(span: Span) -> tuple[int, int, int, str]:
    # Time and name decide ties, so that the choice does not depend on the order of arrival.
    return (len(span.attributes), len(span.events) + len(span.logs), span.end_unix_nano, span.name)


def _cut_cycles(nodes: Iterable[Node]) -> None:
    """Breaks cycles of spans that are their own ancestors: the earliest span becomes a root."""
    settled: set[str] = set()
    for start in nodes:
        path: dict[str, Node] = {}
        node: Node | None = start
        while node is not None and node.id not in settled:
            if node.id in path:
                node.parent = None
                break
            path[node.id] = node
            node = node.parent
        settled.update(path)
