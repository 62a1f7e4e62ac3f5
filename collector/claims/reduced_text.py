"""Texts without what templates change: spaces, emphasis, escapes, the shape of quotes."""

from __future__ import annotations

import html
import re
from bisect import bisect_right
from dataclasses import dataclass

MARK = re.compile(
    r"[\s\x00-\x1f\u00ad\u200b-\u200d\u2060\ufeff*`]++"
    r"|[\u2018-\u201f]"
    r"|(?:\\++(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}))+"  # together: a character may be two surrogates
    r"|\\++[nrtbf]"
    r"|\\++"
    r"|&(?:amp;)*+(?P<entity>[a-zA-Z][a-zA-Z0-9]{1,30}|#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6});"
    r"|&(?:amp;)++"
)
"""Also written several times over (`&amp;amp;`, JSON within JSON), and in the chunk itself: what is
an escape here and a plain character there is the same in both."""
NOT_SPACE = re.compile(r"[\\&*`\x00-\x08\x0e-\x1b\u00ad\u200b-\u200d\u2018-\u201f\u2060\ufeff]")
PLAIN: dict[int, str | None] = {
    **dict.fromkeys(range(32)),
    **dict.fromkeys(map(ord, "*`\u00ad\u200b\u200c\u200d\u2060\ufeff")),
    **dict.fromkeys(range(0x2018, 0x201C), "'"),
    **dict.fromkeys(range(0x201C, 0x2020), '"'),
}
CODE = re.compile(r"[ux]([0-9a-fA-F]{2,4})")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReducedText:
    """A reduced text; its piece that begins at `starts[i]` stands at `places[i]` of the source."""

    source: str
    text: str
    starts: list[int]
    places: list[int]

    def place(self, at: int) -> int:
        """The offset in the source of the character at this offset of the reduced text."""
        piece = bisect_right(self.starts, at) - 1
        return self.places[piece] + at - self.starts[piece]

    def behind(self, at: int) -> int:
        """The offset in the source behind the character before this offset."""
        place = self.place(at - 1)
        mark = MARK.match(self.source, place) if self.source[place] in "\\&" else None
        return mark.end() if mark is not None else place + 1


def reduced(text: str) -> str:
    r"""The text without spaces, line breaks, emphasis and escapes of JSON, Python's repr and HTML.

    >>> reduced('Tom\\n &amp; \\"J\\u00e9r\\u00f4me\\"') == reduced('Tom & "Jérôme"')
    True
    """
    if NOT_SPACE.search(text) is None:
        return "".join(text.split())
    return MARK.sub(_kept, text)


def with_offsets(source: str) -> ReducedText:
    """The same text with the way back to the source.

    >>> shown = with_offsets("a  b")
    >>> shown.text, shown.place(1)
    ('ab', 3)
    """
    pieces: list[str] = []
    starts: list[int] = []
    places: list[int] = []
    size = end = 0

    def add(piece: str, at: int) -> None:
        nonlocal size
        if piece:
            pieces.append(piece)
            starts.append(size)
            places.append(at)
            size += len(piece)

    for mark in MARK.finditer(source):
        add(source[end : mark.start()], end)
        add(_kept(mark), mark.start())
        end = mark.end()
    add(source[end:], end)
    return ReducedText(source=source, text="".join(pieces), starts=starts, places=places)


def _kept(mark: re.Match[str]) -> str:
    """What a mark stands for, without spaces; empty for a space, a line break or emphasis."""
    written = mark.group()
    if written[0] == "&":
        kept = html.unescape(f"&{mark['entity']};") if mark["entity"] else "&"
    elif written[0] == "\\":
        codes = "".join([chr(int(code, 16)) for code in CODE.findall(written)])
        kept = codes.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    else:
        kept = written
    return "".join(kept.translate(PLAIN).split())
