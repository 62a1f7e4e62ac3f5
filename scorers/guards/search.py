"""Finds a pattern that the texts of an issue's members match and those of passing answers do not.

Candidates are phrases, and shapes that a text has or lacks. Found on one half of the answers, by a
hash of their trace ids, and measured on the other: a pattern chosen among thousands says nothing on
the answers that it was chosen by. Pure.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from scorers.pattern_table import MOST_CHARACTERS, FailsWhere, PatternField, PatternTable

LEAST_MEMBERS = 10
"""Fewer members with a text give halves that any phrase separates."""
LEAST_RECALL, MOST_FALSE = 0.6, 0.05
"""On the half that was not searched: share of members it fails, and of passing answers."""
LEAST_PART = 0.15
"""Share of the members that a phrase of an alternation must have."""
MOST_FALSE_PART = 0.01
COMMON = 0.9
"""Share of the passing answers with a phrase whose lack may fail an answer."""
MOST_PHRASES, MOST_WORDS = 6, 5
MOST_CANDIDATES = 3000
LONGEST = MOST_CHARACTERS // MOST_PHRASES
"""Characters of the pattern of one phrase: so many phrases together are a pattern still. A script
without spaces has long words."""

_WORD = re.compile(r"[^\W_]+")
_EDGE = r"[^\pL\pN]"
SHAPES: tuple[tuple[str, FailsWhere, str], ...] = (
    (r"\[[^\]\s]{1,40}\]", FailsWhere.LACKS, "no citation marker"),
    (r"\[[^\]\s]{1,40}\]", FailsWhere.MATCHES, "a citation marker"),
    (r"\S", FailsWhere.LACKS, "nothing but spaces"),
    (r"[.!?。！？…)\]\"'”*`]\s*$", FailsWhere.LACKS, "an end within a sentence"),
    (r"\?\s*$", FailsWhere.MATCHES, "a question at its end"),
    (r"https?://", FailsWhere.MATCHES, "a web address"),
    ("```", FailsWhere.MATCHES, "a block of code"),
    (r"(?m)^\s*(?:[-*•]|\d+[.)])\s", FailsWhere.MATCHES, "a list"),
    (r"\p{Cyrillic}", FailsWhere.MATCHES, "Cyrillic letters"),
    (r"\p{Greek}", FailsWhere.MATCHES, "Greek letters"),
    (r"\p{Arabic}", FailsWhere.MATCHES, "Arabic letters"),
    (r"\p{Hebrew}", FailsWhere.MATCHES, "Hebrew letters"),
    (r"[\p{Han}\p{Hiragana}\p{Katakana}]", FailsWhere.MATCHES, "Chinese or Japanese letters"),
    (r"\p{Hangul}", FailsWhere.MATCHES, "Korean letters"),
    (r"\p{Latin}", FailsWhere.LACKS, "no Latin letters"),
    *(
        (rf"^\s*(?:\S+\s*){{1,{words}}}$", FailsWhere.MATCHES, f"at most {words} words")
        for words in (3, 5, 8, 12, 20, 30)
    ),
    *(
        (rf"(?:\S+\s+){{{words}}}", FailsWhere.MATCHES, f"more than {words} words")
        for words in (100, 200, 300)
    ),
)
"""Patterns that name no words of the texts: pattern, when it fails, and what that is in words."""


Phrase: TypeAlias = tuple[str, ...]
"""Words in their order; `#` is any number."""
Candidate: TypeAlias = tuple[PatternTable, str]
"""A pattern, and what it looks for in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A text of an answer, and the id of its trace, by which halves are made."""

    trace_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Caught:
    """How many of so many answers a check fails."""

    fails: int
    answers: int

    @property
    def share(self) -> float:
        """0..1; 0 where there are no answers."""
        return self.fails / self.answers if self.answers else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPattern:
    """A pattern, what it looks for in words, and its figures on the half that was not searched."""

    table: PatternTable
    words: str
    members: Caught
    passing: Caught

    @property
    def separates(self) -> bool:
        """Whether it may guard: it fails most members, and hardly any passing answer."""
        return self.members.share >= LEAST_RECALL and self.passing.share <= MOST_FALSE


def in_search(trace_id: str) -> bool:
    """Whether an answer is in the half that patterns are searched by; the same for ever."""
    return hashlib.blake2b(trace_id.encode(), digest_size=1).digest()[0] % 2 == 0


def best_pattern(
    members: Sequence[Text], passing: Sequence[Text], field: PatternField
) -> FoundPattern | None:
    """The pattern that separates best; None where there are too few texts, or no candidate.

    >>> bad = [Text(trace_id=str(n), text=f"As an AI I cannot say {n}.") for n in range(40)]
    >>> good = [Text(trace_id=str(n), text=f"It takes {n} days.") for n in range(40)]
    >>> best_pattern(bad, good, PatternField.ANSWER).words
    'the answer has “ai i cannot say #”'
    """
    if min(len(members), len(passing)) < LEAST_MEMBERS:
        return None
    by_members, by_passing = _half(members, is_search=True), _half(passing, is_search=True)
    if not by_members or not by_passing:
        return None

    def gain(candidate: Candidate) -> float:
        """A false alarm weighs five times as much as a member that is not found."""
        table, _ = candidate
        found, false = caught(table, by_members), caught(table, by_passing)
        return found.share - 5 * false.share

    # Of equals the first: what a text has says more than its shape, and that more than a lack.
    own, others = _counts(by_members), _counts(by_passing)
    candidates = [
        *_having(by_members, own, others, len(by_passing), field),
        *_shapes(field),
        *_lacking(own, others, (len(by_members), len(by_passing)), field),
    ]
    best = max(candidates, key=gain)
    if gain(best) <= 0:
        return None
    return FoundPattern(
        table=best[0],
        words=best[1],
        members=caught(best[0], _half(members, is_search=False)),
        passing=caught(best[0], _half(passing, is_search=False)),
    )


def caught(table: PatternTable, texts: Sequence[str]) -> Caught:
    """How many of these texts a pattern fails."""
    return Caught(fails=sum(map(table.fails_on, texts)), answers=len(texts))


def _half(texts: Sequence[Text], *, is_search: bool) -> list[str]:
    return [each.text for each in texts if in_search(each.trace_id) is is_search]


def _shapes(field: PatternField) -> Iterator[Candidate]:
    for pattern, fails, words in SHAPES:
        yield PatternTable(field=field, matches=pattern, fails=fails), f"the {field} shows {words}"


def _having(
    members: Sequence[str],
    own: Counter[Phrase],
    others: Counter[Phrase],
    passing: int,
    field: PatternField,
) -> Iterator[Candidate]:
    """An alternation of phrases that most members have."""
    chosen = _cover(members, own, others, passing)
    if chosen:
        told = " or ".join(f"“{' '.join(phrase)}”" for phrase in chosen)
        yield PatternTable(field=field, matches=pattern_of(chosen)), f"the {field} has {told}"


def _lacking(
    own: Counter[Phrase], others: Counter[Phrase], sizes: tuple[int, int], field: PatternField
) -> Iterator[Candidate]:
    """Phrases of nearly all passing texts that most members lack."""
    members, passing = sizes
    usual = [
        phrase
        for phrase, count in others.most_common(MOST_CANDIDATES)
        if count >= COMMON * passing
        and own[phrase] <= (1 - LEAST_RECALL) * members
        and len(pattern_of([phrase])) <= LONGEST
    ]
    for phrase in usual[:MOST_PHRASES]:
        table = PatternTable(field=field, matches=pattern_of([phrase]), fails=FailsWhere.LACKS)
        yield table, f"the {field} lacks “{' '.join(phrase)}”"


def _cover(
    members: Sequence[str],
    own: Counter[Phrase],
    others: Mapping[Phrase, int],
    passing: int,
) -> list[Phrase]:
    """Phrases that together occur in most members, each in hardly any passing answer."""
    least = max(2, LEAST_PART * len(members))
    rare = [
        phrase
        for phrase, count in own.items()
        if count >= least
        and others.get(phrase, 0) <= MOST_FALSE_PART * passing
        and len(pattern_of([phrase])) <= LONGEST
    ]
    # The commonest first; of those as common the longest, which says most.
    rare.sort(key=lambda phrase: (-own[phrase], -len(phrase), phrase))
    rare = rare[:MOST_CANDIDATES]
    having = [_phrases_of(text) for text in members]
    left, chosen = set(range(len(members))), list[Phrase]()
    while left and len(chosen) < MOST_PHRASES:
        gains = Counter({phrase: sum(phrase in having[place] for place in left) for phrase in rare})
        phrase = max(rare, key=lambda each: (gains[each], len(each)), default=None)
        if phrase is None or gains[phrase] < least:
            break
        chosen.append(phrase)
        left -= {place for place in left if phrase in having[place]}
    return chosen


def pattern_of(phrases: Sequence[Sequence[str]]) -> str:
    """A pattern that finds whole words of any of these phrases, in any case; a number is any.

    >>> pattern_of([("as", "an", "ai"), ("#", "days")])
    '(?i)(?:^|[^\\\\pL\\\\pN])(?:as[^\\\\pL\\\\pN]+an[^\\\\pL\\\\pN]+ai|\\\\d+[^\\\\pL\\\\pN]+days)(?:$|[^\\\\pL\\\\pN])'
    """
    told = [
        f"{_EDGE}+".join(r"\d+" if word == "#" else re.escape(word) for word in phrase)
        for phrase in phrases
    ]
    return f"(?i)(?:^|{_EDGE})(?:{'|'.join(told)})(?:$|{_EDGE})"


def _counts(texts: Sequence[str]) -> Counter[Phrase]:
    """In how many of the texts each phrase occurs."""
    return Counter(phrase for text in texts for phrase in _phrases_of(text))


def _phrases_of(text: str) -> set[Phrase]:
    words = ["#" if word.isdecimal() else word for word in _WORD.findall(text.lower())]
    return {
        tuple(words[start : start + size])
        for size in range(1, MOST_WORDS + 1)
        for start in range(len(words) - size + 1)
        if any(word != "#" for word in words[start : start + size])
    }
