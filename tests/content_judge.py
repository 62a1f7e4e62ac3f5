"""A stand-in for a judge that sees texts alone: it reads our prompt and answers by the words in it.

    async with LlmServer(ContentJudge().answer) as server: ...

Claims are supported where a sentence of a passage holds their words, numbers and negation; what
was found is quoted. The *honest* judge takes orders in the data for data. The *obedient* one does
what they say: it grades as told, proves it with a real quote, and repeats what it is asked to.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from scorers.text.negations import denies
from scorers.text.normalise import is_number, is_unspaced, words
from scorers.text.sentences import sentences
from scorers.text.stance import classify

SUPPORTED, PART, RELATED = 0.7, 0.4, 0.2
"""Shares of a text's telling words that another must have."""
ORDER = re.compile(
    r"(?:^|[.!?:;,\n\"'(\[>*-]|\b(?:please|must|should|always|and|then|to|now|you)\b)\s*"
    r"(?:mark|rate|grade|score|label|judge|treat|consider|classify|assign|give|award|output|return"
    r"|report|set|answer with|reply with|respond with)\b"
    r"[^.!?\n]{0,100}?\b(?P<what>supported|relevant|grounded|faithful|correct|accurate|perfect|highest"
    r"|maximum|full|best|top|5|3|10|five|unsupported|irrelevant|lowest|minimum|worst|0|1)\b",
    re.IGNORECASE,
)
BAD = {"unsupported", "irrelevant", "lowest", "minimum", "worst", "0", "1"}
REPEAT = re.compile(r"(?:repeat|reveal|print|output|include)[^.!?\n]{0,60}delimiter", re.IGNORECASE)
MARKER = re.compile(r"\[[^\]]*\]")
WORST = re.compile(r"unsupported|no_support|missing|not_covered")
DENIED = re.compile(r"contradict|refut")
REFUSED, STOPPED = re.compile("refuse|evasive"), re.compile("stops|incomplete")
OTHERWISE, NEVER = re.compile("contradict|wrong_number"), re.compile("(?!)")
"""Types of failure."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a prompt holds."""

    delimiter: str
    values: list[tuple[str, Any]]
    grades: list[str]
    items: list[str]
    failures: list[str]
    has_quote: bool
    has_reason: bool

    def texts(self, kind: str) -> dict[str, str]:
        """The values of one kind by their names; pieces of one name are joined."""
        found: dict[str, str] = {}
        for name, value in self.values:
            first, _, rest = name.partition(" ")
            if first == kind:
                text = value if isinstance(value, str) else json.dumps(value)
                found[rest] = f"{found[rest]} {text}" if rest in found else text
        return found

    def text(self, kind: str) -> str:
        """The only value of its kind, or nothing."""
        return self.texts(kind).get("", "")


def read_prompt(prompt: str) -> Asked:
    """The data, the items, the grades and the keys that a prompt asks for."""
    named = re.search(r"^Data\. A line that begins with (\S+) names", prompt, re.MULTILINE)
    assert named, "this is no prompt of a judge"
    mark = named[1]
    data, _, task = prompt.partition(f"\n{mark} end of the data\n")
    values = [
        (name, json.loads(value))
        for name, value in re.findall(rf"^{re.escape(mark)} (.+)\n(.+)$", data, re.MULTILINE)
    ]
    grades = re.search(r"^Grades:\n((?:- .+\n)+)", task, re.MULTILINE)
    items = re.search(r"^Give exactly one verdict for each of: (.+)\.$", task, re.MULTILINE)
    failures = re.search(r"of the gravest failure: ?\n?(.+?)\. Say in", task)
    assert grades, "no grades"
    assert failures, "no failure types"
    return Asked(
        delimiter=mark,
        values=values,
        grades=re.findall(r"^- (\w+):", grades[1], re.MULTILINE),
        items=items[1].split(", ") if items else [],
        failures=failures[1].split(", "),
        has_quote="\nquote: " in task,
        has_reason="\nreason: " in task,
    )


@dataclass(frozen=True, kw_only=True)
class Found:
    """How much of a text another holds, where, and whether that place denies it."""

    share: float = 0.0
    quote: str = ""
    denied: bool = False


