"""Says which signs of a refusal a sentence has: the kinds of its words, and which stand together.

    >>> text = "The leaflet does not say who pays."
    >>> sorted(signs(text, spoken([text])) & {"neg", "source", "tell", "neg~tell", "sorry"})
    ['neg', 'neg~tell', 'source', 'tell']

A refusal is made of few kinds of words: a negation or a lack, the sources, a verb of saying,
finding or knowing, the one who answers. Each language lists its words of each kind, without regard
to accents (`refusal_words/<language>.toml`). A word of four letters or more stands for all that
begin with it; `=word` stands for itself alone. Scripts without spaces are searched character by
character. Time is linear in the text.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files

from scorers.text.patterns import encodable

KINDS = (
    "neg", "lack", "unable", "source", "given", "info", "tell", "find", "know", "me", "sorry",
    "question", "which", "idiom", "scope", "means", "reason", "but", "if", "offer", "only", "you",
    "nowhere", "need", "advice", "actor", "must", "idea", "relate", "we", "paper",
)  # fmt: skip
COMMON = "common"
"""Words that tell only which language a text is in."""
DENYING = frozenset({"neg", "lack", "unable", "idiom", "scope"})
ANSWERING = frozenset({
    "source", "given", "info", "question", "me", "know", "find", "idiom", "scope", "nowhere",
    "idea", "lack", "unable", "tell", "paper",
})  # fmt: skip
"""A sentence without a word of a kind of either set refuses nothing: *do not open the lid*."""
_DENIED = ("neg", "lack", "unable")
_OBJECTS = ("source", "given", "info", "tell", "find", "know", "question", "me", "which",
            "nowhere", "idea", "relate", "paper", "must", "actor", "you", "we")  # fmt: skip
_OPENERS = frozenset(
    {"neg", "lack", "unable", "source", "me", "if", "idiom", "you", "reason", "but", "which"}
)
_CLOSERS = frozenset({"neg", "lack", "unable", "know", "tell", "idiom", "reason", "which"})
EARLY = 3
"""A word such as *therefore* among so many first ones opens a sentence."""
NEAR, NEAR_UNSPACED = 5, 6
"""Most words, or pairs of characters, between a denial and what it denies."""
MOST_CHARACTERS = 400
"""Characters of a sentence that are read: a refusal is shorter."""
STEM, LONGEST = 4, 16
"""Least letters of a word that stands for all that begin with it, and most that are compared."""
LONG_WORD = 5
"""Letters of a word that says what a sentence is about, where it is of no kind."""
LEAST_HAN = 12
"""Fewer Chinese characters without kana may be Japanese."""
_UNSPACED = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_DIGIT = re.compile(r"\d")
_COMMA = re.compile(r"\W*\w+\s?[,:;，،、]")
"""Behind the first word, as in *No, it is not*."""
_SCRIPTS = (
    ("ko", re.compile("[\uac00-\ud7af]")),
    ("ja", re.compile("[\u3040-\u30ff]")),
    ("th", re.compile("[\u0e00-\u0eff]")),
)
_CLITICS = (("\u0590", "\u0600", "והבלכמש"), ("\u0600", "\u0780", "وفبلكاس"))
"""Letters that Hebrew and Arabic write before a word without a space: *and, the, in, to*."""
_MOST_CLITICS = 3
_CONTRACTED = (("can't", "can not"), ("won't", "will not"), ("cannot", "can not"), ("n't", " not "))

MOST_WORDS = 30
"""Words at the start of an answer that name its language."""

Match = tuple[float, float, str]
"""Start and end of a word or phrase, in words or pairs of characters, and its kind."""
Entry = tuple[str, tuple[str, ...]]
"""A kind, and the further words of a phrase."""
Listing = tuple[str, Entry]
"""A language, and what it lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """The words of a sentence, and what a language lists of them."""

    words: Sequence[str]
    is_unspaced: bool
    matches: Sequence[Match]


def spoken(texts: Iterable[str]) -> str:
    """The language that lists most of the first words of some texts; empty where none does."""
    counts: Counter[str] = Counter()
    words: set[str] = set()
    for text in texts:
        if is_unspaced(text):
            counts[_script(text)] += len(text)
        if len(words) < MOST_WORDS:
            words.update(_words(text[:MOST_CHARACTERS]))
    for word in words:
        sureness = 10 if len(word) >= STEM else 8 if len(word) == STEM - 1 else 5
        for language in _languages(word):  # a short word is one in many languages
            counts[language] += sureness
    return max(sorted(counts), key=counts.__getitem__) if counts else ""


def kinds(text: str, language: str) -> frozenset[str]:
    """The kinds of a text's words in a language."""
    return frozenset([kind for _, _, kind in _read(text, language).matches])


