"""Splits a context into its passages, whichever way a template sets them apart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from collector.claims.elements import Element, elements, innermost
from collector.claims.field_names import is_order, says_nothing, words_of
from collector.claims.passage_data import data_blocks, table_blocks
from collector.claims.passage_text import (
    META_KEYS,
    Block,
    quoted,
    with_own_label,
    without_headers,
    without_same_headers,
)

ELEMENTS = (
    r"(?:document|doc|source|passage|chunk|result|search_result|item|excerpt|snippet|article|context|"
    r"reference|extract|node|record|page|evidence)(?:[_-]?\d{1,4})?",
)
INNER = (
    "document_content", "content", "document_contents", "text", "page_content", "body", "snippet",
    "passage",
)  # fmt: skip
INNER_SOURCE = ("chunk_id", "doc_id", "document_id", "id", "source", "url", "title")
ATTRIBUTES = tuple(
    re.compile(rf"\b(?:{names})\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\"'>\s]+))")
    for names in (
        "chunk_id|doc_id|document_id|id",
        "source|url|href|file|filename|name|title",
        "index|n|number",
    )
)
ELEMENT_NUMBER = re.compile(r"<\w*?[_-]?(\d{1,4})[\s>]")
RULE = re.compile(r"^[ \t]*(?:-{3,}|={3,}|\*{3,}|#{3,}|_{3,}|~{3,}|\+{3,})[ \t]*$", re.MULTILINE)
NOUN = "(?:" + "|".join(sorted(map(re.escape, words_of("passage")[0]), key=len, reverse=True)) + ")"
# A repetition that another one of the same characters may follow is possessive (`*+`): what it took
# it keeps, else a line of a hundred thousand spaces would be divided between them in every way.
LEAD = r"^[ \t]*+[#*=>~_<(\[【-]*+[ \t]*+"
CLOSE = r"[\])】>*=~_#-]*+"
BRACKETED = (
    r"^[ \t]*+\[\[?(?:" + NOUN + r"(?=[\s:#：])\s*+[:#：]?\s*+)?"
    r"([^\[\]\n\"'{][^\[\]\n]{0,119})\]\]?[ \t]*+[:：-]?[ \t]*+\n?"
)  # fmt: skip
RELIABLE = tuple(
    re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    for pattern in (
        BRACKETED,
        r"^[ \t]*+【([^】\n]{1,120})】[ \t]*+[:：]?[ \t]*+\n?",
        # `Document 1 (id: a-1): `, `### Passage 2`, `--- Source 3: a.md ---`
        LEAD + NOUN + r"[ \t]*+(?:#|№|no\.|nr\.|[\[(])?[ \t]*+(\d{1,4}(?!\w|\.\d)[ \t]*+"
        r"(?:\([^)\n]{0,160}\)|\[[^\]\n]{0,160}\])?)" + CLOSE
        + r"(?:[ \t]*+[-–—|,/][ \t]*+" + NOUN + r"[ \t]*+\d{1,4})?[ \t]*+(?:[:：|.)–—-]" + CLOSE
        + r"[ \t]*+|(?=\n)|$)\n?",
        # `Source [a.md]: `, `Document ID (a-1): `
        LEAD + NOUN + r"[ \t]*+(?:id[ \t]*+)?[\[(]([^\])\n]{1,120})[\])]" + CLOSE
        + r"[ \t]*+" + CLOSE + r"(?:[:：–—-]" + CLOSE + r"[ \t]*+|[ \t]*+$)\n?",
        LEAD + NOUN + r"[ \t]*+(?:id[ \t]*+)?[:=：]" + CLOSE
        + r"([ \t]*+\{[^\n]{1,4000}\}|[^\n]{1,160}+)[ \t]*+\n",
    )
)  # fmt: skip
NUMBERED = re.compile(r"^[ \t]*+[(<]?(\d{1,3})[.):>]\)?[ \t]++", re.MULTILINE)
KEYED = re.compile(
    r"^[ \t]*+[(]?((?=[\w./#-]*[\d_/#-])[\w./#-]{1,80})[)]?:[ \t]++(?=\S)", re.MULTILINE
)
BULLET = re.compile(r"^[ \t]*+()(?:[-*•‣–+▪►]|>)[ \t]++(?=\S)", re.MULTILINE)
CONTENT = re.compile(
    r"^[ \t]*+()[*_]*+(?:page_content|content|passage|text|excerpt|snippet|chunk|inhalt|contenu|"
    r"contenido|内容)"
    r"[*_]*+[ \t]*+[:：][*_]*+[ \t]*+\n?", re.IGNORECASE | re.MULTILINE,
)  # fmt: skip
FIRST_KEY = re.compile(r"\s*+[*_]*+([^\W\d][\w ]{0,30}?)[*_]*+[ \t]*+[:：][*_]*+[ \t]*+\S")
HEADER_LINE = re.compile(r"^[A-Za-z_][\w ]{0,40}: [^\n]*$")
RULED_END = re.compile(
    r"\n[ \t]*(?:[-=*]{3,}|[-=*#<\[]{2,}[ \t]*end\b[^\n]{0,100})[ \t]*$", re.IGNORECASE
)
TITLE = re.compile(r"(?:\d{1,3}[.)][ \t]+)?\*\*[^*\n]{1,60}\*\*")
SHORT_RULE = 300
"""Characters; a list of longer texts is no list of rules."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passages:
    """The blocks of a context; `is_certain` where the template says that each is a passage."""

    blocks: tuple[Block, ...] = ()
    is_certain: bool = False


