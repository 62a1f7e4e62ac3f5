"""The chunks of an answer: found, ranked again, in the prompt, used. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ragvigil.model.figures import count, counted, score
from ragvigil.model.score import Kind
from ragvigil.web.drawings.flow import Flow, flow
from ragvigil.web.views.answers.best_chunk import Relevance, relevance
from ragvigil.web.views.answers.own_scores import own_score
from ragvigil.web.views.records import DocumentForm, RecordForm

Mark = Literal["", "used", "missed"]
Span = tuple[int, int]
TITLES = ("title", "name", "heading", "source", "file_name", "url")
"""Keys of a chunk's metadata that say what it is, the best first."""
MOST_ROWS = 20
"""Rows of each list that are drawn; dropped chunks beyond are counted."""
METER = 44
SHORT, LONGEST, OF_ALL = 1_200, 20_000, 200_000
"""Characters of a chunk before the fold, on the page at all, and of all chunks together."""
NO_TEXT = {
    "hidden": "The text of this chunk is hidden: the instrumentation left it out.",
    "truncated": "The text of this chunk was cut off before its span was sent.",
}
NOT_SENT = "The text of this chunk was not sent, or is past its retention."


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A part of a chunk's text: used by the answer, or missed although it answers."""

    text: str
    mark: Mark = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkCard:
    """A chunk of the prompt. `is_used` is None where nobody knows; `says` is about its use.

    The passages of `head` and `rest`, joined, are its text; `rest` is folded, and
    `more` says what is left out.
    """

    anchor: str
    rank: int
    id: str
    title: str
    is_used: bool | None
    says: str
    head: tuple[Passage, ...]
    rest: tuple[Passage, ...]
    folded: str
    more: str
    note: str
    missing: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedChunk:
    """A row of one of the two lists; `moved` is where it went or where it came from.

    `meter` is its score from 0 to METER, None where scores are not within 0..1.
    """

    anchor: str
    rank: int
    id: str
    title: str
    score: str
    meter: int | None
    moved: str
    is_dropped: bool
    is_answering: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkFlow:
    """Both lists with the curves between them; `more` counts the rows that are left out."""

    left_title: str
    right_title: str
    left: tuple[RankedChunk, ...]
    right: tuple[RankedChunk, ...]
    drawn: Flow
    more_left: str
    more_right: str
    note: str


def chunks_heading(record: RecordForm) -> str:
    """What became of the chunks, in a sentence."""
    found, kept = len(record.retrieved), len(record.context)
    if "context" in record.absent and not kept:
        return f"{_found(record)}; which of them reached the prompt is not known"
    used = used_spans(record)
    if not found and "retrieved" in record.absent:
        parts = [f"{counted(kept, 'chunk')} reached the prompt"]
    else:
        parts = [_found(record), f"{count(kept)} reached the prompt"]
    if used is not None and kept:
        was = "was" if len(used) <= 1 else "were"
        parts.append(f"{count(len(used)) if used else 'none'} {was} used")
    return ", ".join(parts)


def _found(record: RecordForm) -> str:
    if record.retrieved:
        return f"{counted(len(record.retrieved), 'chunk')} found"
    return "What was found is not known" if "retrieved" in record.absent else "No chunk was found"


def used_spans(record: RecordForm) -> Mapping[str, list[Span]] | None:
    """Where the answer used each chunk, by id; None where nobody knows.

    A chunk of an older score is there without places.
    """
    found = own_score(record.scores, "chunk_utilization")
    rows = found.details.get("used") if found is not None and found.value is not None else None
    if not isinstance(rows, list):
        return None
    used: dict[str, list[Span]] = defaultdict(list)
    for row in rows:
        if isinstance(row, dict) and isinstance(row.get("chunk_id"), str):
            used[row["chunk_id"]] += _spans(row.get("places"))
    return dict(used)


def _spans(places: object) -> Iterator[Span]:
    for place in places if isinstance(places, list) else ():
        if isinstance(place, list) and len(place) == 2 and all(type(at) is int for at in place):
            yield place[0], place[1]


def chunk_cards(record: RecordForm) -> tuple[ChunkCard, ...]:
    """The chunks of the prompt, in its order, with what the answer used of each."""
    used = used_spans(record)
    known = relevance(record.scores, record.chunk_ids())
    return tuple(
        _card(rank, chunk, record, used, known) for rank, chunk in enumerate(record.context, 1)
    )


