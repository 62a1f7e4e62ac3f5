"""Inline markers in an answer: `[1]`, `[1-3]`, `[^1]`, `¹`, `(1)`, `[id]`, `【4:0†f】`, `<co>`."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from collector.citing.targets import Targets
from collector.claims.elements import Element, elements
from ragvigil.model.record import Document


class Mark(NamedTuple):
    """A marker in the answer: its offsets, what it names, and the chunk that it resolves to."""

    start: int
    end: int
    target: str
    chunk: Document | None
    place: int | None
    style: str
    claim: tuple[int, int] | None = None


CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
BRACKET = re.compile(r"\[(\[?)([^\[\]\n]{1,200})\](\]?)(\(|:(?!\s*[\"“„«]))?")
NUMBERS = re.compile(r"\^?\s*\d{1,4}(?:\s*[,;–—-]\s*\^?\d{1,4})*\s*")
NOUN = re.compile(
    r"(?:source|sources|src|doc|document|ref|reference|chunk|passage|context|quelle|fuente|fonte|"
    r"источник|来源|出典|출처|المصدر|स्रोत)(?:\s*[:#：]\s*|\s+|(?=\d))(?=\S)", re.IGNORECASE
)  # fmt: skip
LENTICULAR = re.compile(r"【([^【】\n†]{1,80})(?:†([^【】\n]{0,160}))?】")
PAREN = re.compile(r"\(([^()\n]{1,160})\)")
DIGITS = re.compile(r"(?<!\d)\d{1,9}(?!\d)")
"""A longer number names no chunk, and Python reads none of over 4,300 digits."""
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
SUPERSCRIPT = re.compile(r"(?<=[\w.!?…。！？\"”»」)\]])[⁰¹²³⁴⁵⁶⁷⁸⁹]+(?:[,\u202f ][⁰¹²³⁴⁵⁶⁷⁸⁹]+)*")
UNIT = re.compile(
    r"(?:[\d₀-₉]|(?:\b|(?<=[Α-ω]))[a-zA-Z]|\b[Α-ω]|\b(?:km|cm|mm|dm|µm|nm|ft|in|yd|mi|kg|sec|min)"
    r"|\b(?:sin|cos|tan|log|ln)|\([^()]*(?:[+·*/=−]|\s-\s)[^()]*\))\s?$"
)
"""What a power stands behind: a number, a unit, a variable, a function or a sum in brackets."""
POWER_REACH = 24
"""Characters in front of a superscript in which these are looked for."""
VALUE_SIGNS = ("=", "∈", "∉", "⊂", "⊆", "∪")
"""Signs behind which brackets hold a value: `x = [1, 2]`, `x ∈ [2, 5]`."""
YEAR_DIGITS = 4
"""Digits of a number in brackets that is a year, where chunks have no numbers for ids."""
CITING = ("cite", "citation", "source", "ref")
NAMED = re.compile(
    r"(?:id|index|doc|document|source|ref|href|chunk_id|data-id)\s*=\s*[\"']?([^\"'>]+)"
)
LIST_LIMIT = 50
"""Most numbers of a list or range; a longer range is no citation."""
LONGEST = 131_072
"""Characters of an answer that are searched; `RagRecord.truncated` names the citations of a longer
one."""


def find(answer: str, targets: Targets) -> list[Mark]:
    """All markers by position, except in code, links and footnote definitions."""
    answer = answer[:LONGEST]
    marks: list[Mark] = []
    hidden = _code(answer) if "`" in answer else []
    if "[" in answer:
        marks.extend(_brackets(answer, targets))
    if "【" in answer:
        marks.extend(_lenticular(answer, targets))
    if "<" in answer:
        marks.extend(_elements(answer, targets))
    if not answer.isascii():
        marks.extend(_superscripts(answer, targets))
    if "(" in answer:
        marks.extend(_parens(answer, targets, has_brackets=bool(marks)))
    if hidden:
        starts = [start for start, _ in hidden]
        ends = [0, *(end for _, end in hidden)]  # of the code before the first: there is none
        marks = [mark for mark in marks if mark.start >= ends[bisect_right(starts, mark.start)]]
    return sorted(marks, key=lambda mark: (mark.start, mark.end))


def _code(answer: str) -> list[tuple[int, int]]:
    """The ranges of code. A fence around the whole answer is none, nor is `[1]` in backticks."""
    spans = [match.span() for match in CODE.finditer(answer)]
    return [
        (start, end)
        for start, end in spans
        if end - start < 0.9 * len(answer) and not re.fullmatch(r"`\[[^\]]+\]`", answer[start:end])
    ]


def _brackets(answer: str, targets: Targets) -> Iterator[Mark]:
    position = 0
    while True:
        match = BRACKET.search(answer, position)
        if match is None:
            return
        position = match.end()
        double, inside, closing, after = match.groups()
        end = match.end() - (1 if after else 0)
        # Unbalanced brackets: `[1]]` ends at the first of them, `[[1]` is no marker.
        if bool(double) != bool(closing):
            if closing or not double:
                end = end - len(closing)
            else:
                continue
        if after == "(" and _is_link(answer, match.end()):
            continue
        if after == ":" and _starts_line(answer, match.start()):
            continue  # a definition: `[^1]: …`, `[1]: http…`
        if NUMBERS.fullmatch(inside) and _is_value(answer, match.start(), inside, targets):
            continue
        yield from _marks_in(match.start(), end, inside, targets, "double" if double else "bracket")


def _is_link(answer: str, start: int) -> bool:
    inside = answer[start : start + 400].partition(")")[0].strip()
    return inside.startswith(("http", "/", "#", "./", "mailto:", "<")) or (
        " " not in inside and "." in inside
    )


def _is_value(answer: str, start: int, inside: str, targets: Targets) -> bool:
    """Whether numbers in brackets are a value: behind a sign, an interval from 0, or a year."""
    before = answer[max(0, start - 2) : start].rstrip()
    if before.endswith(VALUE_SIGNS):
        return True
    numbers = list(_numbers(inside.replace("^", "")))
    chunks = [targets.by_number(number, zero_based=0 in numbers)[0] for number in numbers]
    if all(chunk is not None for chunk in chunks):
        return False
    is_interval = numbers[0] == 0 and len(numbers) > 1
    return is_interval or (len(inside.strip()) == YEAR_DIGITS and not targets.have_numbers)


def _starts_line(answer: str, start: int) -> bool:
    return start == 0 or answer[start - 1] == "\n"


def _marks_in(start: int, end: int, inside: str, targets: Targets, style: str) -> Iterator[Mark]:
    """The marks in a pair of brackets: numbers, an id, `Source: x`, or a list of these."""
    whole = targets.by_name(inside)
    if whole is not None and not inside.strip().isdigit():
        yield Mark(start, end, inside.strip(), whole, targets.place(whole), style)
        return
    if NUMBERS.fullmatch(inside):
        style = "footnote" if "^" in inside else "number"
        yield from _numbered_marks(start, end, inside.replace("^", ""), targets, style)
        return
    noun = NOUN.match(inside)
    rest = inside[noun.end() :] if noun else inside
    if noun and NUMBERS.fullmatch(rest):
        yield from _numbered_marks(start, end, rest, targets, "noun")
        return
    parts = [part.strip() for part in re.split(r"[,;]", rest) if part.strip()]
    parts = [stripped for part in parts if (stripped := NOUN.sub("", part, count=1).strip())]
    for part in parts[:LIST_LIMIT]:
        chunk = targets.by_name(part)
        if chunk is not None:
            yield Mark(start, end, part, chunk, targets.place(chunk), style)
        elif targets.looks_like_id(part) and " " not in part:
            yield Mark(start, end, part, None, None, style)


def _numbered_marks(
    start: int, end: int, inside: str, targets: Targets, style: str
) -> Iterator[Mark]:
    numbers = list(_numbers(inside))
    for number in numbers[:LIST_LIMIT]:
        chunk, index = targets.by_number(number, zero_based=0 in numbers)
        yield Mark(start, end, str(number), chunk, index, style)


def _numbers(inside: str) -> Iterator[int]:
    """The numbers in a list of numbers and ranges.

    >>> list(_numbers("1, 3-5"))
    [1, 3, 4, 5]
    """
    for part in re.split(r"[,;]", inside):
        ends = [int(digits) for digits in DIGITS.findall(part)]
        if len(ends) == 2 and ends[0] < ends[1] <= ends[0] + LIST_LIMIT:
            yield from range(ends[0], ends[1] + 1)
        else:
            yield from ends


def _lenticular(answer: str, targets: Targets) -> Iterator[Mark]:
    """OpenAI's `【4:0†source】` names a message and an index; only annotations resolve it."""
    for match in LENTICULAR.finditer(answer):
        inside, name = match.group(1).strip(), (match.group(2) or "").strip()
        chunk = targets.by_name(name) if name and name != "source" else targets.by_name(inside)
        index = None
        if chunk is None and inside.isdigit() and not name:
            chunk, index = targets.by_number(int(inside))
        elif chunk is not None:
            index = targets.place(chunk)
        target = name if name and name != "source" else inside
        yield Mark(*match.span(), target, chunk, index, "lenticular")