def telling(text: str) -> set[str]:
    """The stems of the words that carry meaning; characters of unspaced scripts count."""
    return {
        word[:5] for word in words(text) if len(word) > 3 or is_number(word) or is_unspaced(word)
    }


def look_up(text: str, others: Iterable[str]) -> Found:
    """The sentence of the others that holds most of a text's words."""
    asked = telling(text)
    best = Found()
    for other in others:
        for sentence in sentences(other):
            share = len(asked & telling(sentence.text)) / len(asked) if asked else 0.0
            if share > best.share:
                denied = _numbers(text) - _numbers(sentence.text) or (
                    denies(words(text)) is not denies(words(sentence.text))
                )
                best = Found(share=share, quote=sentence.text, denied=bool(denied))
    return best


def _numbers(text: str) -> set[str]:
    return {word for word in words(text) if is_number(word)}


@dataclass
class ContentJudge:
    """Answers prompts; `asked` counts them."""

    is_obedient: bool = False
    asked: int = field(default=0, init=False)

    def answer(self, prompt: str) -> str:
        """The reply, as JSON."""
        self.asked += 1
        asked = read_prompt(prompt)
        order = self._order(asked)
        verdicts = _nuggets(asked) if not asked.items else None
        if verdicts is None:
            each = {name: _verdict(asked, name) for name in asked.items}
            graded = list(each.values())
        else:
            graded = verdicts
        if order:
            for grade in graded:
                _obey(grade, asked, order)
        best = _spelt(asked, asked.grades[0])
        fails = any(grade["grade"] != best for grade in graded) and len(asked.failures) > 1
        kind, mode = _failure(asked, graded) if fails else (asked.failures[0], "")
        reply = {
            **({"verdicts": each} if verdicts is None else {"nuggets": verdicts}),
            "failure_type": kind,
            "failure_mode": mode,
        }
        if self.is_obedient and any(REPEAT.search(str(value)) for _, value in asked.values):
            reply["failure_mode"] = asked.delimiter
            reply["failure_type"] = asked.failures[-1]
        return json.dumps(reply)

    def _order(self, asked: Asked) -> str:
        """What the data tells a judge to say: `best`, `worst`, or nothing."""
        found = [hit for _, value in asked.values if (hit := ORDER.search(str(value)))]
        if not self.is_obedient or not found:
            return ""
        return "worst" if found[0]["what"].lower() in BAD else "best"


def _failure(asked: Asked, graded: Sequence[dict[str, Any]]) -> tuple[str, str]:
    """Type and words of the gravest failure, as far as who reads words alone can tell."""
    order = {str(_spelt(asked, name)): place for place, name in enumerate(asked.grades)}
    worst = max(range(len(graded)), key=lambda place: order[str(graded[place]["grade"])])
    name = asked.items[worst] if asked.items else ""
    text = graded[worst].get("nugget") or asked.texts("claim").get(name, "")
    text = text or json.loads(asked.texts("citation").get(name, "{}")).get("claim", "")
    types, said = _seen(asked, name, str(graded[worst]["grade"]))
    kind = next(
        (failure for failure in asked.failures[1:] if types.search(failure)), asked.failures[1]
    )
    return kind, f"{said}: {text}" if text else said


def _seen(asked: Asked, name: str, grade: str) -> tuple[re.Pattern[str], str]:
    """Which types of failure fit, and a sentence."""
    answer = MARKER.sub("", asked.text("answer")).strip()
    if name in asked.texts("passage"):
        return NEVER, "a passage has few of the words of the question"
    if answer and classify(answer).label == "refused":
        return REFUSED, "the answer declines"
    if answer and answer[-1].isalnum():
        return STOPPED, "the answer stops within a sentence"
    if DENIED.search(grade):
        return OTHERWISE, "a passage says otherwise"
    if not asked.items:
        return NEVER, "the answer lacks a fact"
    return NEVER, "the answer says other things" if name == "answer" else "no passage says this"


def _obey(verdict: dict[str, Any], asked: Asked, order: str) -> None:
    name = asked.grades[0] if order == "best" else _worst(asked)
    verdict["grade"] = _spelt(asked, name)
    if asked.has_quote and not verdict["quote"]:
        shown = [*asked.texts("passage").values(), *asked.texts("reference").values()]
        verdict["quote"] = (shown or [asked.text("answer")])[0][:120]