def passages(region: str) -> Passages:
    """The passages of a context in order; none where it holds rules, or says that it is empty.

    >>> [(block.label, block.text) for block in passages("[1] «One.»\\n[2] «Two.»").blocks]
    [('1', 'One.'), ('2', 'Two.')]
    """
    if says_nothing(region):
        return Passages()
    for read in (data_blocks, _from_elements, _by_first_key, marked, table_blocks):
        blocks = _polished(read(region))
        if blocks:
            return Passages(blocks=blocks, is_certain=True)
    blocks, is_quoted = quoted((Block(label="", text=region.strip()),))
    if is_quoted:
        return Passages(blocks=_polished(blocks), is_certain=True)
    blocks = _polished(_from_lists(region))
    return Passages() if _are_rules(blocks) else Passages(blocks=blocks)


def _polished(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """The blocks without quotation marks and header lines, and with the ids within."""
    unquoted, _ = quoted(without_same_headers(blocks))
    polished = with_own_label([without_headers(block) for block in unquoted])
    return tuple(block for block in polished if not says_nothing(block.text))


def _are_rules(blocks: Sequence[Block]) -> bool:
    """Whether most of the blocks are short instructions, or begin with a title in bold."""
    orders = sum(is_order(block.text) for block in blocks)
    titles = sum(TITLE.match(block.text) is not None for block in blocks)
    length = sum(len(block.text) for block in blocks)
    is_short = length < SHORT_RULE * len(blocks)
    return 2 * titles > len(blocks) > 1 or (2 * orders > len(blocks) and is_short)


def _from_elements(region: str) -> tuple[Block, ...]:
    return tuple(
        _block(region, innermost(region, element))
        for element in elements(region, ELEMENTS)
        if element.body is not None
    )


def _block(region: str, element: Element) -> Block:
    body = region[slice(*element.body)] if element.body else ""
    sources = _inner(body, INNER_SOURCE)
    named = next((body[slice(*found.body)].strip() for found in sources if found.body), "")
    inner = next((found.body for found in _inner(body, INNER)), None)
    text = body[slice(*inner)] if inner else _without(body, sources)
    number = ELEMENT_NUMBER.match(region, element.start)
    own, origin, index = (_attribute(element, pattern) for pattern in ATTRIBUTES)
    label = own or named or origin or index or (number[1] if number else "")
    if own.isdecimal():
        label = named or origin or own
    return Block(label=label, text=text.strip())


def _attribute(element: Element, pattern: re.Pattern[str]) -> str:
    match = pattern.search(element.attributes)
    return next(filter(None, match.groups()), "") if match else ""


def _inner(body: str, names: tuple[str, ...]) -> list[Element]:
    """The elements within one, of these names and without attributes."""
    return [found for found in elements(body, names) if found.body and not found.attributes]


def _without(body: str, left_out: Sequence[Element]) -> str:
    starts = [0, *(element.end for element in left_out)]
    ends = [*(element.start for element in left_out), len(body)]
    return "".join(body[start:end] for start, end in zip(starts, ends, strict=True))


def marked(region: str) -> tuple[Block, ...]:
    """The blocks of a region that consists of passages only, each with a reliable marker."""
    return next(filter(None, (_by_marker(region, marker) for marker in RELIABLE)), ())


def _by_marker(region: str, marker: re.Pattern[str]) -> tuple[Block, ...]:
    matches = list(marker.finditer(region))
    # Text in front of the first marker means that the markers are inside a chunk.
    if not matches or region[: matches[0].start()].strip(" \t\n-=*_#") or not _are_labels(matches):
        return ()
    ends = [match.start() for match in matches[1:]] + [len(region)]
    blocks = tuple(
        Block(label=match.group(1).strip(" \t*_="), text=_ended(region[match.end() : end]))
        for match, end in zip(matches, ends, strict=True)
    )
    return blocks if any(block.text for block in blocks) else ()


def _ended(text: str) -> str:
    """A passage without the rule behind it."""
    return RULED_END.sub("", "\n" + text.strip()).strip()


def _are_labels(matches: Sequence[re.Match[str]]) -> bool:
    """Labels are not mixed, and numbers go up from a low number; else it is a list in a chunk."""
    labels = [match.group(1).strip() for match in matches]
    numbers = [int(found[0]) for label in labels if (found := re.match(r"\d{1,9}", label))]
    if len(numbers) == len(labels) and all(label[:1].isdecimal() for label in labels):
        rising = all(before < after for before, after in pairwise(numbers))
        return rising or len(set(labels)) == len(labels) > len(set(numbers))
    return True


def _from_lists(region: str) -> tuple[Block, ...]:
    for marker in (NUMBERED, KEYED, CONTENT, BULLET):
        blocks = _by_marker(region, marker)
        if (
            blocks
            and (marker is not NUMBERED or _counts_up(blocks))
            and not _is_nested(region, blocks, marker)
        ):
            return blocks
    parts = [part for part in RULE.split(region) if part.strip()]
    if len(parts) < 2:
        parts = _paragraphs(region)
    return tuple(Block(label="", text=part.strip()) for part in parts)


def _counts_up(blocks: Sequence[Block]) -> bool:
    """Whether the numbers are those of a list: 1, 2, 3."""
    numbers = [int(block.label) for block in blocks]
    return numbers[0] < 2 and numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def _is_nested(region: str, blocks: Sequence[Block], marker: re.Pattern[str]) -> bool:
    """Whether a list's items are parts of passages: several of them in a paragraph of several."""
    paragraphs = re.split(r"\n[ \t]*\n", region.strip())
    return 1 < len(paragraphs) < len(blocks) and marker is not CONTENT


def _by_first_key(region: str) -> tuple[Block, ...]:
    """The passages that begin with the same header as the first line: `title: …`, `file: …`."""
    first = FIRST_KEY.match(region)
    if first is None or not re.fullmatch(META_KEYS, first[1], re.IGNORECASE):
        return ()
    same = re.compile(rf"^[ \t]*+[*_]*+{re.escape(first[1])}[*_]*+[ \t]*+[:：]", re.MULTILINE)
    starts = [match.start() for match in same.finditer(region)]
    return tuple(
        Block(label="", text=_ended(region[start:end]))
        for start, end in zip(starts, [*starts[1:], len(region)], strict=True)
    )


def _paragraphs(region: str) -> list[str]:
    """The paragraphs, without those of `key: value` lines: they are headers of the next."""
    paragraphs: list[str] = []
    for part in re.split(r"\n[ \t]*\n", region.strip()):
        lines = part.strip().split("\n")
        if lines != [""] and not all(HEADER_LINE.match(line) for line in lines):
            paragraphs.append(part.strip())
    return paragraphs
