r"""A text as its reader sees it: escapes resolved, invisible characters gone, wide letters narrow.

A secret may be written `p\u0061ssword`, `p%61ssword`, `p&#97;ssword`, `ｐａｓｓｗｏｒｄ` or with
invisible characters in it. All of them become plain in a view, which knows where each of its bytes
stands in the text, so that the mark replaces the secret as it is written.
"""

from __future__ import annotations

import html
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

LEVELS = 5
"""Escapes within escapes that are resolved, one level a view: a quote in a string in JSON in JSON
differs from the quote that ends the string only in its number of backslashes."""

# Every alternative matches at its first try, or within a few bytes: the search is linear.
# A run of backslashes matches whatever follows it.
PIECE = re.compile(
    rb"(\\+(?:u[dD][89abAB][0-9a-fA-F]{2}\\+u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}"
    rb"|x[0-9a-fA-F]{2}|[nrt\"'/`])?"
    rb"|%[0-9a-fA-F]{2}"
    rb"|&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,16});"
    rb"|\x1b\[[0-9;]{0,20}[A-Za-z]"  # colours of a terminal
    rb"|\xc2[\xa0\xab\xad\xbb]|\xcd\x8f|\xe1\x85[\x9f\xa0]|\xe1\xa0\x8e"
    rb"|\xe2(?:[\x80\x81\x84\x92\x93][\x80-\xbf]|\x88\x92)|\xe3\x80[\x80\x8c-\x8f]"
    rb"|\xef[\xbc\xbd][\x80-\xbf]|\xef\xb8[\x80-\x8f]|\xef\xbb\xbf"
    rb"|\xf0\x9d[\x90-\x9f][\x80-\xbf]|\xf3\xa0[\x80-\x87][\x80-\xbf])"
)
SPACES = {"n": b"\n", "r": b"\r", "t": b"\t"}
QUOTES = dict.fromkeys("“”„‟«»「」『』", b'"') | dict.fromkeys("‘’‚‛", b"'")
DASHES = dict.fromkeys("‐‑‒–−", b"-") | dict.fromkeys("—―", b"--")

# In a serialised request one of these says that a part of a secret may be hidden. What JSON escapes
# anyhow (a line's end, a quote) hides none: names and forms are searched without it.
HIDES = (
    r"\\u(?:00[2-7][0-9A-Fa-f]|[fF]{2}[0-5][0-9A-Fa-f]|200[b-fB-F]|2060|00[aA][dD]|[dD]835)",
    r"\\x[2-7][0-9A-Fa-f]",
    # Letters, digits and signs of names that URLs need not encode.
    r"%(?:25)*(?:3[0-9]|4[0-9A-Fa-f]|5[0-9AaFf]|6[1-9A-Fa-f]|7[0-9Aa]|2[DdEe])",
    r"%(?:[Ee][Ff]%[Bb][BCDbcd]|[Ee]2%8[01])",
    r"&(?:amp;)*#(?:[0-9]{2,7}|[xX][0-9a-fA-F]{2,6});",
    r"&(?i:hyphen|dash|lowbar|period|colon|equals|commat|sol|num|zwnj|zwj|shy);",
    r"[0-9A-Za-z_-](?:\x{ad}|[\x{200b}-\x{200f}\x{202a}-\x{202e}\x{2060}-\x{2064}]"
    r"|\x{34f}|\x{feff}|\x{180e}|[\x{fe00}-\x{fe0f}]|[\x{e0000}-\x{e01ff}])+[0-9A-Za-z_-]",
    r"[Ａ-Ｚａ-ｚ０-９]{2}|[\x{1d400}-\x{1d7ff}]|[Ⓐ-ⓩ]{2}",
    r"\x1b\[[0-9;]*m",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A text to search. `ends` and `below_ends` are where its pieces end, here and in `below`."""

    text: bytes
    below: View | None = None
    ends: list[int]
    below_ends: list[int]

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Where the bytes from `start` to `end` of this view stand in the original text."""
        if self.below is None:
            return start, end
        return self.below.original(self._place(start), self._place(end - 1, is_end=True))

    def _place(self, place: int, *, is_end: bool = False) -> int:
        """Where the piece of a byte begins below, or ends; within plain text, the byte itself."""
        piece = bisect_right(self.ends, place)
        if piece == len(self.ends):
            return self.below_ends[-1]
        if piece % 2:  # an escape: it is taken whole
            return self.below_ends[piece if is_end else piece - 1]
        return self.below_ends[piece] - self.ends[piece] + place + is_end


def views(text: bytes) -> Iterator[View]:
    """The text itself, then with its escapes resolved, as often as there are any."""
    view = View(text=text, ends=[], below_ends=[])
    yield view
    for _ in range(LEVELS):
        above = _resolved(view)
        if above is None:
            return
        yield above
        view = above


def _resolved(view: View) -> View | None:
    """A view of the view with its escapes resolved; None if that changes nothing."""
    pieces = PIECE.split(view.text)
    if len(pieces) == 1:
        return None
    below_ends = list(accumulate(map(len, pieces)))
    escapes = pieces[1::2]
    meanings = list(map(_meaning, escapes))
    if meanings == escapes:
        return None
    pieces[1::2] = meanings
    ends = list(accumulate(map(len, pieces)))
    return View(text=b"".join(pieces), below=view, ends=ends, below_ends=below_ends)


@lru_cache(maxsize=4096)
def _meaning(escape: bytes) -> bytes:
    """What an escape stands for; itself if it is none after all."""
    if escape.startswith(b"\\"):
        return _backslashed(escape)
    if escape.startswith(b"%"):
        return bytes.fromhex(escape[1:].decode())
    if escape.startswith(b"\x1b"):
        return b""
    text = escape.decode("utf-8", "replace")
    if escape.startswith(b"&"):
        return html.unescape(text).encode("utf-8", "replace")
    if text in QUOTES or text in DASHES:
        return QUOTES.get(text) or DASHES[text]
    plain = unicodedata.normalize("NFKC", text)
    if plain.isspace():
        return b" "
    is_hidden = unicodedata.category(text) in ("Cf", "Mn", "Lo") and not plain.isascii()
    if is_hidden:
        return b"" if _is_invisible(text) else escape
    return plain.encode() if plain.isascii() else escape


def _is_invisible(sign: str) -> bool:
    """Whether nothing is shown for a character of Unicode's categories Cf, Mn and Lo."""
    return unicodedata.category(sign) != "Lo" or sign in "\u115f\u1160"


def _backslashed(escape: bytes) -> bytes:
    """One level of a run of backslashes: two are one, and the last of an odd number escapes."""
    tail = escape.lstrip(b"\\")
    backslashes = len(escape) - len(tail)
    kept = b"\\" * (backslashes // 2)
    return kept + (_escaped(tail.decode()) if backslashes % 2 else tail)


def _escaped(tail: str) -> bytes:
    if not tail:
        return b"\\"
    if tail in SPACES:
        return SPACES[tail]
    if tail[0] == "x":
        return bytes.fromhex(tail[1:])
    if tail[0] == "u":
        units = b"".join(bytes.fromhex(unit.strip("\\")) for unit in tail.split("u")[1:])
        return units.decode("utf-16-be", "replace").encode()
    return tail.encode()
