"""Retrieved chunks beside those that were kept, with the curves between them. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ragvigil.model.figures import counted, score
from ragvigil.model.score import Kind
from ragvigil.web.drawings.flow import Flow, flow
from ragvigil.web.views.answers.chunks import chunk_title
from ragvigil.web.views.records import DocumentForm, RecordForm
from ragvigil.web.views.verdict.best_chunk import Relevance, relevance

MOST_ROWS = 20
"""Rows of each list that are drawn; dropped chunks beyond are counted."""
METER = 44


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
    return replace(row, moved=f"{row.moved}, not in the prompt", is_dropped=True)


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
