"""Finds the context that a label or a sentence of a prompt announces, and where it ends."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import zip_longest

from collector.claims.field_names import Kind, closes_context, is_blank, is_order, says_nothing
from collector.claims.passages import RELIABLE, Passages, marked, passages
from collector.claims.prompt_fields import Label, labels

RULE = re.compile(r"[ \t]*([-=*#~`_\"'>])\1{2,}[a-z]*[ \t]*(?:\n|$)")
BLANK = re.compile(r"\n[ \t]*\n")
PASSAGE_NUMBER = RELIABLE[2]
BRACKETED = re.compile(r"^[ \t]*+\[([^\[\]\n]{1,80})\][:：]?[ \t]++(?=\S)", re.MULTILINE)
SEMICOLON = re.compile(r"(?<=[.!?。？！।])\s*;\Z")
"""Behind a list of documents in a template of Haystack."""
CAPITALS = re.compile(r"^[A-Z][A-Z /&_-]{3,60}(?: \([^)\n]{0,80}\))?:[ \t]*$", re.MULTILINE)
"""A heading of a prompt whose headings are all written in capitals."""
MOST_TRIED = 8
"""Labels whose fields are read until one holds passages: each costs a walk over the rest."""
ADVICE = re.compile(r"\(|let'?s think", re.IGNORECASE)
NEAR = 200
"""Characters between an example's heading and the context in it."""
SHORTEST = 40
"""Characters per passage, on average, of a list that nothing announces."""
LAST_LINES = 12
"""Lines behind a context in which its end is searched, if no label marks it."""
FAR = 4_000
LONGEST_QUESTION = 400
LINE = re.compile(r"[^\n]+")


def in_labels(text: str) -> Passages:
    """The passages of the first context of the last question."""
    found = labels(text)
    for at in _places(text, found):
        inside = passages(_region(text, found[at], found[at + 1 :]))
        if inside.blocks:
            return inside
    return Passages()


def _places(text: str, found: Sequence[Label]) -> Iterator[int]:
    """The labels behind which the last question's context may stand."""
    places = _candidates(text, found)[:MOST_TRIED]
    for at, following in zip_longest(places, places[1:]):
        # "Use the following context." in front of "Context:"
        if not following or text[found[at].end : found[following].start].strip():
            yield at


def is_empty_in_labels(text: str) -> bool:
    """Whether the contexts of the last question are there and hold nothing."""
    found = labels(text)
    places = list(_places(text, found))
    if not places or any(_is_to_be_written(text, found, at) for at in places):
        return False
    return all(is_blank(_region(text, found[at], found[at + 1 :])) for at in places)


def _is_to_be_written(text: str, found: Sequence[Label], at: int) -> bool:
    """Whether the model is to fill it in: it is the last, or stands behind an empty `Answer:`."""
    is_behind_answer = at > 0 and found[at - 1].kind is Kind.ANSWER
    is_last = not text[found[at].end :].strip()
    return is_last or (is_behind_answer and not _has_value(text, found, at - 1))


def in_numbers(text: str) -> Passages:
    """Passages with a noun and a number each, or bracketed ones in front of a labelled question."""
    found = labels(text)
    has_question = any(label.kind is Kind.QUESTION for label in found)
    for marker in (PASSAGE_NUMBER, BRACKETED) if has_question else (PASSAGE_NUMBER,):
        matches = list(marker.finditer(text))
        is_alone = len(matches) == 1 and has_question and not text[: matches[0].start()].strip()
        if not (len(matches) > 1 or is_alone) or not _is_start(text, matches[0].start()):
            continue
        place = matches[0].start()
        later = [label for label in found if label.start > place]
        region = text[place : _end(text, place, later)].strip()
        blocks = marked(region)
        if len(blocks) == len(matches) and len(region) >= SHORTEST * len(blocks):
            return passages(region)
    return Passages()


def _is_start(text: str, place: int) -> bool:
    return not text[:place].strip() or BLANK.search(text[max(0, place - 20) : place]) is not None


def _candidates(text: str, found: Sequence[Label]) -> list[int]:
    """The labels of contexts, those of the last question first; not those of examples.

    An example has an answer. A context that comes behind one under the same name is the next.
    """
    first, answered = "", False
    places: list[int] = []
    for at, label in enumerate(found):
        if label.kind is Kind.ANSWER and _has_value(text, found, at):
            answered = True
        if label.kind is not Kind.CONTEXT or _is_example(text, found, at):
            continue
        if answered and label.name == first:
            places.clear()
        if not places:
            first, answered = label.name, False
        places.append(at)
    return places


def _has_value(text: str, found: Sequence[Label], at: int) -> bool:
    """Whether a text stands behind a label, and not only advice in parentheses."""
    end = found[at + 1].start if at + 1 < len(found) else len(text)
    value = text[found[at].end : end].lstrip(" *_")
    return not (says_nothing(value) or ADVICE.match(value))


