"""Splits what is asked about a large record into questions that fit the judge's input."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from scorers.judge.material import Item, Material, Passage
from scorers.judge.prompt import Section, section
from scorers.judge_table import About, JudgeTable

MOST_ITEMS = 20
"""Most verdicts of one reply: more exceed its tokens or are judged badly."""
ITEM_SHARE = 3
"""A third of the room at least is for the claims, where claims and context are both split."""
MARGIN = 80
"""Characters that a section takes beside its value: delimiter, name and place in the reply form."""

Unit = TypeVar("Unit")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The items and the passages of one question."""

    items: tuple[Item, ...]
    passages: tuple[Passage, ...]

    def sections(self, about: About) -> list[Section]:
        """The sections of a prompt that show them."""
        shown = [section(f"passage {passage.name}", passage.text) for passage in self.passages]
        return shown + [_item_section(item, about) for item in self.items if item.text]


def _item_section(item: Item, about: About) -> Section:
    if about is About.CITATIONS:
        return section(f"citation {item.name}", {"claim": item.text, "passage": item.passage})
    return section(f"{'nugget' if about is About.NUGGETS else 'claim'} {item.name}", item.text)


def parts_of(subject: Material, table: JudgeTable, room: int) -> list[Part]:
    """Splits items and passages into parts, in order, each within `room` characters if possible.

    A chunk larger than the room becomes several passages of one name, each in another part.
    """
    single = Part(items=subject.items, passages=subject.passages)
    if _size(single, table.about) <= room and len(subject.items) <= MOST_ITEMS:
        return [single]
    if table.about is About.CLAIMS:
        return _claims_by_context(subject, room)
    if table.about in (About.CHUNKS, About.CITATIONS):
        return _items_with_passages(subject, room)
    if table.about is About.NUGGETS and subject.items:  # without passages
        groups = pack(subject.items, lambda item: _cost(item.text), room, MOST_ITEMS)
        return [Part(items=tuple(group), passages=()) for group in groups]
    return [single]


def _claims_by_context(subject: Material, room: int) -> list[Part]:
    """Parts that hold every claim with every passage: support anywhere is support."""
    passage_cost = sum(_cost(passage.text) for passage in subject.passages)
    for_items = max(room - passage_cost, room // ITEM_SHARE)
    items = pack(subject.items, lambda item: _cost(item.text), for_items, MOST_ITEMS)
    room_left = room - max(sum(_cost(item.text) for item in group) for group in items)
    pieces = [piece for passage in subject.passages for piece in _pieces(passage, room_left)]
    shown = pack(pieces, lambda piece: _cost(piece.text), room_left, len(pieces), _name) or [[]]
    return [
        Part(items=tuple(group), passages=tuple(passages)) for passages in shown for group in items
    ]


def _items_with_passages(subject: Material, room: int) -> list[Part]:
    """Parts that hold every item with the passage it is about."""
    by_name = {passage.name: passage for passage in subject.passages}
    pairs = [
        (item, piece)
        for item in subject.items
        for piece in _pieces(by_name[item.passage], room - _cost(item.text))
    ]
    groups = pack(
        pairs,
        lambda pair: _cost(pair[0].text) + _cost(pair[1].text),
        room,
        MOST_ITEMS,
        lambda pair: pair[0].name,
    )
    return [
        Part(
            items=tuple(item for item, _ in group),
            passages=tuple(dict.fromkeys(piece for _, piece in group)),
        )
        for group in groups
    ]


def pack(
    units: Sequence[Unit],
    cost: Callable[[Unit], int],
    room: int,
    most: int,
    name: Callable[[Unit], str] | None = None,
) -> list[list[Unit]]:
    """Packs units, in order, into groups within the room; units of the same name never share one.

    >>> pack([3, 4, 5, 9, 1], lambda size: size, 8, 2)
    [[3, 4], [5], [9], [1]]
    """
    groups: list[list[Unit]] = []
    names: set[str] = set()
    used = 0
    for unit in units:
        called, more = name(unit) if name else "", cost(unit)
        # Pieces of one chunk have its name; in one question the model could not tell them apart.
        is_full = not groups or used + more > room or len(groups[-1]) >= most
        if is_full or called in names:
            groups.append([])
            names, used = set(), 0
        groups[-1].append(unit)
        names |= {called} if called else set()
        used += more
    return groups


def _name(passage: Passage) -> str:
    return passage.name


def _pieces(passage: Passage, room: int) -> list[Passage]:
    """Halves a passage at a space until each piece fits; keeps one that is too short to halve."""
    text = passage.text
    if _cost(text) <= max(room, 2 * MARGIN):
        return [passage]
    middle = len(text) // 2
    space = text.rfind(" ", middle // 2, middle)
    cut = space + 1 if space > 0 else middle
    halves = (text[:cut], text[cut:])
    return [
        piece
        for half in halves
        if half.strip()
        for piece in _pieces(Passage(name=passage.name, chunk_id=passage.chunk_id, text=half), room)
    ]


def _cost(text: str) -> int:
    """Characters that a value may take in a prompt, with its place in the reply form."""
    return section("", text).size + MARGIN


def _size(part: Part, about: About) -> int:
    return sum(section.size for section in part.sections(about)) + MARGIN * (
        len(part.items) + len(part.passages)
    )
