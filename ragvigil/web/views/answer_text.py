"""A record's answer as pieces of text: which citations stand, which fail, and why. Pure."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import ClassVar, TypeAlias

from ragvigil.model.figures import counted
from ragvigil.web.views.citations import (
    CheckedCitation,
    Reason,
    State,
    checked_citations,
)
from ragvigil.web.views.records import CitationForm, RecordForm

Span: TypeAlias = tuple[int, int]

NO_ANSWER = {
    "not_sent": "No span carries the answer.",
    "hidden": "The text of the answer is hidden: the instrumentation left it out.",
    "truncated": "The text of the answer was cut off before its span was sent.",
    "errored": "There is no answer: the step that writes it failed.",
    "not_run": "There is no answer: no step of this trace writes it.",
}
"""Why there is no text, by the reason in the record's `absent`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """Words of the answer; struck out where a citation that fails is their only support."""

    kind: ClassVar[str] = "text"
    text: str
    is_struck: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """A citation. `text` is what the answer says there, empty for a citation without a marker.

    `anchor` is the chunk's id in the Answer page: `chunk-2` is the second of the prompt, `found-5`
    the fifth that was found; empty where the record has no such chunk.
    """

    kind: ClassVar[str] = "chip"
    text: str
    label: str
    state: State
    anchor: str
    says: str


Piece: TypeAlias = Text | Chip | Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerText:
    """The answer in pieces: the `text` of all, joined, is the answer, to the character.

    `missing` says why there is no text, empty where there is; `counts` is of citations by state.
    """

    pieces: tuple[Piece, ...]
    missing: str
    counts: Mapping[State, int]
    citations: str


def answer_text(record: RecordForm) -> AnswerText:
    """The answer of a record with its citations, as far as they were checked."""
    checked = checked_citations(record)
    counts: dict[State, int] = {"stands": 0, "fails": 0, "unknown": 0}
    for citation in checked:
        counts[citation.state] += 1
    return AnswerText(
        pieces=tuple(_pieces(record.answer or "", checked)),
        missing=_missing(record),
        counts=counts,
        citations=_in_a_sentence(counts),
    )


def shortened(answer: AnswerText, most: int) -> AnswerText:
    """The first `most` characters, for a list; pieces after them are left out."""
    pieces: list[Piece] = []
    left = most
    for place, piece in enumerate(answer.pieces):
        if isinstance(piece, Text) and len(piece.text) > left:
            pieces.append(replace(piece, text=f"{piece.text[:left]}…"))
            pieces += [why for why in answer.pieces[place:] if isinstance(why, Reason)][
                : piece.is_struck
            ]
            break
        pieces.append(piece)
        left -= 0 if isinstance(piece, Reason) else len(piece.text)
    return replace(answer, pieces=tuple(pieces))


def _missing(record: RecordForm) -> str:
    if record.answer:
        return ""
    if record.answer == "":
        return "The answer is empty."
    return NO_ANSWER.get(record.absent.get("answer", ""), NO_ANSWER["not_sent"])


def _in_a_sentence(counts: Mapping[State, int]) -> str:
    """What becomes of the citations, in a sentence.

    >>> _in_a_sentence({"stands": 1, "fails": 2, "unknown": 0})
    '2 of 3 citations fail.'
    """
    cited, fails, unknown = sum(counts.values()), counts["fails"], counts["unknown"]
    if not cited:
        return "It cites nothing."
    if unknown == cited:
        return "Its citations were not checked."
    more = f" {counted(unknown, 'citation')} could not be checked." if unknown else ""
    if not fails:
        return f"{'The other citations stand' if unknown else 'Every citation stands'}.{more}"
    one = "The citation fails." if cited == 1 else ""
    return (one or f"{fails} of {cited} citations fail{'s' if fails == 1 else ''}.") + more


@dataclass(slots=True)
class _Layout:
    """Where things stand in an answer: chips by what they replace, regions to strike, reasons."""

    chips: dict[Span, list[CheckedCitation]] = field(default_factory=lambda: defaultdict(list))
    struck: list[Span] = field(default_factory=list)
    reasons: dict[int, dict[Reason, None]] = field(default_factory=lambda: defaultdict(dict))


def _pieces(answer: str, checked: Sequence[CheckedCitation]) -> Iterator[Piece]:
    """The answer from left to right: at each place its chips, then reasons, then the words."""
    layout = _layout(answer, checked)
    bounds = {0, len(answer), *layout.reasons}
    bounds.update(end for span in (*layout.chips, *layout.struck) for end in span)
    places = sorted(bounds)
    starts = [start for start, _ in layout.struck]
    for place, after in pairwise([*places, places[-1]]):
        yield from _chips("", layout.chips.get((place, place), ()))
        yield from layout.reasons.get(place, ())
        words = answer[place:after]
        if (place, after) in layout.chips and words:
            yield from _chips(words, layout.chips[place, after])
        elif words:
            region = bisect_right(starts, place) - 1
            is_struck = region >= 0 and place < layout.struck[region][1]
            yield Text(text=words, is_struck=is_struck)


