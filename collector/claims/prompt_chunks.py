"""Finds chunks by the structure of a prompt, for services whose spans carry no documents.

A context begins with a heading (`Context:`), a tag (`<context>`) or a rule (`-----`) and ends at
the question. Its chunks are XML elements, blocks that begin with a marker (`[id]`, `[1]`, `1.`,
`Source 2:`, `Document (id): `), blocks between rules, or paragraphs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from collector.claims.elements import Element, elements

NAMES = (
    r"context|documents?|sources?|passages?|excerpts?|snippets?|search results|results|"
    r"knowledge(?: base)?|references?|retrieved \w+|articles?|chunks?|evidence|"
    r"kontext|dokumente|quellen|contexte|contexto|contesto|kontekst|контекст|документы|"
    r"上下文|资料|参考资料|文脈|コンテキスト|参考情報|문맥|컨텍스트|السياق|संदर्भ"
)
ASKED = (
    r"(?:user |the |user's )?(?:question|query)|frage|pregunta|domanda|pergunta|вопрос|"
    r"问题|質問|질문|السؤال|प्रश्न"
)
# A repetition that another one of the same characters may follow is possessive (`*+`): what it took
# it keeps, else a line of a hundred thousand spaces would be divided between them in every way.
HEADING = re.compile(
    rf"^[ \t#*_>]*+(?:here (?:is|are) )?(?:the )?(?:\w++ ){{0,3}}?(?:{NAMES})"
    r"(?: information)?(?: (?:is|are) (?:below|as follows))?(?: \([^)\n]*\))?"
    r"[*_]*+[ \t]*+[:：.]?[*_]*+[ \t]*+$"
    rf"|^[ \t#*_>]*+(?:[\w'-]++ ){{1,14}}(?:{NAMES})(?: [\w'-]++){{0,8}}"
    r"[*_]*+[ \t]*+[:：][*_]*+[ \t]*+$"
    r"|^(?:context|kontext|contexte|contexto|contesto|контекст|上下文|文脈|문맥|السياق)"
    r"[ \t]*[:：](?=[ \t]*\S)",
    re.IGNORECASE | re.MULTILINE,
)
QUESTION = re.compile(
    rf"^[ \t#*_]*+(?:{ASKED}|answer|given the context|using (?:only )?the|based on the|"
    r"instructions?|user|human|task)\b[^\n]*",
    re.IGNORECASE | re.MULTILINE,
)
QUESTION_LINE = re.compile(
    rf"^[ \t#*_]*+(?:{ASKED})[*_]*+[ \t]*+[:：][*_]*[ \t]*(\S.*)$",
    re.IGNORECASE | re.MULTILINE,
)
REGIONS = (
    "context", "documents", "sources", "passages", "search_results", "chunks", "knowledge",
    "results",
)  # fmt: skip
ELEMENTS = (
    "document", "doc", "source", "passage", "chunk", "result", "search_result", "item", "excerpt",
    "snippet",
)  # fmt: skip
INNER = ("document_content", "content", "text", "page_content", "body")
INNER_SOURCE = ("source", "id", "title")
ATTRIBUTE = re.compile(r"\b(?:id|index|name|doc_id|chunk_id|source)\s*=\s*[\"']?([^\"'>\s]+)")
RULE = re.compile(r"^[ \t]*(?:-{3,}|={3,}|\*{3,}|#{3,}|_{3,})[ \t]*$", re.MULTILINE)
NOUN = r"(?:source|document|doc|passage|chunk|context|excerpt|result|snippet|article|reference)"
MARKERS = tuple(
    re.compile(pattern, re.IGNORECASE | re.MULTILINE)
    for pattern in (
        r"^[ \t]*\[\[?(?:" + NOUN + r"\s*+[:#]?\s*+)?([^\[\]\n]{1,120})\]\]?[ \t]*[:：-]?[ \t]*\n?",
        r"^[ \t]*【([^】\n]{1,120})】[ \t]*[:：]?[ \t]*\n?",
        r"^[ \t#*]*+"
        + NOUN
        + r"\s*+#?(\d+)\s*+(?:\([^)\n]*\))?[*_]*+[ \t]*+[:：.)-][*_]*[ \t]*\n?",
        r"^[ \t#*]*+" + NOUN + r"[ \t]*+(?:id[ \t]*+)?[:=：]([^\n]{1,160}+)[ \t]*+\n",
        r"^[ \t]*id[ \t]*[:=：]([^\n]{1,160}+)[ \t]*+\n",
        r"^[ \t]*\(?(\d{1,3})[.)]\)?[ \t]+",
        r"^[ \t]*([\w./#-]{1,80}):[ \t]+(?=\S)",
    )
)
LABEL_LENGTH = 80
LONGEST = 262_144
"""Characters; longer prompts are not parsed."""
UNMISTAKABLE = 4
"""The first markers, brackets and nouns, are reliable; numbered lists and `key:` occur anywhere."""
HEADER_LINE = re.compile(r"^[A-Za-z_][\w ]{0,40}: [^\n]*$")
RULED_WHOLE = re.compile(r"^-{5,}\n(.*?)\n-{5,}$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A chunk as the prompt shows it; `label` is its marker (`refund-03`, `2`) or empty."""

    label: str
    text: str


