"""Finds the named fields of a prompt: labels, headings, tags, DSPy's markers, JSON members."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from collector.claims.elements import elements
from collector.claims.field_names import (
    LONGEST_LABEL,
    Kind,
    announces_context,
    introduces_context,
    is_passage,
    kind_of_name,
)
from collector.claims.passages import RELIABLE

MARKER = re.compile(r"^[ \t]*\[\[ ?## ?(\w{1,80}) ?## ?\]\][ \t]*\n?", re.MULTILINE)
"""DSPy's: `[[ ## context ## ]]`."""
REQUIREMENT = re.compile(
    r"\n\n(?:Respond with (?:the corresponding output fields|a JSON object)|Outputs will be a JSON)"
    r"[^\n]*(?:\n.*)?\Z", re.DOTALL,
)  # fmt: skip
"""What DSPy writes behind the last field."""
LINE = re.compile(r"[^\n]+")
COLON = re.compile("[:：]")
ITEM = re.compile(r"[ \t]*(?:[-*•+–][ \t]|\(?\d{1,3}[.)][ \t])")
DECORATED = re.compile(
    r"[ \t]*(?:[#*=_~-]+[ \t]*(?P<name>[^\n#*=_~\[【-][^\n]{0,80}?)[ \t]*[#*=_~:：-]*"
    r"|[\[【]+(?P<bracketed>[^\n\[\]【】]{1,80})[\]】]+[:：]?)[ \t]*$"
)
CAPITALS = re.compile(r"[ \t]*([A-Z][A-Z _]{3,40})[ \t]*$")
SENTENCE_END = re.compile(r"[.:：。!][*_\"'”)]*[ \t]*$")
DECORATION = " \t#*_=>[]<>【】~`-"
REASONING = frozenset({"reasoning", "rationale", "thought", "thinking", "scratchpad", "analysis",
                       "completed", "confidence", "score", "next_thought",
                       "trajectory"})  # fmt: skip

NUMBERED_PASSAGES = RELIABLE[2:4]
SHORT = 80
"""Characters; a shorter value of `Document:` is its name, a longer one its text."""


class Label(NamedTuple):
    """A label in a prompt: what its field holds, its name, its offsets; its value is behind it.

    `is_sentence` if it only says so: "Use the following passages to answer".
    """

    kind: Kind
    name: str
    start: int
    end: int
    is_inline: bool = False
    is_sentence: bool = False


def marked_fields(text: str) -> dict[str, str]:
    """The fields of a DSPy prompt or reply, by name; of a repeated one the first.

    >>> marked_fields("[[ ## question ## ]]\\nHow?\\n\\n[[ ## answer ## ]]\\nSo.")
    {'question': 'How?', 'answer': 'So.'}
    """
    matches = list(MARKER.finditer(text))
    text = REQUIREMENT.sub("", text) if matches else text
    fields: dict[str, str] = {}
    for match, end in zip(matches, [*(m.start() for m in matches[1:]), len(text)], strict=False):
        fields.setdefault(match[1], text[match.end() : end].strip())
    return fields


@lru_cache(maxsize=4)  # a prompt is asked for its question and for its context
def labels(text: str) -> tuple[Label, ...]:
    """The labels of a text in order; those of list items and of unknown names are left out.

    >>> [(label.kind.value, label.name) for label in labels("Context:\\na\\n\\nQuestion: b?")]
    [('context', 'Context'), ('question', 'Question')]
    """
    found = (_label(text, line) for line in LINE.finditer(text))
    return tuple(label for label in found if label is not None)


def _label(text: str, line: re.Match[str]) -> Label | None:
    content = line.group()[: LONGEST_LABEL + 1]
    if ITEM.match(content) or content.lstrip().startswith(('"', "'", "`")):
        return None
    start, end = line.span()
    colon = COLON.search(content)
    if colon is not None:
        found = _before_colon(content, colon.start(), start, end)
        if found is not None:
            return found
    decorated = DECORATED.match(content) or CAPITALS.match(content)
    if decorated and any(marker.match(content) for marker in NUMBERED_PASSAGES):
        return None
    if decorated and line.end() - line.start() <= LONGEST_LABEL:
        name = next(filter(None, decorated.groups()), "")
        kind = kind_of_name(name)
        if kind is not None:
            return Label(kind, name.strip(DECORATION), start, end)
    if len(content) > LONGEST_LABEL or not _ends_paragraph(text, end):
        return None
    if SENTENCE_END.search(content) and announces_context(content):
        return Label(Kind.CONTEXT, content, start, end, is_sentence=True)
    return None


