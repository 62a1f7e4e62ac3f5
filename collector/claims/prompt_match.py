"""Finds where documents stand in a prompt, by text, tolerant of spacing and JSON escapes."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from ragvigil.model.record import Document

PROBE_CHARACTERS = 48
SPACES = re.compile(r"\s+")


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
        at = prompt.find(content[:PROBE_CHARACTERS], cursor)
        if at < 0 or not prompt.startswith(content, at):  # a long text costs more to search
            at = prompt.find(content)
        if at < 0:
            if squeezed is None:
                squeezed = SPACES.sub(" ", prompt)
            at = _loosely(content, prompt, squeezed)
        else:
            cursor = at
        places.append(at if at >= 0 else None)
    return places


def _loosely(content: str, prompt: str, squeezed: str) -> int:
    """The offset of a text that was respaced, JSON-escaped or shortened; -1 if it is not there.

    Offsets in the squeezed prompt only serve to order documents. A long text counts as shown if
    two of three probes (start, middle, end) are found.
    """
    respaced = SPACES.sub(" ", content)
    at = squeezed.find(respaced)
    if at >= 0:
        return at
    for is_ascii in (False, True):
        at = prompt.find(json.dumps(content, ensure_ascii=is_ascii)[1:-1])
        if at >= 0:
            return at
    if len(respaced) < 3 * PROBE_CHARACTERS:
        return -1
    half = len(respaced) // 2
    starts = (0, half - PROBE_CHARACTERS // 2, len(respaced) - PROBE_CHARACTERS)
    probes = [squeezed.find(respaced[start : start + PROBE_CHARACTERS]) for start in starts]
    matches = [at for at in probes if at >= 0]
    return matches[0] if len(matches) > 1 else -1
