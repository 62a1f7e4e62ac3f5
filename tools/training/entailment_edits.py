"""Changes a sentence by rule: into another statement, or into other words for the same one.

    >>> changed("It is open on Monday.", (), random.Random(1))
    'It is closed on Monday.'

Every change returns None where it does not apply. The lists are in `entailment_words.toml`.
"""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from functools import cache
from pathlib import Path
from typing import Any

from scorers.text.support import NAME

Names = Sequence[str]
Change = Callable[[str, Names, random.Random], str | None]
NUMBER = re.compile(r"(?<![\w.,-])\d+(?:[.,]\d+)*(?![\w-])")
NUMBER_ALONE = re.compile(r"(?<=[a-z] )\d[\d,]*(?= [a-z])")
_STARTS = (
    "the a an in on at it they he she this these those there we you some many most all its his her"
    " their for to when if after before as with by from one two no not"
)
STARTS = frozenset(_STARTS.split())
"""First words that are no names: behind an opening they are written small."""
_NAMED = r"[^\W\d_a-z][^\W_]+"
NAMES = re.compile(
    rf"(?:{NAME.pattern})(?: {_NAMED})*"
    rf"|\b(?!(?:{'|'.join(map(str.capitalize, sorted(STARTS)))})\b){_NAMED}(?: {_NAMED})+"
)
SMALL_WORD = re.compile(r"(?<![\w'-])[a-z]{5,14}(?![\w'-])")
PARENTHESIS = re.compile(r"\s*\([^()]{1,80}\)")
FRONTED = re.compile(
    r"^((?:In|On|At|During|After|Before|By|Since|For) [^,]{2,40}), ([^,].*?)([.!]?)$"
)
BEHIND = re.compile(r"^([A-Z].{12,}?) ((?:in|on|during|since|after|before) [^,;.!]{3,40})([.!]?)$")
APPOSITION = re.compile(r"^([A-Z][\w.'-]*(?: [A-Z][\w.'-]*){0,3}), ((?:an?|the) [^,]{4,60}),")
TAIL = re.compile(
    r",? (?:which|who|where|and|but|because|although|while|with|according|as) [^,;.!]*([.!]?)$"
)
DAY_OF_MONTH = re.compile(r"\b([A-Z][a-z]{2,8}) (\d{1,2})(?:st|nd|rd|th)?(, \d{4})?\b")
SHORTEST = 4
"""Words of a sentence that is left after something was taken away."""


@cache
def listed() -> dict[str, Any]:
    """The lists of words."""
    return tomllib.loads(Path(__file__).with_name("entailment_words.toml").read_text("utf-8"))


@cache
def _partners(table: str) -> dict[str, tuple[str, ...]]:
    """What each word of a table of rows may be replaced by: the other words of its rows."""
    rows = listed()[table]
    rows = [rows] if isinstance(rows[0], str) else rows
    partners: dict[str, tuple[str, ...]] = {}
    for row in rows:
        for word in row:
            others = tuple(other for other in row if other != word)
            partners[word] = partners.get(word, ()) + others
    return partners


@cache
def _pattern(table: str) -> re.Pattern[str]:
    longest_first = sorted(_partners(table), key=lambda word: (-len(word), word))
    return re.compile(rf"(?<![\w'-])(?:{'|'.join(map(re.escape, longest_first))})(?![\w'-])")


def _swapped_in(table: str) -> Change:
    def change(text: str, _names: Names, chance: random.Random) -> str | None:
        found = list(_pattern(table).finditer(text))
        if not found:
            return None
        match = chance.choice(found)
        return _put(text, match, chance.choice(_partners(table)[match.group()]))

    return change


def _put(text: str, match: re.Match[str], other: str) -> str:
    return text[: match.start()] + other + text[match.end() :]