def _before_colon(content: str, colon: int, start: int, end: int) -> Label | None:
    """The label of a line with a colon: a name and perhaps its value, or a whole sentence."""
    name = content[:colon].strip(DECORATION)
    value = content[colon + 1 :].strip("*_ \t")
    kind = kind_of_name(name)
    if kind in (Kind.QUESTION, Kind.ANSWER) and not value and announces_context(name):
        return Label(Kind.CONTEXT, content, start, end, is_sentence=True)
    if kind is Kind.CONTEXT and value and len(value) < SHORT and is_passage(name):
        return None  # `Document: a.md` is the name of one
    if kind is not None:
        skipped = len(content) - len(content[colon + 1 :].lstrip("*_ \t"))
        return Label(kind, name, start, start + skipped if value else end, bool(value))
    last = max(content.rfind(":"), content.rfind("："))
    is_whole = len(content) <= LONGEST_LABEL and not content[last + 1 :].strip("*_ \t")
    if is_whole and introduces_context(content[:last]):
        return Label(Kind.CONTEXT, content, start, end, is_sentence=True)
    return None


def _ends_paragraph(text: str, end: int) -> bool:
    """Whether a line is the last of its paragraph, or a rule comes after it."""
    rest = text[end : end + 12]
    return bool(re.match(r"\n[ \t]*(?:\n|[-=*`~_<]{3,}|\[)", rest))


def without_examples(text: str) -> str:
    """A text whose `<example>` elements are blank: their contexts are not this question's."""
    if "<example" not in text and "<demo" not in text:
        return text
    kept, place = [], 0
    for element in elements(text, ("examples?", "demos?", "demonstrations?")):
        kept.append(text[place : element.start])
        place = element.end
    return "".join(kept) + text[place:]


def field_of(fields: Mapping[str, object], kind: Kind) -> object:
    """The first field of this kind, by its name; None if there is none."""
    return next((value for name, value in fields.items() if kind_of_field(name) is kind), None)


def kind_of_field(name: str) -> Kind | None:
    """What a field of a program holds; `retrieved_context` and `retrievedContext` are the same."""
    return kind_of_name(re.sub(r"_|(?<=[a-z])(?=[A-Z])", " ", name))


def only_text(fields: Mapping[str, object], left_out: Sequence[Kind]) -> str | None:
    """The only field that holds a text, apart from reasoning and fields of these kinds."""
    texts = [
        value
        for name, value in fields.items()
        if isinstance(value, str) and value.strip() and name.casefold() not in REASONING
        and kind_of_field(name) not in left_out
    ]  # fmt: skip
    return texts[0] if len(texts) == 1 else None


def answer_in(fields: dict[str, object]) -> str | None:
    """The answer among a program's outputs: by its name, else the only text beside the reasoning.

    A single word beside a number is a part of the answer, as all of the fields are.

    >>> answer_in({"reasoning": "30 days.", "antwort": "In 30 Tagen."})
    'In 30 Tagen.'
    >>> answer_in({"price": 3.9, "currency": "EUR"}), answer_in({"city": "Bonn", "confidence": 1})
    (None, 'Bonn')
    """
    named = field_of(fields, Kind.ANSWER)
    if isinstance(named, str) and named.strip():
        return named.strip()
    only = only_text(fields, (Kind.CONTEXT, Kind.QUESTION, Kind.OTHER))
    is_part = only is not None and len(only.split()) == 1 and _has_number(fields)
    return None if is_part else only


def _has_number(fields: Mapping[str, object]) -> bool:
    """Whether a field is a number, and not how sure the program is."""
    return any(
        isinstance(value, (int, float)) and not isinstance(value, bool)
        for name, value in fields.items()
        if name.casefold() not in REASONING
    )


def answer_in_reply(reply: str) -> str | None:
    """The answer in a reply that has named fields: DSPy's, or elements such as `<answer>`.

    >>> answer_in_reply("<thinking>Hm.</thinking>\\n<answer>In 30 days.</answer>")
    'In 30 days.'
    >>> answer_in_reply("In 30 days.") is None
    True
    """
    fields: dict[str, object] = dict(marked_fields(reply))
    if fields:
        return answer_in(fields)
    stripped = reply.strip()
    if not (stripped.startswith("<") and stripped.endswith(">")):
        return None
    bodies = [found.body for found in elements(stripped, ("answer", "final_answer", "response"))]
    texts = [stripped[slice(*body)].strip() for body in bodies if body]
    return texts[-1] if len(texts) == 1 and texts[-1] else None