def signs(text: str, language: str) -> frozenset[str]:
    """The signs of a text as a sentence of a language."""
    read = _read(text, language)
    matches = read.matches
    spans: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for start, end, kind in matches:
        spans[kind].append((start, end))
    count = len(read.words) / 2 if read.is_unspaced else len(read.words)
    near = NEAR_UNSPACED if read.is_unspaced else NEAR
    found = {*spans, *_pairs(spans, near), *_lengths(count), *_unlisted(read, matches, count)}
    found.update(
        f"^{kind}"
        for start, _, kind in matches
        if start < (EARLY if kind == "reason" else 1) and kind in _OPENERS
    )
    found.update(f"{kind}$" for _, end, kind in matches if end >= count - 1 and kind in _CLOSERS)
    if "^neg" in found and _COMMA.match(text):
        found.add("^neg,")
    if _DIGIT.search(text[:MOST_CHARACTERS]):
        found.add("digit")
    return frozenset(found)


def _pairs(spans: Mapping[str, Sequence[tuple[float, float]]], near: int) -> Iterator[str]:
    """Names of denials that stand near what they deny."""
    for denial in _DENIED:
        if denial in spans:
            for denied in _OBJECTS:
                if denied in spans and _are_near(spans[denial], spans[denied], near):
                    yield f"{denial}~{denied}"


def _are_near(
    first: Sequence[tuple[float, float]], second: Sequence[tuple[float, float]], near: int
) -> bool:
    for start, end in first:
        for other_start, other_end in second:
            if start - other_end <= near and other_start - end <= near:
                return True
    return False


def _lengths(count: float) -> Iterator[str]:
    yield from (f"words<={most}" for most in (3, 6, 10) if count <= most)
    if count > 20:
        yield "words>20"


def _unlisted(read: _Read, matches: Sequence[Match], count: float) -> Iterator[str]:
    """How many words are of no kind: what the sentence says of its own."""
    listed = {place for start, end, _ in matches for place in range(int(start), int(end + 0.999))}
    if read.is_unspaced:
        left = max(0.0, count - len(listed)) / 1.5
    else:
        left = sum(
            len(word) >= LONG_WORD and place not in listed for place, word in enumerate(read.words)
        )
    yield from (f"left<={most}" for most in (0, 2, 5) if left <= most)
    if left > 9:
        yield "left>9"


@lru_cache(maxsize=1024)
def _read(text: str, language: str) -> _Read:
    short = encodable(text[:MOST_CHARACTERS])
    if language in _lexicon().unspaced:
        characters = _UNSPACED.findall(short)
        found = _unspaced(short, language, len(characters))
        return _Read(words=characters, is_unspaced=True, matches=found)
    words = _words(short)
    matches: list[Match] = []
    for place, word in enumerate(words):
        alone, phrases = _entries(word, language)
        matches += [(place, place + 1, kind) for kind in alone]
        if phrases and place + 1 < len(words):
            for kind, rest in phrases.get(words[place + 1][:STEM], ()):
                end = place + 1 + len(rest)
                if end <= len(words) and all(map(_stands_for, rest, words[place + 1 : end])):
                    matches.append((place, end, kind))
    return _Read(words=words, is_unspaced=False, matches=matches)


def is_unspaced(text: str) -> bool:
    """Whether at least half of the letters are of a script without spaces."""
    unspaced = 0 if text.isascii() else len(_UNSPACED.findall(text))
    return unspaced > 0 and unspaced * 2 >= sum(map(str.isalpha, text))


def _script(text: str) -> str:
    return next((code for code, script in _SCRIPTS if script.search(text)), "zh")


def _unspaced(text: str, language: str, count: int) -> list[Match]:
    """Matches in scripts without spaces; few Chinese characters may be Japanese ones."""
    plain = unicodedata.normalize("NFKC", text).lower() + " "
    codes = ("zh", "ja") if language == "zh" and count < LEAST_HAN else (language,)
    return [
        (place / 2, (place + length) / 2, kind)
        for lexicon in (_lexicon().unspaced[code] for code in codes)
        for place in range(len(plain))
        for length in range(1, lexicon.longest + 1)
        for kind in lexicon.kinds.get(plain[place : place + length], ())
    ]


def _words(text: str) -> list[str]:
    """Lower-case words without accents, English contractions written out."""
    plain = unicodedata.normalize("NFKC", text).lower().replace("’", "'")
    for short, full in _CONTRACTED:
        plain = plain.replace(short, full)
    return plain.translate(_FOLDED).split()


def _stands_for(listed: str, word: str) -> bool:
    return word == listed or (len(listed) >= STEM and word.startswith(listed))