def question_in(prompt: str) -> str | None:
    """The last question that the prompt's template labels (`Question: …`); None if there is none.

    >>> question_in("Context:\\n[a] b\\n\\nQuestion: How long?\\nAnswer:")
    'How long?'
    """
    questions = QUESTION_LINE.findall(prompt)
    return str(questions[-1]).strip() if questions else None


def as_id(label: str) -> str | None:
    """A label as an id; None for a running number or a long heading, which identify no chunk."""
    return None if label.isdigit() or len(label) > LABEL_LENGTH or not label else label


def context_blocks(texts: Sequence[str]) -> tuple[Block, ...]:
    """The chunks of the last text that shows a context; empty if none does."""
    for text in reversed(texts):
        region = _region(text)
        if region is not None:
            chunks = _split(region)
            if chunks:
                return chunks
    return ()


def marked_blocks(text: str) -> tuple[Block, ...]:
    """The chunks of a text that consists of chunks only, each with a reliable marker.

    >>> [block.label for block in marked_blocks("[a-1] First.\\n[b-2] Second.")]
    ['a-1', 'b-2']
    """
    return _by_marker(text, MARKERS[:UNMISTAKABLE])


def _region(text: str) -> str | None:
    if len(text) > LONGEST:
        return None
    tagged = next(_with_body(text, REGIONS), None)
    if tagged is not None:
        return text[slice(*tagged)].strip("\n")
    heading = HEADING.search(text)
    if heading is None:
        return text if len(list(_with_body(text, ELEMENTS))) > 1 else None
    rest = text[heading.end() :]
    ruled = RULED_WHOLE.match(rest.lstrip("\n"))
    if ruled:
        return ruled.group(1)
    return rest[: _end(rest)].strip("\n").rstrip()


def _with_body(text: str, names: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    return (element.body for element in elements(text, names) if element.body is not None)


def _end(rest: str) -> int:
    """Where the context ends: at the question that the template labels, else at a likely one."""
    starts = [match.start() for match in QUESTION_LINE.finditer(rest)]
    if starts:
        return starts[-1]
    places = (match.start() for match in QUESTION.finditer(rest))
    first = len(rest) - len(rest.lstrip())
    return next((at for at in places if at <= first or _is_last_part(rest, at)), len(rest))


def _is_last_part(rest: str, question: int) -> bool:
    """A question ends the context if a blank line precedes it or little text follows."""
    return rest.endswith("\n\n", 0, question) or len(rest) - question < 600


def _split(region: str) -> tuple[Block, ...]:
    found = [element for element in elements(region, ELEMENTS) if element.body is not None]
    if found:
        return tuple(_block(region, element) for element in found)
    marked = _by_marker(region, MARKERS)
    if marked:
        return marked
    parts = [part.strip() for part in RULE.split(region)]
    if len(parts) < 2:
        parts = _paragraphs(region)
    return tuple(Block(label="", text=part) for part in parts if part)


def _by_marker(region: str, markers: Sequence[re.Pattern[str]]) -> tuple[Block, ...]:
    for marker in markers:
        matches = list(marker.finditer(region))
        # Text in front of the first marker means that the markers are inside a chunk.
        if matches and not region[: matches[0].start()].strip() and _are_labels(matches):
            ends = [match.start() for match in matches[1:]] + [len(region)]
            return tuple(
                Block(label=match.group(1).strip(), text=region[match.end() : end].strip())
                for match, end in zip(matches, ends, strict=True)
            )
    return ()


def _are_labels(matches: list[re.Match[str]]) -> bool:
    """Labels are distinct, and numbers count up from 0 or 1; else it is a list inside a chunk."""
    labels = [match.group(1).strip() for match in matches]
    if all(label.isdecimal() for label in labels):
        numbers = [int(label) for label in labels]
        return numbers == list(range(numbers[0], numbers[0] + len(numbers))) and numbers[0] < 2
    return len(set(labels)) == len(labels)


def _block(region: str, element: Element) -> Block:
    body = region[slice(*element.body)] if element.body else ""
    attribute = ATTRIBUTE.search(element.attributes)
    sources = _inner(body, INNER_SOURCE)
    label = body[slice(*sources[0].body)].strip() if sources and sources[0].body else ""
    inner = next((found.body for found in _inner(body, INNER)), None)
    text = body[slice(*inner)] if inner else _without(body, sources)
    return Block(label=attribute.group(1) if attribute else label, text=text.strip())


def _inner(body: str, names: tuple[str, ...]) -> list[Element]:
    """The elements within one, of these names and without attributes."""
    found = elements(body, names)
    return [element for element in found if element.body and not element.attributes]


def _without(body: str, left_out: Sequence[Element]) -> str:
    starts = [0, *(element.end for element in left_out)]
    ends = [*(element.start for element in left_out), len(body)]
    return "".join(body[start:end] for start, end in zip(starts, ends, strict=True))


def _paragraphs(region: str) -> list[str]:
    """The paragraphs, without those of `key: value` lines: they are headers of the next."""
    paragraphs: list[str] = []
    for part in re.split(r"\n[ \t]*\n", region.strip()):
        lines = part.strip().split("\n")
        if lines != [""] and not all(HEADER_LINE.match(line) for line in lines):
            paragraphs.append(part.strip())
    return paragraphs