def _is_example(text: str, found: Sequence[Label], at: int) -> bool:
    """Whether a context stands under an example's heading."""
    before = found[at - 1] if at else None
    if before is None or before.kind is not Kind.EXAMPLE or before.is_inline:
        return False
    depths = [len(re.match(r"[ \t]*(#*)", text[label.start :][:20])[1])  # type: ignore[index]
              for label in (before, found[at])]  # fmt: skip
    are_siblings = depths[0] == depths[1] > 0
    return not are_siblings and found[at].start - before.end < NEAR


def _region(text: str, label: Label, later: Sequence[Label]) -> str:
    start = label.end
    end = _end(text, start, later)
    if later and later[0].kind is Kind.QUESTION and not text[start : later[0].start].strip():
        start, later = _after_line(text, later[0]), later[1:]  # the question comes first
        if later and later[0].kind is Kind.CONTEXT and not text[start : later[0].start].strip():
            start, later = later[0].end, later[1:]
        end = _end(text, start, later)
    rest = text[start:end]
    return SEMICOLON.sub("", _ruled(rest.strip("\n")).rstrip())


def _after_line(text: str, label: Label) -> int:
    """The offset behind a label's value of one line."""
    value = re.compile(r"[^\n]*" if label.is_inline else r"\s*[^\n]*").match(text, label.end)
    return value.end() if value else label.end


def _ruled(rest: str) -> str:
    """What stands between two rules or fences, if the context is set between them."""
    opening = RULE.match(rest)
    if opening is None or opening[0].strip().startswith("```json"):
        return rest
    sign = re.escape(opening[1])
    closings = list(
        re.finditer(rf"^[ \t]*{sign}{{3,}}[ \t]*$", rest[opening.end() :], re.MULTILINE)
    )
    if not closings:
        return rest[opening.end() :]  # it underlines the heading
    if len(closings) > 1 and opening[1] != "`":
        return rest
    return rest[opening.end() : opening.end() + closings[0].start()]


def _end(text: str, start: int, later: Sequence[Label]) -> int:
    """Where a context ends: at the question that the template labels, else at a likely part."""
    end = len(text)
    questions = [at for at, label in enumerate(later) if label.kind is Kind.QUESTION]
    open_questions = [at for at in questions if not _is_answered(text, later, at)]
    if open_questions:
        end = later[open_questions[-1]].start
    end = min(end, _next_part(text, start, end, later))
    return end if open_questions else _before_last_part(text, start, end)


def _is_answered(text: str, later: Sequence[Label], at: int) -> bool:
    """Whether an answer stands behind a question: then both belong to a chunk or an example."""
    behind = at + 1
    return (
        behind < len(later)
        and later[behind].kind is Kind.ANSWER
        and _has_value(text, later, behind)
    )


def _next_part(text: str, start: int, end: int, later: Sequence[Label]) -> int:
    """The first label of another part behind the last passage; `end` if there is none."""
    last_marker = max(
        (match.start() for marker in RELIABLE[:3] for match in marker.finditer(text, start, end)),
        default=start,
    )
    if CAPITALS.match(text, text.rfind("\n", 0, start - 1) + 1):
        section = CAPITALS.search(text, max(last_marker, start), end)
        while section and not _is_start(text, section.start()):
            section = CAPITALS.search(text, section.end(), end)
        end = section.start() if section else end
    for at, label in enumerate(later):
        if label.start >= end:
            break
        ends_here = label.kind in (Kind.OTHER, Kind.EXAMPLE) and label.start > last_marker
        if ends_here and _is_start(text, label.start):
            return label.start
        if label.kind is Kind.ANSWER and not _has_value(text, later, at):
            return label.start
    return end


def _before_last_part(text: str, start: int, end: int) -> int:
    """Where the instructions or the question behind a context begin, if no label marks them."""
    lines = list(LINE.finditer(text, max(start, end - FAR), end))[-LAST_LINES:]
    for at, line in enumerate(lines):
        is_apart = at > 0 and line.start() - lines[at - 1].end() > 1
        if closes_context(line.group().strip()) and (is_apart or at == len(lines) - 1):
            return _before_question(text, start, _with_orders(lines, at))
    return _before_question(text, start, end)


def _with_orders(lines: Sequence[re.Match[str]], at: int) -> int:
    """Where the instructions begin whose last line this is: "Do not guess." stands above it."""
    while (
        at > 0
        and is_order(lines[at - 1].group())
        and (lines[at].start() - lines[at - 1].end() == 1)
    ):
        at -= 1
    return lines[at].start()


def _before_question(text: str, start: int, end: int) -> int:
    """Where the last paragraph begins if it is a single question, else `end`."""
    body = text[start:end].rstrip()
    place = body.rfind("\n\n") + 2
    last = body[place:]
    is_question = last.endswith(("?", "？", "؟")) and "\n" not in last.strip()
    return start + place if place > 2 and is_question and len(last) < LONGEST_QUESTION else end
