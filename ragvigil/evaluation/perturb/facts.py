"""Numbers and names that an answer takes from its chunks, and others in their place. Pure.

>>> fact = facts("It takes 5 days.", ["Refunds take 5 days, and no fee."], "How long?")[0]
>>> changed("Refunds take 5 days, and no fee.", {fact.words[0]: "8"}), fact.kind
('Refunds take 8 days, and no fee.', 'number')
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from scorers.text.language import language
from scorers.text.normalise import key, words
from scorers.text.sentences import sentences

NUMBER = re.compile(r"(?<![\w.,:/#@+-])\d+(?:[.,:]\d+)*(?![\w/]|[.,:+-]\d)")
"""A number that stands alone: no part of a date, a code, a telephone number or an address."""
WORD = re.compile(r"[^\W\d_](?:[^\W_]|['’.-](?=[^\W_]))*")
SPELLED = dict(
    enumerate(
        (
            "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
            "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen",
            "eighteen", "nineteen", "twenty",
        )
    )
)  # fmt: skip
MONTHS = (
    "January", "February", "April", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
"""May and March are words as well."""
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
CAPITAL_NOUNS = frozenset({"de", "lb"})
"""Languages in which a capital letter shows no name."""
MOST_CAPITAL, MOST_UNKNOWN = 0.5, 0.25
"""Share of capital letters inside sentences, past which they show no names, as in headings; and
the same where the language is not known."""
LONGEST_NAME = 4
SYLLABLES = ("vel", "mor", "tas", "ker", "dun", "bri", "sol", "fen", "gar", "lis", "nor", "pel")
TRIES = 40
MARKED = re.compile(r"[.)](\s|$)|  ")
MARKED_AFTER = ("", "\n", ".", "!", "?", ":", ";")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fact:
    """A number or name that the answer has from the chunks; `words` are its words as written."""

    kind: str
    words: tuple[str, ...]

    @property
    def text(self) -> str:
        """The fact as written."""
        return " ".join(self.words)


def facts(answer: str, chunks: Sequence[str], question: str) -> list[Fact]:
    """The numbers, then the names, of the chunks that the answer repeats and the question lacks."""
    answered, asked = words(answer), set(words(question))
    joined = "\n\n".join(chunks)
    known = [
        *(Fact(kind="number", words=(number,)) for number in _numbers(joined)),
        *(Fact(kind="name", words=name) for name in _names(joined)),
    ]
    return [
        fact
        for fact in dict.fromkeys(known)
        if key(words(fact.text)) in key(answered) and asked.isdisjoint(words(fact.text))
    ]


def replacements(fact: Fact, known: str, chance: Random) -> Mapping[str, str] | None:
    """Other words in place of the fact's, of its kind; None where none is new to `known`."""
    taken = set(words(known))
    new: dict[str, str] = {}
    for word in fact.words:
        other = next(
            (
                each
                for each in _others(word, chance)
                if taken.isdisjoint(words(each)) and each not in new.values()
            ),
            None,
        )
        if other is None:
            return None
        new[word] = other
    return new


def changed(text: str, new: Mapping[str, str]) -> str:
    """The text with every mention of the words replaced."""
    for old, other in new.items():
        if old[0].isdigit():
            plain = words(old)
            text = NUMBER.sub(lambda hit: other if words(hit[0]) == plain else hit[0], text)  # noqa: B023 (called at once)
        else:
            text = re.sub(rf"(?<!\w){re.escape(old)}(?!\w)", other, text)
    return text


def is_gone(old: Iterable[str], text: str) -> bool:
    """Whether no mention of the words is left, in digits, letters or another case."""
    left = words(text)
    return not any(key(form) in key(left) for word in old for form in _forms(word))


def _forms(word: str) -> Iterator[list[str]]:
    """The ways to write a number or name, as words."""
    yield words(word)
    if word.isdigit() and int(word) in SPELLED:
        yield [SPELLED[int(word)]]


def _numbers(text: str) -> Iterator[str]:
    for hit in NUMBER.finditer(text):
        before, after = text[: hit.start()].rstrip(" "), text[hit.end() : hit.end() + 2]
        is_marker = MARKED.match(after) is not None and before[-1:] in MARKED_AFTER
        if not is_marker:  # the number of a step in a list is no fact
            yield hit[0]


def _names(text: str) -> Iterator[tuple[str, ...]]:
    """Runs of capitalised words inside sentences; none where capitals show no names."""
    inside = [list(WORD.finditer(part.text)) for part in sentences(text)]
    following = [word for found in inside for word in found[1:]]
    capital = sum(word[0][0].isupper() and len(word[0]) > 1 for word in following)
    code = language(text)
    most = MOST_UNKNOWN if code is None else MOST_CAPITAL
    if code in CAPITAL_NOUNS or capital > most * len(following):
        return
    for part, found in zip(sentences(text), inside, strict=True):
        yield from _runs(part.text, found[1:])


def _runs(sentence: str, found: Sequence[re.Match[str]]) -> Iterator[tuple[str, ...]]:
    run: list[re.Match[str]] = []
    for word in (*found, None):
        joins = word is not None and word[0][0].isupper() and len(word[0]) > 2
        if run and (not joins or sentence[run[-1].end() : word.start()] != " "):  # type: ignore[union-attr]
            if len(run) <= LONGEST_NAME:
                yield tuple(each[0].removesuffix("'s").removesuffix("’s") for each in run)
            run = []
        if joins and word is not None:
            run.append(word)


def _others(word: str, chance: Random) -> Iterator[str]:
    for kind in (MONTHS, DAYS):
        if word in kind:
            yield from chance.sample(kind, len(kind))
            return
    for _ in range(TRIES):
        yield _other_number(word, chance) if word[0].isdigit() else _coined(word, chance)


def _other_number(number: str, chance: Random) -> str:
    """Another number of the same form: a year for a year, a day of a month for one."""
    first = re.match(r"\d+", number)
    assert first is not None
    value, digits = int(first[0]), len(first[0])
    if 1900 <= value <= 2099 and digits == 4:
        other = value + chance.choice((-1, 1)) * chance.randint(2, 40)
    elif value <= 28:
        other = chance.randint(2, 28 if digits == 2 else 9)
    else:
        other = chance.randint(10 ** (digits - 1), 10**digits - 1)
    return f"{other}{number[first.end() :]}"


def _coined(word: str, chance: Random) -> str:
    """A word that no language has, so that nobody knows it but from the context."""
    syllables = "".join(chance.sample(SYLLABLES, 3))
    return syllables.capitalize() if word[0].isupper() else syllables