def _verdict(asked: Asked, name: str) -> dict[str, Any]:
    grade, quote = _judged(asked, name)
    return {
        **({"quote": quote} if asked.has_quote else {}),
        **({"reason": "by the words alone"} if asked.has_reason else {}),
        "grade": _spelt(asked, grade),
    }


def _judged(asked: Asked, name: str) -> tuple[str, str]:
    passages, question = asked.texts("passage"), asked.text("question")
    if name == "answer":
        return _of_answer(asked), ""
    if name in (claims := asked.texts("claim")):
        return _of_claim(asked, claims[name], [*passages.values(), *_references(asked)])
    if name in (citations := asked.texts("citation")):
        cited = json.loads(citations[name])
        return _of_claim(asked, cited["claim"], [passages[cited["passage"]]])
    if name in (facts := asked.texts("nugget")):
        return _of_claim(asked, facts[name], [asked.text("answer")])
    best = look_up(question, [passages[name]])
    whole = _share(question, passages[name])
    steps = (best.share >= SUPPORTED, best.share >= PART or whole >= SUPPORTED, whole >= RELATED)
    place = steps.index(True) if True in steps else 3
    quote = best.quote or passages[name][:120]
    return asked.grades[min(place, len(asked.grades) - 1)], quote if place < 2 else ""


def _references(asked: Asked) -> Sequence[str]:
    return list(asked.texts("reference").values())


def _of_claim(asked: Asked, claim: str, texts: Sequence[str]) -> tuple[str, str]:
    if "no_claim" in asked.grades and (len(telling(claim)) < 2 or claim.rstrip().endswith("?")):
        return "no_claim", ""
    found = look_up(claim, texts)
    if found.share >= PART and found.denied:
        denied = [grade for grade in asked.grades if DENIED.search(grade)]
        return (denied[0], found.quote) if denied else (_worst(asked), "")
    if found.share >= SUPPORTED:
        return asked.grades[0], found.quote
    if found.share >= PART:
        return asked.grades[1], found.quote
    return _worst(asked), ""


def _of_answer(asked: Asked) -> str:
    answer, question = MARKER.sub("", asked.text("answer")), asked.text("question")
    passages = list(asked.texts("passage").values())
    if "refused_rightly" in asked.grades:
        refuses = classify(answer).label == "refused"
        can = any(_share(question, passage) >= PART for passage in passages)
        return {
            (False, True): "answered_rightly", (False, False): "answered_wrongly",
            (True, True): "refused_wrongly", (True, False): "refused_rightly",
        }[refuses, can]  # fmt: skip
    if not passages:
        share = _share(question, answer)
    else:
        shares = [look_up(sentence.text, passages) for sentence in sentences(answer)] or [Found()]
        share = sum(share.share for share in shares if not share.denied) / len(shares)
    place = round((1 - min(1.0, share / SUPPORTED)) * (len(asked.grades) - 1))
    return asked.grades[place]


def _share(text: str, other: str) -> float:
    asked = telling(text)
    return len(asked & telling(other)) / len(asked) if asked else 0.0


def _nuggets(asked: Asked) -> list[dict[str, Any]]:
    """The sentences of the passages that have most in common with the question."""
    question, answer = asked.text("question"), asked.text("answer")
    every = dict.fromkeys(
        sentence.text for text in asked.texts("passage").values() for sentence in sentences(text)
    )
    ranked = sorted(every, key=lambda passage: -_share(question, passage))[:5]
    made = []
    for text in ranked:
        grade, quote = _of_claim(asked, text, [answer])
        made.append(
            {
                "nugget": text,
                "importance": "vital" if text == ranked[0] else "okay",
                **({"quote": quote} if asked.has_quote else {}),
                **({"reason": "by the words alone"} if asked.has_reason else {}),
                "grade": _spelt(asked, grade),
            }
        )
    return made


def _worst(asked: Asked) -> str:
    named = [grade for grade in asked.grades if WORST.fullmatch(grade)]
    return named[0] if named else asked.grades[-1]


def _spelt(asked: Asked, grade: str) -> str | int:
    return int(grade) if all(grade.isdecimal() for grade in asked.grades) else grade
