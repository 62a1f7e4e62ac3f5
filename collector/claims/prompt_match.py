"""Finds which documents a prompt shows, and where: each stretch of it shows one document.

Documents share headers, footers and whole templates, and some lie within others. So a text that
stands there as it is comes before one that was changed or cut, a longer one before what lies in it,
and what one document has taken shows no other.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise

from collector.claims.changed_chunks import changed_chunks
from collector.claims.reduced_text import ReducedText, reduced, with_offsets
from collector.claims.stretches import Stretches
from ragvigil.model.record import Document

SPACES = re.compile(r"\s+")
EMPTY_LINE = re.compile(r"\n[^\S\n]*+\n")
COMPARED = 100_000_000
"""Documents times the characters of the prompt in which each is searched, at about 10 ns each: a
prompt of 100,000 characters with up to 1,000 documents, of a million with up to 100."""
SHORT = 48
"""Characters; a shorter document must stand between word boundaries."""
OWN = 24
"""Characters that a document must show where it overlaps with others."""
TRIES = 50
"""Occurrences of a text that are looked at, beyond one for each document."""

Places = list[int | None]
Occurrences = Mapping[str, Sequence[int]]
"""Offsets by text, ascending."""


def is_comparable(documents: int, characters: int) -> bool:
    """Whether so many documents can be searched in a prompt of this length within about a second.

    False also for an empty prompt: it is not visible.
    """
    return 0 < documents * characters <= COMPARED


def positions(documents: Sequence[Document], prompt: str) -> list[int | None]:
    """The offset of each document in the prompt; None if the prompt does not show it.

    Spacing and escapes do not matter. A changed document is shown if half of it stands there in
    order, a cut one also by its beginning. Of documents that the prompt cannot tell apart the
    first counts.

    >>> positions([Document(chunk_id="a", content="two  words")], "say two words")
    [4]
    """
    contents = [(document.content or "").strip() for document in documents]
    verbatim = {text: _verbatim(text, prompt, TRIES + len(contents)) for text in set(contents)}
    places = _only_places(contents, verbatim) or _assigned(contents, verbatim, Stretches())
    if all(place is not None for place, text in zip(places, contents, strict=True) if text):
        return places
    shown = with_offsets(prompt)
    places = _reduced_places(contents, shown)
    return [None if place is None else shown.place(place) for place in places]


def _only_places(contents: Sequence[str], occurrences: Occurrences) -> Places:
    """The places if there is nothing to choose, as for most prompts: one for each, none shared."""
    stretches = [(occurrences[text][0], len(text)) for text in contents
                 if len(occurrences[text]) == 1]  # fmt: skip
    if len(stretches) < len(contents):
        return []
    in_order = sorted(stretches)
    if any(at + size > after for (at, size), (after, _) in pairwise(in_order)):
        return []
    return [at for at, _ in stretches]


def _verbatim(content: str, prompt: str, most: int) -> list[int]:
    """Where a text stands letter by letter."""
    return _occurrences(content, prompt, most, partial(_is_apart, prompt))


def _reduced_places(contents: Sequence[str], shown: ReducedText) -> Places:
    """The offset of each document in the reduced prompt."""
    texts = [reduced(content) for content in contents]
    occurrences = {
        text: _occurrences(
            text, shown.text, TRIES + len(contents), partial(_is_whole, content, shown)
        )
        for text, content in zip(texts, contents, strict=True)
    }
    places = _assigned(texts, occurrences, Stretches())
    changed = changed_chunks(contents, texts, places, shown)
    if not changed:
        return places
    taken = Stretches()
    for alignment in changed.values():
        taken.add_all(alignment.stretches())
    # Once more: what lies within a changed document needs a place of its own.
    places = _assigned(texts, occurrences, taken)
    return [
        changed[index].start if index in changed else place for index, place in enumerate(places)
    ]


def _is_whole(content: str, shown: ReducedText, at: int, end: int) -> bool:
    """Whether a stretch is a document by itself, and not a part of a word or pieces of two."""
    start, stop = shown.place(at), shown.behind(end)
    written = shown.source[start:stop]
    return _is_apart(shown.source, start, stop) and (
        written == content or len(EMPTY_LINE.findall(written)) <= len(EMPTY_LINE.findall(content))
    )


def _is_apart(text: str, at: int, end: int) -> bool:
    """Whether a stretch is long, or neither begins nor ends within a word."""
    if end - at >= SHORT:
        return True
    begins_inside = at > 0 and text[at - 1].isalnum() and text[at].isalnum()
    ends_inside = end < len(text) and text[end - 1].isalnum() and text[end].isalnum()
    return not begins_inside and not ends_inside


def _occurrences(
    content: str, text: str, most: int, is_valid: Callable[[int, int], bool]
) -> list[int]:
    places: list[int] = []
    at = text.find(content) if content else -1
    for _ in range(most):
        if at < 0:
            break
        is_place = is_valid(at, at + len(content))
        if is_place:
            places.append(at)
        at = text.find(content, at + (len(content) if is_place else 1))
    return places


def _assigned(texts: Sequence[str], occurrences: Occurrences, taken: Stretches) -> Places:
    """A place for each text, of all that it occurs at; those of a context stand close together.

    What stands there several times is taken where all are first, or where all are last: an earlier
    turn may show a chunk before the context does, a reply may quote it after.
    """
    first = _layout(texts, occurrences, taken.copy())
    if all(len(places) <= 1 for places in occurrences.values()):
        return first
    late = {text: places[::-1] for text, places in occurrences.items()}
    return min((first, _layout(texts, late, taken.copy())), key=_looseness)


def _looseness(places: Places) -> tuple[int, int]:
    """How many texts have no place, and the distance between the outermost of the others."""
    offsets = [place for place in places if place is not None]
    return len(places) - len(offsets), max(offsets) - min(offsets) if offsets else 0


def _layout(texts: Sequence[str], occurrences: Occurrences, taken: Stretches) -> Places:
    """A place for each text, the longest first. Equal texts stand in their own order."""
    members: dict[str, list[int]] = defaultdict(list)
    for index, text in enumerate(texts):
        members[text].append(index)
    longest_first = sorted(members, key=len, reverse=True)
    places: Places = [None] * len(texts)
    # In the second pass what overlaps with others: neighbours that the prompt joins.
    for is_overlapping in (False, True):
        for text in longest_first:
            missing = [index for index in members[text] if places[index] is None]
            least = OWN if is_overlapping else len(text)
            free = [
                at
                for at in (occurrences[text] if missing else ())
                if taken.free(at, at + len(text)) >= least
            ]
            for index, at in zip(missing, sorted(free[: len(missing)]), strict=False):
                places[index] = at
                taken.add(at, at + len(text))
    return places