def _card(
    rank: int,
    chunk: DocumentForm,
    record: RecordForm,
    used: Mapping[str, list[Span]] | None,
    known: Relevance,
) -> ChunkCard:
    text = (chunk.content or "")[: _longest(len(record.context))]
    spans = (used or {}).get(chunk.id, [])
    is_best = known.best is not None and known.best.chunk_id == chunk.id
    missed = _missed(text, known.best.quote, spans) if is_best and known.best else None
    marks: list[tuple[Span, Mark]] = [(span, "used") for span in spans]
    marks += [(missed, "missed")] if missed else []
    head, rest = _folded(list(passages(text, marks)))
    left_out = len(chunk.content or "") - len(text)
    return ChunkCard(
        anchor=f"chunk-{rank}",
        rank=rank,
        id=chunk.id,
        title=chunk_title(chunk),
        is_used=None if used is None else chunk.id in used,
        says=_use(chunk.id, used, spans),
        head=head,
        rest=rest,
        folded=f"The rest, {count(sum(len(each.text) for each in rest))} characters",
        more=f"{count(left_out)} more characters are in the JSON." * (left_out > 0),
        note="This answers the question. The answer left it out." if missed else "",
        missing=""
        if chunk.content
        else NO_TEXT.get(record.absent.get("document_texts", ""), NOT_SENT),
    )


