"""The chunks of an answer: found, ranked again, in the prompt, used. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ragvigil.model.figures import count, counted
from ragvigil.web.views.records import DocumentForm, RecordForm
from ragvigil.web.views.verdict.best_chunk import Relevance, relevance
from ragvigil.web.views.verdict.own_scores import own_score

Mark = Literal["", "used", "missed"]
Span = tuple[int, int]
TITLES = ("title", "name", "heading", "source", "file_name", "url")
"""Keys of a chunk's metadata that say what it is, the best first."""
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


def chunks_heading(record: RecordForm) -> str:
    """What became of the chunks, in a sentence."""
    found, kept = len(record.retrieved), len(record.context)
    if "context" in record.absent and not kept:
        if not found and "retrieved" in record.absent:
            return "What was found, and what reached the prompt, is not known"
        return f"{_found(record)}; which of them reached the prompt is not known"
    used = used_spans(record)
    if not found and "retrieved" in record.absent:
        parts = [f"{counted(kept, 'chunk')} reached the prompt"]
    else:
        parts = [_found(record), f"{count(kept) if kept else 'none'} reached the prompt"]
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
    missed = _missed(text, chunk.id, record, used, known)
    marks: list[tuple[Span, Mark]] = [
        (span, "used") for span in spans or _quoted(text, chunk, record)
    ]
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
        missing="" if chunk.content else NO_TEXT.get(_why_no_text(record), NOT_SENT),
    )


def _why_no_text(record: RecordForm) -> str:
    return record.absent.get("document_texts") or record.absent.get("retrieved_texts", "")


def _longest(chunks: int) -> int:
    """Characters that each of so many chunks may take."""
    return max(SHORT, min(LONGEST, OF_ALL // chunks))


def _use(chunk_id: str, used: Mapping[str, list[Span]] | None, spans: Sequence[Span]) -> str:
    if used is None:
        return "whether it was used is not known"
    if chunk_id not in used:
        return "not used"
    return counted(len(spans), "sentence") if spans else ""


def _quoted(text: str, chunk: DocumentForm, record: RecordForm) -> Iterator[Span]:
    """Where quotes of the answer stand; an older score does not say which sentences it used."""
    for citation in record.citations:
        start = (
            text.find(citation.quote) if citation.quote and citation.chunk_id == chunk.id else -1
        )
        if start >= 0 and citation.quote:
            yield start, start + len(citation.quote)


def _missed(
    text: str,
    chunk_id: str,
    record: RecordForm,
    used: Mapping[str, list[Span]] | None,
    known: Relevance,
) -> Span | None:
    """Where the words stand that answer, if it is known that the answer has nothing of them."""
    quote = known.best.quote if known.best and known.best.chunk_id == chunk_id else ""
    start = text.find(quote) if quote else -1
    spans = (used or {}).get(chunk_id, [])
    is_known = used is not None and (chunk_id not in used or bool(spans))
    if start < 0 or not is_known or _plain(quote) in _plain(record.answer or ""):
        return None
    end = start + len(quote)
    return None if any(start < until and begin < end for begin, until in spans) else (start, end)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


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