@lru_cache(maxsize=1 << 16)
def _languages(word: str) -> frozenset[str]:
    """The languages that list a word by itself."""
    return frozenset(language for language, (_, rest) in _begun_by(word) if not rest)


@lru_cache(maxsize=1 << 16)
def _entries(word: str, language: str) -> tuple[Sequence[str], Mapping[str, Sequence[Entry]]]:
    """The kinds of a word in a language, and its phrases by the stem of their next word."""
    entries = sorted(
        {entry for code, entry in _begun_by(word) if code == language and entry[0] != COMMON}
    )
    phrases: dict[str, list[Entry]] = defaultdict(list)
    for kind, rest in entries:
        if rest:
            phrases[rest[0][:STEM]].append((kind, rest))
    return [kind for kind, rest in entries if not rest], dict(phrases)


def _begun_by(word: str) -> Iterator[Listing]:
    """What begins with a word in any language, its clitics cut off too."""
    yield from _listed_under(word)
    for first, last, clitics in _CLITICS:
        if first <= word[0] < last:
            for cut in range(1, min(_MOST_CLITICS, len(word) - 2) + 1):
                if word[cut - 1] not in clitics:
                    break
                yield from _listed_under(word[cut:])


def _listed_under(word: str) -> Iterator[Listing]:
    lexicon = _lexicon()
    yield from lexicon.exact.get(word, ())
    for length in range(STEM, min(len(word), LONGEST) + 1):
        yield from lexicon.stems.get(word[:length], ())


class _Folded(dict[int, str]):
    """Characters without accents, marks as spaces; only Latin and Greek letters lose anything.

    The marks of Hindi or Thai are vowels, and the breve makes another Russian letter.
    """

    def __missing__(self, code: int) -> str:
        character = chr(code)
        folded = character
        if character.isalnum():
            letter, *rest = list(unicodedata.normalize("NFD", character))
            if rest and (letter < "\u0250" or "\u0370" <= letter < "\u0400"):
                folded = letter
        elif unicodedata.category(character)[0] in "PSZC":
            folded = " "
        self[code] = folded
        return folded


_FOLDED = _Folded(
    str.maketrans(
        {"ı": "i", "ł": "l", "ø": "o", "ß": "ss", "đ": "d", "æ": "ae", "œ": "oe", "ς": "σ",
         "ё": "е", "\u0307": ""}
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Unspaced:
    """The kinds of each listed run of characters, and the length of the longest."""

    kinds: Mapping[str, Sequence[str]]
    longest: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lexicon:
    """Words that stand for themselves, and those that stand for all that begin with them.

    Each has tuples, not sets: there are 12,000 words, and most are of one kind in one language.
    """

    exact: dict[str, tuple[Listing, ...]] = field(default_factory=dict)
    stems: dict[str, tuple[Listing, ...]] = field(default_factory=dict)
    unspaced: dict[str, _Unspaced] = field(default_factory=dict)


@cache
def _lexicon() -> _Lexicon:
    lexicon = _Lexicon()
    folder = files("scorers").joinpath("text/refusal_words")
    for path in sorted(folder.iterdir(), key=lambda path: path.name):
        language = path.name.removesuffix(".toml")
        table = tomllib.loads(path.read_text("utf-8"))
        if table.pop("unspaced", False):
            lexicon.unspaced[language] = _characters(table)
            continue
        for kind in (*KINDS, COMMON):
            for word in _listed(table, kind):
                _enter(lexicon, language, kind, word.strip())
    return lexicon


def _listed(table: Mapping[str, str], kind: str) -> list[str]:
    """The words of a kind; a space behind the last character of one belongs to it."""
    return [word.lstrip() for word in table.get(kind, "").split(",") if word.strip()]


def _characters(table: Mapping[str, str]) -> _Unspaced:
    kinds: dict[str, list[str]] = defaultdict(list)
    for kind in KINDS:
        for word in _listed(table, kind):
            kinds[unicodedata.normalize("NFKC", word)].append(kind)
    return _Unspaced(kinds=dict(kinds), longest=max(map(len, kinds)))


def _enter(lexicon: _Lexicon, language: str, kind: str, word: str) -> None:
    first, *rest = _words(word.removeprefix("="))
    is_exact = word.startswith("=") or len(first) < STEM
    entries = lexicon.exact if is_exact else lexicon.stems
    listing = _listing(language, kind, tuple(rest))
    entries[first] = (*entries.get(first, ()), listing)


@lru_cache(maxsize=16)  # the words of a kind in a language follow one another, and share it
def _listing(language: str, kind: str, rest: tuple[str, ...]) -> Listing:
    return language, (kind, rest)
