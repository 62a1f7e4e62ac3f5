"""Finds where documents stand in a prompt, by text, tolerant of spacing and JSON escapes."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from ragvigil.model.record import Document

PROBE_CHARACTERS = 48
SPACES = re.compile(r"\s+")
COMPARED = 100_000_000
"""Documents times the characters of the prompt in which each is searched, at about 10 ns each: a
prompt of 100,000 characters with up to 1,000 documents, of a million with up to 100."""


def is_comparable(documents: int, characters: int) -> bool:
    """Whether so many documents can be searched in a prompt of this length within about a second.

    False also for an empty prompt: it is not visible.
    """
    return 0 < documents * characters <= COMPARED


def positions(documents: Sequence[Document], prompt: str) -> list[int | None]:
    """The offset of each document in the prompt; None if the prompt does not show it.

    >>> positions([Document(chunk_id="a", content="two  words")], "say two words")
    [4]
    """
    places: list[int | None] = []
    squeezed: str | None = None
    cursor = 0
    for document in documents:
        content = (document.content or "").strip()
        if not content:
            places.append(None)
            continue
        at = _exactly(content, prompt, cursor)
        if at < 0:
            if squeezed is None:
                squeezed = SPACES.sub(" ", prompt)
            at = _loosely(content, prompt, squeezed)
        else:
            cursor = at
        places.append(at if at >= 0 else None)
    return places


def _exactly(content: str, prompt: str, cursor: int) -> int:
    """The offset of a text, preferably from `cursor` on; -1 if it is not there."""
    probe = content[:PROBE_CHARACTERS]
    at = prompt.find(probe, cursor)
    if at < 0:
        at = prompt.find(probe)
    # A long text costs more to search than its beginning.
    return at if at < 0 or prompt.startswith(content, at) else prompt.find(content)


def _loosely(content: str, prompt: str, squeezed: str) -> int:
    """The offset of a text that was respaced, JSON-escaped or shortened; -1 if it is not there.

    Offsets in the squeezed prompt only serve to order documents. A long text counts as shown if
    two of three probes (start, middle, end) are found.
    """
    respaced = SPACES.sub(" ", content)
    at = squeezed.find(respaced)
    if at >= 0:
        return at
    escaped = {json.dumps(content, ensure_ascii=is_ascii)[1:-1]: None for is_ascii in (False, True)}
    for written in escaped:  # in this order; the text as it is was searched before
        at = prompt.find(written) if written != content else -1
        if at >= 0:
            return at
    if len(respaced) < 3 * PROBE_CHARACTERS:
        return -1
    half = len(respaced) // 2
    starts = (0, half - PROBE_CHARACTERS // 2, len(respaced) - PROBE_CHARACTERS)
    probes = [squeezed.find(respaced[start : start + PROBE_CHARACTERS]) for start in starts]
    matches = [at for at in probes if at >= 0]
    return matches[0] if len(matches) > 1 else -1