def number(text: str, _names: Names, chance: random.Random) -> str | None:
    """Another number of like size; years move by a few."""
    found = list(NUMBER.finditer(text))
    if not found:
        return None
    match = chance.choice(found)
    whole, point, rest = match.group().partition(".")
    value = int(whole.replace(",", "") or 0)
    step = chance.choice((1, 2, 3, 5, 10, max(1, value // 2)))
    other = value + step if value < step or chance.random() < 0.5 else value - step
    if 1000 < value < 2100:
        other = value + chance.choice((-20, -10, -4, -3, -2, -1, 1, 2, 3, 4, 10, 20))
    return _put(text, match, (f"{other:,}" if "," in whole else str(other)) + point + rest)


def name(text: str, names: Names, chance: random.Random) -> str | None:
    """A name of elsewhere in the place of one of the sentence."""
    found = list(NAMES.finditer(text))
    if not found:
        return None
    match = chance.choice(found)
    size = len(match.group().split())
    new = [other for other in names if other[0].isupper() and other not in text]
    others = [other for other in new if len(other.split()) == size] or new
    return _put(text, match, chance.choice(others)) if others else None


def roles(text: str, _names: Names, chance: random.Random) -> str | None:
    """Two names of the sentence in each other's place."""
    found = list(NAMES.finditer(text))
    pairs = [(a, b) for a in found for b in found if a.end() < b.start() and a[0] != b[0]]
    if not pairs:
        return None
    first, other = chance.choice(pairs)
    between = text[first.end() : other.start()]
    if between.strip() in ("and", "or", ",", "&", "of"):  # the order of a list says nothing
        return None
    return text[: first.start()] + other[0] + between + first[0] + text[other.end() :]


def negation(text: str, _names: Names, chance: random.Random) -> str | None:
    """A *not* put in, or taken out."""
    bare = re.sub(r"\b(?:not|never) |n't\b", "", text, count=1)
    if bare != text:
        return bare
    found = list(_pattern("auxiliaries").finditer(text))
    if not found:
        return None
    match = chance.choice(found)
    return _put(text, match, f"{match.group()} not")


def word(text: str, names: Names, chance: random.Random) -> str | None:
    """A word of elsewhere, of the same ending, in the place of one of the sentence."""
    found = list(SMALL_WORD.finditer(text))
    others = [other for other in names if SMALL_WORD.fullmatch(other) and other not in text]
    chance.shuffle(found)
    for match in found:
        fitting = [w for w in others if w[-2:] == match[0][-2:] and w[:3] != match[0][:3]]
        if fitting:
            return _put(text, match, chance.choice(fitting))
    return None


CHANGES: tuple[Change, ...] = (
    number, number, name, name, roles, negation, word, word, _swapped_in("opposites"),
    _swapped_in("opposites"), _swapped_in("units"), _swapped_in("months"), _swapped_in("weekdays"),
    _swapped_in("numbers"),
)  # fmt: skip


def changed(text: str, names: Names, chance: random.Random) -> str | None:
    """Another statement: one change that applies; `names` are names and words of elsewhere."""
    for change in chance.sample(CHANGES, len(CHANGES)):
        other = change(text, names, chance)
        if other is not None and other != text:
            return other
    return None


def _without_parenthesis(text: str, _names: Names, _chance: random.Random) -> str | None:
    return PARENTHESIS.sub("", text)


def _without_tail(text: str, _names: Names, _chance: random.Random) -> str | None:
    return TAIL.sub(r"\1", text)


def _fronted_last(text: str, _names: Names, _chance: random.Random) -> str | None:
    def moved(match: re.Match[str]) -> str:
        return f"{match[2][0].upper()}{match[2][1:]} {match[1][0].lower()}{match[1][1:]}{match[3]}"

    return FRONTED.sub(moved, text)


def _last_fronted(text: str, _names: Names, _chance: random.Random) -> str | None:
    return BEHIND.sub(lambda m: f"{m[2][0].upper()}{m[2][1:]}, {m[1]}{m[3]}", text)


def _stated_apposition(text: str, _names: Names, _chance: random.Random) -> str | None:
    match = APPOSITION.match(text)
    return f"{match[1]} is {match[2]}." if match else None


def _date_written_otherwise(text: str, _names: Names, _chance: random.Random) -> str | None:
    def written(match: re.Match[str]) -> str:
        if match[1] not in listed()["months"]:
            return match[0]
        return f"{match[2]} {match[1]}{(match[3] or '').replace(',', '')}"

    return DAY_OF_MONTH.sub(written, text)


def _number_written_otherwise(text: str, _names: Names, _chance: random.Random) -> str | None:
    numbers = listed()["numbers"]
    spelled = {str(value): spelling for value, spelling in enumerate(numbers)}
    digits = NUMBER_ALONE.sub(lambda m: spelled.get(m[0], m[0].replace(",", "")), text)
    if digits != text:
        return digits
    return _pattern("numbers").sub(lambda m: str(numbers.index(m[0])), text)


def _opened(text: str, _names: Names, chance: random.Random) -> str | None:
    opening: str = chance.choice(listed()["openings"] + listed()["joints"])
    second = text[1:2]
    is_word = second.islower() and text.split()[0].lower() in STARTS
    return opening + (text[0].lower() + text[1:] if is_word else text)


PARAPHRASES: tuple[Change, ...] = (
    _without_parenthesis, _without_tail, _fronted_last, _last_fronted, _stated_apposition,
    _date_written_otherwise, _number_written_otherwise, _swapped_in("same"), _swapped_in("same"),
)  # fmt: skip


def paraphrased(text: str, chance: random.Random, times: int = 3) -> str:
    """The same statement, or a part of it, in other words: up to `times` rules that apply."""
    for rule in chance.sample(PARAPHRASES, len(PARAPHRASES)):
        other = rule(text, (), chance) if times else None
        if other is not None and other != text and len(other.split()) >= SHORTEST:
            text, times = other, times - 1
    if chance.random() < 0.25:
        text = _opened(text, (), chance) or text
    return text


def spans(before: str, after: str) -> tuple[tuple[int, int], ...]:
    """Start and end of what is new in `after`, word by word; of a gap both its neighbours.

    >>> spans("It is not red.", "It is red."), spans("It is red.", "It is blue.")
    (((3, 10),), ((6, 11),))
    """
    places = [match.span() for match in re.finditer(r"\S+", after)]
    result = []
    matcher = SequenceMatcher(None, before.split(), after.split(), autojunk=False)
    for kind, _, _, begin, end in matcher.get_opcodes():
        if kind == "delete":
            begin, end = max(0, begin - 1), min(len(places), end + 1)
        if kind != "equal" and begin < end:
            result.append((places[begin][0], places[end - 1][1]))
    return tuple(result)