def _chips(text: str, citations: Sequence[CheckedCitation]) -> Iterator[Chip]:
    """The chips of one place; only the first stands for what is written there."""
    seen: set[tuple[str, State]] = set()
    for citation in citations:
        if (citation.name, citation.state) not in seen:
            seen.add((citation.name, citation.state))
            yield Chip(
                text=text,
                label=citation.name,
                state=citation.state,
                anchor=citation.anchor,
                says=citation.says,
            )
            text = ""


def _layout(answer: str, checked: Sequence[CheckedCitation]) -> _Layout:
    layout = _Layout()
    for citation, span in zip(checked, _written(answer, checked), strict=True):
        layout.chips[span].append(citation)
    markers = sorted(span for span in layout.chips if span[0] < span[1])
    supported = {_claim(answer, citation) for citation in checked if citation.state != "fails"} - {
        None
    }
    failing: list[tuple[Span, Reason]] = []
    for span, citations in layout.chips.items():
        for citation in citations:
            if citation.reason is not None:
                region = _struck(answer, citation, span, supported)
                failing.append((_widened(region, markers), citation.reason))
    layout.struck = _merged([region for region, _ in failing if region[0] < region[1]])
    for region, reason in failing:
        place = bisect_right(layout.struck, (region[0], len(answer) + 1)) - 1
        is_within = place >= 0 and region[1] <= layout.struck[place][1]
        layout.reasons[layout.struck[place][1] if is_within else region[1]][reason] = None
    return layout


def _written(answer: str, checked: Sequence[CheckedCitation]) -> list[Span]:
    """What each chip replaces: its marker, or nothing at a place. None of them overlap."""
    wanted = [_marker(answer, each.citation) for each in checked]
    taken: list[Span] = []
    for span in sorted({span for span in wanted if span[0] < span[1]}):
        if not taken or span[0] >= taken[-1][1]:
            taken.append(span)
    starts, kept = [start for start, _ in taken], set(taken)
    spans = []
    for span in wanted:
        place = bisect_left(starts, span[1]) - 1
        is_inside = place >= 0 and span[1] < taken[place][1]
        end = taken[place][1] if is_inside else span[1]
        spans.append(span if span in kept else (end, end))
    return spans


def _marker(answer: str, citation: CitationForm) -> Span:
    """The marker's place; the end of what is cited for a citation without; else the answer's."""
    span = _valid(citation.start, citation.end, len(answer))
    if span and citation.marker and answer[slice(*span)] == citation.marker:
        return span
    behind = span or _valid(citation.claim_start, citation.claim_end, len(answer))
    end = behind[1] if behind else len(answer)
    return end, end


def _valid(start: int | None, end: int | None, length: int) -> Span | None:
    """Offsets as a span of a text; None where they are none of it."""
    if start is None or end is None or not 0 <= start < min(end, length):
        return None
    return start, min(end, length)


def _claim(answer: str, citation: CheckedCitation) -> Span | None:
    """The sentence that a citation supports, or what a structured citation covers."""
    cited = citation.citation
    claim = _valid(cited.claim_start, cited.claim_end, len(answer))
    return claim or (None if cited.marker else _valid(cited.start, cited.end, len(answer)))


def _struck(
    answer: str, citation: CheckedCitation, chip: Span, supported: set[Span | None]
) -> Span:
    """What a failing citation strikes out: its claim, of a claim with other support the quote."""
    claim = _claim(answer, citation)
    if claim is None:
        return chip[1], chip[1]
    if claim not in supported:
        return claim
    quote = citation.citation.quote or ""
    place = answer.find(quote, *claim) if quote else -1
    return (place, place + len(quote)) if place >= 0 else (claim[1], claim[1])


def _widened(region: Span, markers: Sequence[Span]) -> Span:
    """The region with the whole of the markers at its ends."""
    start, end = region
    for place in (start, end):
        inside = bisect_left(markers, (place, place)) - 1
        if inside >= 0 and markers[inside][0] < place < markers[inside][1]:
            start = min(start, markers[inside][0]) if region[0] < region[1] else markers[inside][1]
            end = max(end, markers[inside][1])
    return start, end


def _merged(regions: Sequence[Span]) -> list[Span]:
    """The regions without overlaps, in order."""
    merged: list[Span] = []
    for start, end in sorted(regions):
        if merged and start < merged[-1][1]:
            merged[-1] = merged[-1][0], max(merged[-1][1], end)
        else:
            merged.append((start, end))
    return merged