def _longest(chunks: int) -> int:
    """Characters that each of so many chunks may take."""
    return max(SHORT, min(LONGEST, OF_ALL // chunks))


def _use(chunk_id: str, used: Mapping[str, list[Span]] | None, spans: Sequence[Span]) -> str:
    if used is None:
        return "whether it was used is not known"
    if chunk_id not in used:
        return "not used"
    return counted(len(spans), "sentence") if spans else ""


def _missed(text: str, quote: str, used: Iterable[Span]) -> Span | None:
    """Where the words that answer stand, if the answer used none of them."""
    start = text.find(quote) if quote else -1
    if start < 0:
        return None
    end = start + len(quote)
    return None if any(start < until and begin < end for begin, until in used) else (start, end)


def passages(text: str, marks: Iterable[tuple[Span, Mark]]) -> Iterator[Passage]:
    """The text in parts, each marked or not; marks that are odd or overlap are left out.

    >>> [(each.text, each.mark) for each in passages("One. Two.", [((4, 9), "used")])]
    [('One. ', ''), ('Two.', 'used')]
    """
    done = 0
    for (start, end), mark in sorted(marks):
        if not done <= start < end <= len(text) or not text[start:end].strip():
            continue
        words = text[start:end]
        begin = start + len(words) - len(words.lstrip())
        if begin > done:
            yield Passage(text=text[done:begin])
        yield Passage(text=text[begin:end], mark=mark)
        done = end
    if done < len(text):
        yield Passage(text=text[done:])


def _folded(parts: Sequence[Passage]) -> tuple[tuple[Passage, ...], tuple[Passage, ...]]:
    """What stands before the fold: SHORT characters, and all of a part that begins there."""
    if sum(len(part.text) for part in parts) <= 2 * SHORT:
        return tuple(parts), ()
    head: list[Passage] = []
    room = SHORT
    for place, part in enumerate(parts):
        if room <= 0:
            return tuple(head), tuple(parts[place:])
        if not part.mark and len(part.text) > room:
            first, second = part.text[:room], part.text[room:]
            head.append(Passage(text=first))
            return tuple(head), (Passage(text=second), *parts[place + 1 :])
        head.append(part)
        room -= len(part.text)
    return tuple(head), ()


def chunk_title(chunk: DocumentForm) -> str:
    """What a chunk calls itself in its metadata, empty where it has no name."""
    titles = (chunk.metadata.get(name) for name in TITLES)
    return next((title for title in titles if isinstance(title, str) and title.strip()), "")


def chunk_flow(record: RecordForm) -> ChunkFlow | None:
    """Retrieved chunks beside those that were kept; None where one of the two is unknown."""
    kept = _kept(record)
    if not record.retrieved or not kept:
        return None
    known = relevance(record.scores, record.chunk_ids())
    blue = known.best.chunk_id if known.best else _nearest(record)[0]
    left_ids, right_ids = [chunk.id for chunk in record.retrieved], [chunk.id for chunk in kept]
    whole = flow(left_ids, right_ids, blue)
    left = _rows("found", record.retrieved, whole.left, blue)
    right = _rows("kept", kept, whole.right, blue)
    shown_left, shown_right = _shown(left), right[:MOST_ROWS]
    in_prompt = {chunk.id for chunk in record.context}
    has_context = "context" not in record.absent
    return ChunkFlow(
        left_title="Retrieved",
        right_title=_right_title(record, in_prompt),
        left=shown_left,
        right=tuple(
            _outside(row) if has_context and row.id not in in_prompt else row for row in shown_right
        ),
        drawn=flow([row.id for row in shown_left], [row.id for row in shown_right], blue),
        more_left=_more(len(left) - len(shown_left)),
        more_right=_more(len(right) - len(shown_right)),
        note=_note(record, known),
    )


def _kept(record: RecordForm) -> list[DocumentForm]:
    """What the reranker kept and what reached the prompt besides, in this order."""
    reranked = {chunk.id for chunk in record.reranked}
    return [*record.reranked, *(chunk for chunk in record.context if chunk.id not in reranked)]


def _right_title(record: RecordForm, in_prompt: set[str]) -> str:
    if not record.reranked:
        return "In the prompt"
    if "context" in record.absent:
        return "Reranked"
    is_all = all(chunk.id in in_prompt for chunk in record.reranked)
    return "Reranked, all in the prompt" if is_all else "Reranked"


def _outside(row: RankedChunk) -> RankedChunk:
    return RankedChunk(
        anchor=row.anchor, rank=row.rank, id=row.id, title=row.title, score=row.score,
        meter=row.meter, moved=f"{row.moved}, not in the prompt", is_dropped=True,
        is_answering=row.is_answering,
    )  # fmt: skip


def _rows(
    name: str, chunks: Sequence[DocumentForm], moved: Sequence[str], blue: str
) -> tuple[RankedChunk, ...]:
    scores = [chunk.score for chunk in chunks if chunk.score is not None]
    has_meter = bool(scores) and all(0 <= value <= 1 for value in scores) and max(scores) > 0.1
    return tuple(
        RankedChunk(
            anchor=f"{name}-{rank}",
            rank=rank,
            id=chunk.id,
            title=chunk_title(chunk),
            score="" if chunk.score is None else score(chunk.score),
            meter=round(METER * (chunk.score or 0)) if has_meter else None,
            moved=went,
            is_dropped=went == "dropped",
            is_answering=chunk.id == blue,
        )
        for rank, (chunk, went) in enumerate(zip(chunks, moved, strict=True), 1)
    )


def _shown(rows: Sequence[RankedChunk]) -> tuple[RankedChunk, ...]:
    """At most MOST_ROWS: those that were kept, and of the dropped the first."""
    kept = sum(not row.is_dropped for row in rows)
    room = {True: max(0, MOST_ROWS - kept), False: MOST_ROWS}
    shown = []
    for row in rows:
        if room[row.is_dropped] > 0:
            room[row.is_dropped] -= 1
            shown.append(row)
    return tuple(shown)


def _more(rows: int) -> str:
    return f"{counted(rows, 'more chunk')} not drawn" if rows else ""


def _nearest(record: RecordForm) -> tuple[str, float]:
    """The chunk nearest to the question by meaning, as a local model measured; no id for none."""
    rows = [
        row
        for found in record.scores
        if found.rubric == "context_relevance" and found.kind == Kind.MODEL
        for row in _listed(found.details.get("chunks"))
    ]
    near = [
        (str(row.get("chunk_id")), float(row["relevance"]))
        for row in rows
        if isinstance(row, dict) and isinstance(row.get("relevance"), int | float)
    ]
    return max(near, key=lambda each: each[1], default=("", 0.0))


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _note(record: RecordForm, known: Relevance) -> str:
    """What the blue curve is; which chunk answers is said only where somebody knows."""
    if known.best is not None:
        by = "the golden case" if known.best.source == "golden" else "the judge"
        return f"Blue: the chunk that answers the question, by {by}."
    if known.answers is False:
        return "None of these chunks answers the question."
    chunk_id, value = _nearest(record)
    if not chunk_id:
        return "Which chunk answers the question is not known."
    near = f"Blue: the chunk nearest to the question by meaning, {score(value)}."
    return f"{near} Whether it answers is not known."
