"""Says which sentences of an answer refuse by patterns, per language (`refusal_patterns.toml`).

    >>> [sentence.text for sentence in refusing_by_words("It is new. I do not know the price.")]
    ['I do not know the price.']

The patterns know wordings; `refusal_model.py` knows kinds of words. `stance.py` weighs both.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from scorers.text.denials import Denials, denials
from scorers.text.language import are_alike, language
from scorers.text.own_words import own_words
from scorers.text.patterns import LatePattern, any_of, compile_pattern, encodable
from scorers.text.sentences import Sentence, ending, sentences
from scorers.text.tokens import tokens

MOST_BARE = 120
"""Characters of a refusal without a verb."""
LEAST_CLAUSE = 3
"""Least words of a clause that states something before its reason, or with a yes or no."""
_AROUND = " \t\r\n.,;:!。．、！…'\"`*_#<>()[]{}«»“”„-–—/\\|"
_NOTHING = r"[^\s\S]"
_BEHIND = " ,:.。।"
_JOINED = str.maketrans("_-", "  ")
_MARKER = re.compile(r"[\[【(]\d[\d, ]*[\])】]")
_UNSPACED = re.compile("[\u0e00-\u0eff\u2e80-\U0010ffff]")
_ASKING = frozenset("?？؟")


def refusing_by_words(answer: str) -> list[Sentence]:
    """The sentences that refuse by the patterns, their quotations blanked."""
    parts = [part for part in sentences(own_words(answer)) if part.text.strip()]
    languages = _spoken(answer, _candidates([normalised(part.text) for part in parts]))
    if not languages:
        return []
    return [part for part in parts if _matches(languages, part.text)]


def is_courtesy(sentence: str) -> bool:
    """Whether a sentence is an apology, an offer, or says where to look or what the sources are."""
    return _patterns().courtesy.search(normalised(sentence).strip()) is not None


def is_polar(sentence: str) -> bool:
    """Whether a sentence begins with a yes or no."""
    return _patterns().polar.search(normalised(sentence).strip()) is not None


def is_caveat(sentence: str) -> bool:
    """Whether a sentence adds a side matter: *note that the passages give no time*."""
    return _patterns().caveat.search(normalised(sentence)) is not None


def clauses(sentence: str, code: str) -> list[str]:
    """The normalised parts of a sentence between words such as *but* of a language."""
    text = normalised(sentence)
    for each in _patterns().languages:
        if are_alike(each.code, code):
            return each.contrast.split(text)
    return [text]


def without_condition(sentence: str, code: str) -> str:
    """A normalised sentence without a condition at its start and the idioms of a language.

    >>> without_condition("When the text lacks it, the bot says so.", "en")
    'the bot says so'
    """
    text = normalised(sentence).strip()
    own = (each for each in _patterns().languages if are_alike(each.code, code))
    return next((_plain(text, each) for each in own), text)


def _candidates(texts: Sequence[str]) -> list[_Language]:
    """The languages that one of these normalised sentences refuses in."""
    whole = "\n".join(texts)
    written = _patterns().latin if whole.isascii() else _patterns().languages
    # One search of the whole text spares most answers the search sentence by sentence.
    able = [each for each in written if _refuses(each, whole)]
    own = [_own(text) for text in texts] if able else []
    return [each for each in able if any(_refuses(each, _main_clause(text, each)) for text in own)]


def _spoken(answer: str, languages: list[_Language]) -> list[_Language]:
    """Of languages that may refuse here those that the answer is in; all where that is not sure.

    A word of refusal in one language is another word in the next.
    """
    code = language(answer) if languages else None
    if code is None or not any(are_alike(code, each.code) for each in _patterns().languages):
        return languages
    return [each for each in languages if are_alike(code, each.code)]


def _matches(languages: Iterable[_Language], sentence: str) -> bool:
    own = _own(sentence)
    return any(_refuses(each, _main_clause(own, each)) for each in languages)


def _refuses(each: _Language, text: str) -> bool:
    """Whether a normalised text refuses in a language, or may do so in one of its sentences."""
    if not each.denials.is_written_in(text):
        return False
    return each.refusing.search(text) is not None or each.denials.refuses(text)


def _own(sentence: str) -> str:
    """A sentence without who says it."""
    said = str(_patterns().attribution.sub(" ", normalised(sentence).strip()))
    return said.strip(_BEHIND)


def _plain(sentence: str, each: _Language) -> str:
    """A sentence without a language's idioms and without its condition."""
    return str(each.idiom.sub(" ", sentence)).strip(_BEHIND)