def _elements(answer: str, targets: Targets) -> Iterator[Mark]:
    """`<cite id="x">claim</cite>`, `<source id="x"/>`, `<co: 0,1>claim</co: 0,1>`."""
    for element in elements(answer, CITING):
        attribute = NAMED.search(element.attributes)
        body = answer[slice(*element.body)].strip() if element.body else ""
        name = attribute.group(1).strip() if attribute else body
        claim = element.body if attribute and body else None
        if name:
            for mark in _loose(element, name, targets, "element"):
                yield mark._replace(claim=claim)
    for element in elements(answer, ("co",)):
        if element.body and element.attributes.startswith(":"):
            for number in _numbers(element.attributes[1:]):
                chunk, index = targets.by_number(number, zero_based=True)
                span = element.start, element.end
                yield Mark(*span, str(number), chunk, index, "element", element.body)


def _loose(element: Element, name: str, targets: Targets, style: str) -> Iterator[Mark]:
    marks = list(_marks_in(element.start, element.end, name.strip("[]"), targets, style))
    yield from marks or [Mark(element.start, element.end, name, None, None, style)]


def _superscripts(answer: str, targets: Targets) -> Iterator[Mark]:
    for match in SUPERSCRIPT.finditer(answer):
        before = answer[max(0, match.start() - POWER_REACH) : match.start()]
        if UNIT.search(before):  # a power: m², 10³
            continue
        digits = re.sub(r"[\u202f ]", ",", match.group()).translate(SUPERSCRIPTS)
        yield from _numbered_marks(*match.span(), digits, targets, "superscript")


