"""The text of a passage without what a template puts around it: quotes, headers, an id."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from collector.claims.field_names import Kind, kind_of_name
from collector.claims.recover import as_container, text

ID_KEYS = (
    r"chunk[_ ]?id|doc(?:ument)?[_ ]?id|source[_ ]?id|id|source|file(?:[_ ]?(?:name|path))?|url|"
    r"uri|link|title|name|quelle|titel|titre|fuente|título|fonte|titolo|источник|название|来源|标题|出典"
)
META_KEYS = (
    rf"{ID_KEYS}|page(?:[_ ](?:label|number))?|score|relevance(?:[_ ]score)?|similarity|distance|"
    r"date|author|section|category|type|language|tags|metadata|updated(?:[_ ]at)?|rank|"
    r"created(?:[_ ]at)?"
)
CONTENT_KEYS = (
    r"(?:[a-z]+ ){0,3}text|content|passage|body|excerpt|snippet|page_content|"
    r"inhalt|contenu|contenido|内容"
)
PLAIN = re.IGNORECASE
HEADER = re.compile(
    rf"[ \t]*+[*_]*+({META_KEYS})[*_]*+[ \t]*+[:=：][*_]*+[ \t]*+"
    r"(\{[^\n]{0,4000}\}[ \t]*|[^\n]{0,300}+)(?:\n|$)",
    PLAIN,
)
ANY_HEADER = re.compile(r"[ \t]*+([^\W\d][\w ]{0,40}):[ \t]*+([^\n]*+)(?:\n|$)")
KEY = re.compile(r"[ \t]*+[*_]*+([^\W\d][\w ]{0,40}?)[*_]*+[ \t]*+[:：]")
MOST_HEADERS = 12
NO_HEADERS = frozenset({"note", "notes", "tip", "warning", "important", "step", "hinweis", "nota"})
"""Texts begin with these themselves."""
HEAD = re.compile(r"(?:[ \t]*+[^\W\d][\w ]{0,40}:[^\n]*+\n)++(?=[ \t]*\n)")
SCORE = re.compile(r"\A[(\[](?:relevance |similarity )?score[:= ]*[-\d.]{1,20}[)\]][ \t:]*", PLAIN)
BODY = re.compile(rf"\s*+[*_]*+(?:{CONTENT_KEYS})[*_]*+[ \t]*+[:：][*_]*+\s*+", PLAIN)
TRAILER = re.compile(
    rf"\n[ \t]*+[(\[*_—-]{{0,3}}[ \t]*+({ID_KEYS})[*_]*+[ \t]*+[:：][*_]*+[ \t]*+"
    r"([^\n]{1,160}?)[)\]]?[ \t]*$",
    PLAIN,
)
RANKED_KEYS = tuple(
    re.compile(pattern, PLAIN)
    for pattern in (
        r"chunk[_ ]?id|id",
        r"doc(?:ument)?[_ ]?id|source[_ ]?id",
        rf"{ID_KEYS}|document|doc",
    )
)
IN_LABEL = re.compile(
    rf"(?:^|[\s(\[,;|–—-])(?:{ID_KEYS}|doc)[ \t]*[:=：][ \t]*[\"'`]?([^\s\"'`,;|)\]]+)", PLAIN
)
NUMBER_AND_ID = re.compile(r"\d{1,4}[ \t]*[(\[][ \t]*([^)\]\n]{1,120}?)[ \t]*[)\]]$")
BESIDE = re.compile(r"\A\(([^()\n:]{2,40}:[^()\n]{1,200})\)[ \t]*\n")
"""What stands in parentheses on the line of the number: `[1] (file: a.md, page: 2)`."""
OWN = (
    re.compile(r"\[([^\[\]\n]{1,80})\][ \t]*[:：-]?\s+(?=\S)"),
    re.compile(r"\(((?=[^)\n]*[\d_/#.-])[^()\s]{1,80})\)[ \t]*[:：-]?\s+(?=\S)"),
    re.compile(r"((?=[\w./#-]*[\d_/#-])(?=[\w./#-]*[A-Za-z])[\w./#-]{1,80}):\s+(?=\S)"),
)  # fmt: skip
QUOTES = (("«««", "»»»"), ("«", "»"), ('"""', '"""'), ("'''", "'''"), ("```", "```"), ("“", "”"),
          ("„", "“"), ("「", "」"), ("『", "』"), ('"', '"'), ("<<<", ">>>"))  # fmt: skip
FENCED = re.compile(r"((?:[^\n]{0,300}\n){1,8}?)[ \t]*```\w*\n(.*)\n[ \t]*```", re.DOTALL)
INDENTED = re.compile(r"\n {4}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A chunk as the prompt shows it; `label` is its marker (`refund-03`, `2`) or empty."""

    label: str
    text: str


def quoted(blocks: Sequence[Block]) -> tuple[tuple[Block, ...], bool]:
    """The blocks without quotation marks, and whether all of them had some.

    >>> quoted([Block(label="1", text="«««\\n    Two\\n    lines.\\n»»»")])[0][0].text
    'Two\\nlines.'
    """
    inner = [_unquoted(block.text) for block in blocks]
    if not inner or None in inner:
        return tuple(blocks), False
    pairs = zip(blocks, inner, strict=True)
    return tuple(replace(block, text=text) for block, text in pairs if text is not None), True


def _unquoted(text: str) -> str | None:
    """What stands between quotation marks that hold the whole text; None if none do."""
    for opening, closing in QUOTES:
        if len(text) > len(opening) + len(closing) and text.startswith(opening):
            inner = text[len(opening) : -len(closing)]
            if text.endswith(closing) and closing not in inner:
                # DSPy indents a text of several lines.
                return INDENTED.sub("\n", inner).strip() if opening == "«««" else inner.strip()
    return None