def _main_clause(sentence: str, each: _Language) -> str:
    """A sentence up to its reason; whole where the reason speaks of the sources.

    A statement about the world may be reasoned by data that lack: *not for children, because there
    are too few data*. An answer that is missing for such a reason says so before it.
    """
    sentence = _plain(sentence, each)
    reason = each.reason.search(sentence)
    if reason is None:
        return sentence
    main, why = sentence[: reason.start()], sentence[reason.end() :]
    if each.denials.are_explained(main, why):
        return ""
    if each.source is None or each.source.search(why):
        return sentence
    is_statement = len(tokens(main)) >= LEAST_CLAUSE and not _patterns().courtesy.search(main)
    return main if is_statement else sentence


def is_bare(answer: str) -> bool:
    """Whether the answer begins with a refusal that is no sentence: `N/A`, *Not mentioned.*"""
    start = answer[: 2 * MOST_BARE].strip()
    first = next(iter(sentences(start)), None)
    if first is None or len(first.text) > MOST_BARE or asks(first.text):
        return False
    text = _unquoted(_MARKER.sub(" ", first.text))
    own = _own(text)
    return _fits(own) and all(_fits(_plain(own, each)) for each in _patterns().languages)


def _unquoted(sentence: str) -> str:
    """A sentence without its quotations; whole where it is nothing else."""
    own = own_words(sentence)
    return own if tokens(own) else sentence


def _fits(own: str) -> bool:
    bare = _unaccented(own.translate(_JOINED)).strip(_AROUND)
    return _patterns().bare.fullmatch(bare) is not None


def asks(sentence: str) -> bool:
    return not _ASKING.isdisjoint(ending(sentence))


def _unaccented(text: str) -> str:
    """The text without accents, which code words lack: `SIN_INFORMACION`."""
    if text.isascii():
        return text
    letters = unicodedata.normalize("NFD", text.replace("ı", "i"))
    bare = "".join(each for each in letters if unicodedata.category(each) != "Mn")
    return unicodedata.normalize("NFC", bare)


def normalised(text: str) -> str:
    """Lower-case, in compatibility form and on one line."""
    plain = text.replace("\n", " ")
    if not text.isascii():
        plain = unicodedata.normalize("NFKC", encodable(plain))
    # Lower-cased, a Turkish capital I with a dot is two characters.
    return plain.lower().replace("’", "'").replace("i\u0307", "i")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Language:
    """How a language refuses, its words such as *but* and *because*, and its names of sources.

    Each has a pattern of its own: with all languages in one, RE2's automaton outgrows its memory,
    and a search takes 13 ms instead of 0.25 ms.
    """

    code: str
    refusing: Any
    idiom: Any
    denials: Denials
    contrast: re.Pattern[str]
    reason: re.Pattern[str]
    source: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class _Patterns:
    """`latin`: the languages that a text of ASCII letters may be in."""

    languages: tuple[_Language, ...]
    latin: tuple[_Language, ...]
    bare: Any
    attribution: Any
    polar: Any
    caveat: Any
    courtesy: Any


@cache
def _patterns() -> _Patterns:
    """The patterns of all languages; a language's own are compiled when a text may be in it."""
    text = files("scorers").joinpath("text/refusal_patterns.toml").read_text("utf-8")
    read = tomllib.loads(unicodedata.normalize("NFKC", text))

    def together(kind: str) -> Any:
        return compile_pattern(any_of(_of_kind(kind, read.values())))

    languages = tuple(
        _Language(
            code=code,
            refusing=LatePattern("(?m)" + any_of(_of_kind("refusing", [table]))),
            idiom=LatePattern(any_of(_of_kind("idiom", [table])) or _NOTHING),
            denials=denials()[code],
            contrast=_words([*table["contrast"], ";"]),
            reason=_words(table.get("reason", ())),
            source=_sources(table),
        )
        for code, table in read.items()
        if table["refusing"]
    )
    return _Patterns(
        languages=languages,
        latin=tuple(each for each in languages if each.denials.letters is None),
        bare=compile_pattern(_unaccented(any_of(_of_kind("bare", read.values())))),
        attribution=together("attribution"),
        polar=together("polar"),
        caveat=together("caveat"),
        courtesy=together("courtesy"),
    )


def _sources(table: Mapping[str, Any]) -> Any:
    named = table.get("names", {}).get("source")
    return LatePattern(named) if named else None


def _words(words: Iterable[str]) -> re.Pattern[str]:
    """Matches any of some words or marks; nothing where there are none."""
    return re.compile("|".join(map(_word, words)) or r"(?!)")


def _word(word: str) -> str:
    if _UNSPACED.match(word):  # scripts without spaces have no word boundaries
        return re.escape(word)
    before = r"(?<!\w)" if word[0].isalnum() else ""
    after = r"(?!\w)" if word[-1].isalnum() else ""
    return f"{before}{re.escape(word)}{after}"


def _of_kind(kind: str, tables: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The patterns of one kind, each with the parts that its language names in braces."""
    for table in tables:
        for pattern in table.get(kind, ()):
            for name, part in table.get("names", {}).items():
                pattern = pattern.replace(f"{{{name}}}", part)
            yield pattern