def _parens(answer: str, targets: Targets, *, has_brackets: bool) -> Iterator[Mark]:
    """`(source: x)`, `(refund-03)`; `(1)` only behind a claim in an answer without brackets."""
    for match in PAREN.finditer(answer):
        inside = match.group(1).strip()
        if match.start() and answer[match.start() - 1] == "]":
            continue
        noun = NOUN.match(inside)
        if noun is None and NUMBERS.fullmatch(inside):
            if not has_brackets and _is_behind_claim(answer, match):
                yield from _in_range(match, inside, targets)
            continue
        if noun is not None and noun.end() < len(inside):
            yield from _marks_in(*match.span(), inside, targets, "paren")
            continue
        chunk = targets.by_name(inside)
        if chunk is not None and inside == chunk.chunk_id:
            yield Mark(*match.span(), inside, chunk, targets.place(chunk), "paren")


def _in_range(match: re.Match[str], inside: str, targets: Targets) -> Iterator[Mark]:
    marks = list(_numbered_marks(*match.span(), inside, targets, "paren"))
    if marks and all(mark.chunk is not None for mark in marks):
        yield from marks


def _is_behind_claim(answer: str, match: re.Match[str]) -> bool:
    """Whether it follows a claim, `… in 30 days (1).`, and is no list item, `(1) open the menu`."""
    before, after = match.start() - 1, match.end()
    while before >= 0 and answer[before].isspace():  # no slice: it would copy the answer each time
        before -= 1
    while answer[after : after + 1] == " ":
        after += 1
    ends = after == len(answer) or answer[after] in ".,;!?\n。(["
    return before >= 0 and answer[before] not in ":;,\n" and ends