def without_headers(block: Block) -> Block:
    """A block without the `key: value` lines around its text, and with the id in them.

    >>> block = Block(label="1", text="Source: a.md\\nPage: 3\\nContent: Refunds take a day.")
    >>> without_headers(block)
    Block(label='a.md', text='Refunds take a day.')
    """
    fenced = FENCED.fullmatch(block.text)
    if fenced and "```" not in fenced[2]:
        return _split_headers(block, fenced[1].splitlines(), fenced[2])
    values, rest = _headers(SCORE.sub("", block.text))
    if not rest.strip():  # nothing but headers: they are the text
        return replace(block, label=_label(block.label, ()))
    body = BODY.match(rest) if values or not block.label else None
    rest = rest[body.end() :] if body else rest
    trailer = TRAILER.search(rest) if not values else None
    if trailer:
        values.append((trailer[1], trailer[2].strip()))
        rest = rest[: trailer.start()]
    return Block(label=_label(block.label, values), text=rest.strip())


def without_same_headers(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """The blocks without header lines whose keys nobody knows, but all of several blocks have.

    >>> texts = ["Secrecy: low\\nOne.", "Secrecy: high\\nTwo."]
    >>> [block.text for block in without_same_headers([Block(label="", text=t) for t in texts])]
    ['One.', 'Two.']
    """
    lines = [block.text.split("\n", MOST_HEADERS) for block in blocks]
    if len(blocks) < 2:
        return tuple(blocks)
    # The first line may be the name of a file.
    first = count = 0 if _same_key(lines, 0) or not all(map(_is_title, lines)) else 1
    while _same_key(lines, count):
        count += 1
    if count == first or any(not "".join(own[count:]).strip() for own in lines):
        return tuple(blocks)
    return tuple(
        _split_headers(block, own[:count], "\n".join(own[count:]))
        for block, own in zip(blocks, lines, strict=True)
    )


def _is_title(own: Sequence[str]) -> bool:
    return len(own[0]) < 100 and not own[0].rstrip().endswith((".", "!", "?", "。", "।", ":"))


def _same_key(lines: Sequence[Sequence[str]], at: int) -> str:
    """The key of a header that all blocks have on a line; empty if they differ, or hold texts."""
    found = [KEY.match(own[at]) if len(own) > at else None for own in lines]
    keys = {match[1].casefold() if match else "" for match in found}
    key = keys.pop() if len(keys) == 1 else ""
    is_header = len(key) > 1 and kind_of_name(key) in (None, Kind.CONTEXT) and key not in NO_HEADERS
    return key if is_header and not BODY.match(f"{key}:") else ""


def _split_headers(block: Block, headers: Sequence[str], rest: str) -> Block:
    values = [(found[1], found[2].strip()) for line in headers if (found := ANY_HEADER.match(line))]
    body = BODY.match(rest)
    text = rest[body.end() :] if body else rest
    return Block(label=_label(block.label, values), text=text.strip())


def _headers(text: str) -> tuple[list[tuple[str, str]], str]:
    """The header lines of a passage with known keys, or a first paragraph of them; and the rest."""
    values: list[tuple[str, str]] = []
    beside = BESIDE.match(text)
    if beside:
        named = IN_LABEL.search(beside[1])
        values, text = [("source", named[1])] if named else values, text[beside.end() :]
    if not HEADER.match(text):
        return values, text
    paragraph = HEAD.match(text)
    place = 0
    while header := (ANY_HEADER if paragraph else HEADER).match(text, place):
        if BODY.match(text, place) or (paragraph and place >= paragraph.end()):
            break
        values.append((header[1], header[2].strip()))
        place = header.end()
    return values, text[place:]


def _label(marker: str, values: Sequence[tuple[str, str]]) -> str:
    """The best name of a passage: an id in its marker or headers, else the marker itself."""
    inside = IN_LABEL.search(marker) or NUMBER_AND_ID.match(marker)
    if inside:
        return inside[1]
    number = re.match(r"\d{1,4}(?!\w)", marker)
    if marker and not number:
        return marker
    named = [pair for key, value in values for pair in _members(key, value)]
    for keys in RANKED_KEYS:
        for key, value in named:
            if keys.fullmatch(key) and value:
                return value
    return number[0] if number and not marker.isdecimal() else marker


def _members(key: str, value: str) -> list[tuple[str, str]]:
    """A header; for one with a mapping (LangChain's `Source: {'id': 'a-1'}`) the mapping's members.

    >>> _members("Source", "{'id': 'a-1', 'page': 2}"), _members("Source", "a.md")
    ([('id', 'a-1'), ('page', '2')], [('Source', 'a.md')])
    """
    mapping = as_container(value).value if value.startswith("{") else None
    if not isinstance(mapping, dict):
        return [(key, value)]
    return [(str(name), text(member)) for name, member in mapping.items()]


def with_own_label(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """The blocks; where each of them begins with an id of its own, with that as its label.

    >>> with_own_label([Block(label="1", text="[a-1] One."), Block(label="2", text="[b-2] Two.")])
    (Block(label='a-1', text='One.'), Block(label='b-2', text='Two.'))
    """
    if any(block.label and not block.label.isdecimal() for block in blocks):
        return tuple(blocks)
    for pattern in OWN:
        found = [pattern.match(block.text) for block in blocks]
        labels = {match[1].strip() for match in found if match}
        if (
            blocks
            and all(found)
            and len(labels) == len(blocks)
            and not all(map(str.isdecimal, labels))
        ):
            return tuple(
                Block(label=match[1].strip(), text=block.text[match.end() :])
                for block, match in zip(blocks, found, strict=True) if match
            )  # fmt: skip
    return tuple(blocks)
