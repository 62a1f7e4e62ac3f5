"""Says why a text counts as cut, by how it ends.

    >>> why_unfinished("Refunds take 5 days. Store credit is issued imm")
    'the last sentence stops in the middle: …Store credit is issued imm'
    >>> why_unfinished("Refunds take 5 days. Enjoy your new shoes 🎉")
    ''

A text is cut if a code fence, JSON document or bracket stays open, if it ends in a word that needs
another (*and the*), or if its last sentence has no full stop while the others have. Lists, verses,
addresses, numbers, units and the like need none. Time is linear in the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

STOPS = ".!?…。！？｡।॥؟۔։።‽"
SUPERSCRIPTS = "¹²³⁴⁵⁶⁷⁸⁹⁰"
# Searched for in a whole answer or a whole line, which may be a megabyte without a space or of
# newlines: each reads a character once.
_LIST_LINE = re.compile(r"^\s*(?:[-*•·–|#>]|(?:\d+|[a-zA-Z]|[ivx]{1,5})[.)]\s)")
_FENCE = re.compile(r"^[^\S\n]*(?:```|~~~)", re.MULTILINE)
_ADDRESS = re.compile(r"https?://\S")
_NAMED = re.compile(r"^[#@]\w|\w[./\\_]\w")
"""A tag, a handle, or a word of a path, an address, a version or code."""
_UNIT = re.compile(r"[°/²³µ]")
_SOURCES = re.compile(
    r"\W*(?:sources?|references?|quellen?|références?|fuentes?|referencias?|fonti|fontes?|bron(?:nen)?|źródł[ao]"
    r"|источники?|kaynak(?:lar)?|المصادر|المصدر|स्रोत|来源|參考|参考(?:资料|文献)?|出典|출처)\W*[:：]",
    re.IGNORECASE,
)
"""How a line begins that names the sources of the answer."""
_STEPS = re.compile(r"\w\s[>→»›]\s\S{1,40}(?:\s\S{1,40}){0,2}$")
"""The end of a path through menus: *Settings > Privacy > Data*."""
_RULE = re.compile(r"\s*(?:[-*_=]\s?){3,200}$")
_MARKERS = re.compile(r"(?:\s?[\[【(][^\[\]【】()\n]{1,80}[\]】)]){1,16}$")
"""Markers or a remark in brackets behind the last word of a line."""
_WORD = re.compile(r"\w+")
_SPACE = "".join(filter(str.isspace, map(chr, range(0x3001))))
_BEHIND = "\"'”’»)]}」』*_`~|>" + _SPACE
"""What may stand behind the full stop, digit or superscript that closes a line."""
_CLOSING = frozenset(STOPS + ':;]】)}>|`»”"」』')
"""Last characters that close a line by themselves."""
_CLOSING_BEFORE = frozenset(STOPS + ":" + SUPERSCRIPTS)
_CLOSING_KINDS = frozenset({"So", "Sk", "Sc", "No"})
"""Unicode categories of emoji, signs of currencies and fractions, which close a line too."""
_JOINERS = "\ufe0e\ufe0f\u200d"
_FINAL = re.compile(
    r"(?:です|ます|でした|ました|ません|ください|下さい|でしょう|ましょう"
    r"|니다|세요|해요|어요|아요|예요|에요|네요|지요|죠|है|हैं|था|थे|थी|करें)$"
)
"""Verbs that end a sentence where no word can follow them."""
_NEEDING = (
    "a an the and or nor of because der den dem des ein eine einen einem einer und oder weil dass"
    " le les un une du des et ou el los las una y del il lo gli di che os um uma do da het een en"
    " och eller og och i oraz lub że и или что ve veya &"
)
_DANGLING = frozenset(_NEEDING.split())
"""Words in small letters that need another behind them."""
_OPEN = ("(", "[", "{", "“", "„", "«", ",", "、", "，", "،")
_BRACKETS = (")", "]", "】")
LEAST_WORDS = 4
"""A shorter last line without a full stop counts as a signature, a label or a short answer."""
WRAPPED = 60
"""Characters of a line that may go on in the next one."""


@lru_cache(maxsize=512)
def why_unfinished(answer: str) -> str:
    """Why a text counts as cut, or "". Caches the last 512: several scorers check an answer."""
    text = answer.rstrip()
    if len(_FENCE.findall(text)) % 2:
        return "a code block is not closed"
    if text.startswith(("{", "[{")) and not text.endswith(("}", "]")):
        return "a JSON document is not closed"
    *before, last = text.splitlines() or [""]
    fragment = re.split(rf"[{STOPS}]", last)[-1]
    reason = f"the last sentence stops in the middle: …{fragment.strip()[-40:]}"
    if _is_open(last) or _is_cut_row(before, last):
        return reason
    if is_closed(last) or not any(stop in text for stop in STOPS):
        return ""
    if _is_among_bare_lines(before, last) or _SOURCES.match(last):
        return ""
    is_list = _LIST_LINE.match(last) is not None
    if len(_WORD.findall(fragment)) < LEAST_WORDS and not is_list and fragment == last:
        return ""
    return reason


def is_closed(line: str) -> bool:
    """Whether a line ends as a whole: with a full stop, a bracket, a number or an address.

    >>> [is_closed(line) for line in ("In 5 days.*)", "See a@b.example", "Store credit is imm")]
    [True, True, False]
    """
    bare = line.rstrip().rstrip(_JOINERS)
    if bare[-1:] in _CLOSING or unicodedata.category(bare[-1:] or " ") in _CLOSING_KINDS:
        return True
    if bare.endswith(("%", "$")) or _FINAL.search(bare[-8:]) or _RULE.match(bare):
        return True
    if _STEPS.search(bare[-160:]):
        return True
    last = line.rstrip(_BEHIND)[-1:]
    if last in _CLOSING_BEFORE or last.isdecimal():
        return True
    word = "" if line[-1:].isspace() else ["", *line.rsplit(maxsplit=1)][-1]
    is_named = _NAMED.search(word) is not None or _UNIT.search(word) is not None
    return "@" in word[1:-1] or is_named or _ADDRESS.search(word) is not None


def _is_open(line: str) -> bool:
    """Whether a line ends in an open bracket or in a word or comma that needs another word.

    >>> [_is_open(line) for line in ("Now open and the", "Best regards,", "See [it](http://a.b")]
    [True, False, True]
    """
    bracket = line.rfind("(")
    if bracket > line.rfind(")") and line[max(0, bracket - 1) : bracket] not in (":", ";", "-"):
        return True
    if len(_WORD.findall(line)) < LEAST_WORDS:
        return False
    return line.endswith(_OPEN) or ["", *line.rsplit(maxsplit=1)][-1] in _DANGLING


def _is_among_bare_lines(before: Sequence[str], last: str) -> bool:
    """Whether lines have no full stop here: the other items of a list, or the short line above."""
    if _LIST_LINE.match(last):
        items = [line.rstrip() for line in before if _LIST_LINE.match(line)]
        if len(items) > 1 and all(item.endswith(_BRACKETS) for item in items):
            return False  # each names its source, but for the last one
        if items and 2 * sum(map(_has_stop, items)) <= len(items):
            return not last.rstrip().endswith(("-", ","))
    above = before[-1].strip() if before else ""
    is_bare = bool(above) and not _has_stop(above) and not above.endswith((":", "："))
    goes_on = last.lstrip()[:1].islower() and not above[:1].islower()
    return is_bare and len(above) < WRAPPED and not goes_on


def _has_stop(line: str) -> bool:
    """Whether a line ends in a full stop, with quotation marks or markers behind it."""
    words = line.rstrip()
    return line.rstrip(_BEHIND)[-1:] in STOPS or _MARKERS.sub("", words[-600:])[-1:] in STOPS


def _is_cut_row(before: Sequence[str], last: str) -> bool:
    """Whether the last row of a table lacks the stroke that the row above ends in."""
    is_row = last.startswith("|") and bool(before) and before[-1].rstrip().endswith("|")
    return is_row and not last.rstrip().endswith("|")
