"""What the words left out of a quotation would have changed in the claim.

    >>> from scorers.text.chunk_text import chunk_text
    >>> chunk = chunk_text("You must never mix bleach, which no cook needs, and ammonia.")
    >>> changed_by_omission(chunk, 2, 3), changed_by_omission(chunk, 5, 9)
    ('never', '')

A quotation may leave out what the kept words do not depend on: whole sentences, an aside between
commas, dashes or brackets, an adjective. It may not leave out a negation, a condition, a limit, a
quantifier, a modal verb or a number of the sentence it keeps, nor join two sentences. Words are
data, per language (`omission_words.toml`). Time is linear in the words left out.
"""

from __future__ import annotations

import tomllib
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from scorers.text.chunk_text import ChunkText
from scorers.text.negations import BY_LANGUAGE
from scorers.text.normalise import SYMBOLS, is_number, is_unspaced, words

SENTENCE_END = "the end of a sentence"
"""What an omission leaves out that joins two sentences."""
AROUND = 60
"""Words on either side of an omission by which its language is known."""
BEFORE = 4
"""Most words from a negation to the words that it denies: *it is not true that*."""
ASIDE = 3
"""Words of an aside in which it says that it limits the sentence; so short, it is no clause."""
POSTPOSED = frozenset({"de", "nl", "sv", "ja", "ko"})
"""Languages whose negations may stand behind what they deny."""
INFIXED = frozenset({"zh", "ja", "th", "ko"})
"""Languages whose listed words are looked for inside words too."""
CLASSES = (
    "denying", "exception", "condition", "limit", "quantifier", "modal", "unit", "clause",
    "relative",
)  # fmt: skip
LATIN = "\u024f"
"""The last letter of the Latin alphabets."""
LINKS = frozenset({
    "that", "be", "been", "being", "have", "has", "ever", "yet", "true", "possible", "safe",
    "recommended", "advisable", "dass", "zu", "sein", "que", "être", "été", "à", "se", "che",
    "essere", "dat", "te", "att", "być", "że", "что", "чтобы", "ότι", "να",
})  # fmt: skip
"""Words, beside modal verbs, that may stand between a negation and what it denies."""
CLAIMING = frozenset(
    {"that", "whether", "dass", "ob", "que", "che", "dat", "att", "że", "что", "ότι"}
)
"""Words behind which a clause is claimed or denied as a whole: *we do not promise that*."""
JOINING = frozenset({
    "and", "but", "und", "aber", "et", "mais", "y", "pero", "e", "ma", "mas", "en", "maar", "och",
    "men", "i", "ale", "и", "но", "а", "και",
})  # fmt: skip
"""Words behind which a negation denies no more."""


@dataclass(frozen=True, slots=True)
class _Language:
    """The listed words of a language by class; `script` is empty for Latin letters."""

    name: str
    script: str
    common: frozenset[str]
    compounds: tuple[str, ...]
    classes: Mapping[str, tuple[str, ...]]


def changed_by_omission(
    chunk: ChunkText, begin: int, end: int, *, shows_end: bool = False
) -> str:  # fmt: skip
    """The words by which leaving out words `begin` to `end` changes the claim; "" where none does.

    `shows_end`: the quotation shows that another sentence begins behind the omission.
    """
    if begin == end:
        return ""
    ends = [place for place in range(begin, end + 1) if place in chunk.starts]
    if not ends:
        return _telling(chunk, begin, end)
    is_joined = begin < ends[0] and ends[-1] < end
    if is_joined or not shows_end:
        return SENTENCE_END
    # Whole sentences between may go; what is cut from the two that are kept may not tell.
    return _telling(chunk, begin, ends[0]) or _telling(chunk, ends[-1], end)


def denied_outside(chunk: ChunkText, begin: int, end: int) -> str:
    """The word beside words `begin` to `end` that denies or excepts them; "" where there is none.

    No clause ends between the two.
    """
    before = _clause_before(chunk, begin)
    behind = _clause_behind(chunk, end)
    if not _may_tell((*before, *behind)):
        return ""  # most quotations end here
    languages = _languages_near(chunk, begin, end)
    return (
        _denial_before(before, languages)
        or _first(behind, "exception", languages)
        or _denial_behind(behind, languages)
    )


def _clause_before(chunk: ChunkText, begin: int) -> Sequence[str]:
    """Up to BEFORE words in front of a place, of the same clause."""
    first = begin
    while first > max(0, begin - BEFORE) and not _is_cut(chunk, first):
        if chunk.words[first - 1] in JOINING:
            break
        first -= 1
    return chunk.words[first:begin]


def _clause_behind(chunk: ChunkText, end: int) -> Sequence[str]:
    last = end
    while last < min(len(chunk.words), end + BEFORE) and not _is_cut(chunk, last):
        last += 1
    return chunk.words[end:last]


def _denial_before(before: Sequence[str], languages: Sequence[_Language]) -> str:
    """The negation in front of a quotation, with nothing but auxiliary words behind it."""
    for language in languages:
        begin = len(before)
        while begin and _is_auxiliary(before[begin - 1], language):
            begin -= 1
        reached = before if before and before[-1] in CLAIMING else before[max(0, begin - 1) :]
        found = _listed(reached, ("denying", "exception"), (language,))
        if found and found in _spelt(before, language):  # and is no part of *not only*
            return found
    return ""


def _is_auxiliary(word: str, language: _Language) -> bool:
    """Whether a word may stand between a negation and what it denies."""
    if word in LINKS or word in language.common or is_unspaced(word):
        return True
    return bool(_listed([word], ("modal",), (language,)))


def _denial_behind(behind: Sequence[str], languages: Sequence[_Language]) -> str:
    """The negation right behind a quotation: the next word, or the end of an unspaced verb."""
    reach = BEFORE if behind and is_unspaced(behind[0]) else 1
    postposed = [language for language in languages if language.name in POSTPOSED]
    return _listed(behind[:reach], ("denying",), postposed)


def _first(stretch: Sequence[str], kind: str, languages: Sequence[_Language]) -> str:
    """The listed phrase that a stretch begins with; "" where it begins with none."""
    for language in languages:
        spelt = _spelt(stretch[:BEFORE], language)
        for phrase in language.classes[kind]:
            if spelt.startswith(phrase):
                return phrase.strip()
    return ""


def _is_cut(chunk: ChunkText, place: int) -> bool:
    """Whether a sentence or a clause ends before a word."""
    return place in chunk.starts or place in chunk.pauses


def _telling(chunk: ChunkText, begin: int, end: int) -> str:
    """The words of a stretch inside one sentence that the kept words depend on."""
    omitted = chunk.words[begin:end]
    if not _may_tell(omitted):
        return ""
    languages = _languages_near(chunk, begin, end)
    opens, closes = _is_cut(chunk, begin), _is_cut(chunk, end)
    is_relative = bool(_first(omitted, "relative", languages))
    is_clause = len(omitted) > ASIDE and bool(_first(omitted, "clause", languages))
    if closes and is_clause and (opens or not is_relative):
        return ""
    if opens and closes:
        # An aside that limits the sentence says so at once: (not in Utrecht), (members only).
        is_inner = end not in chunk.starts and not is_relative
        telling = omitted[:ASIDE] if is_inner else omitted
        return _listed(telling, ("denying", "exception", "condition", "limit"), languages)
    kinds = ("denying", "exception", "condition", "limit", "quantifier")
    return (
        _listed(omitted, kinds, languages)
        or _modal(omitted, languages)
        or _amount(chunk, begin, omitted, languages)
    )


def _modal(omitted: Sequence[str], languages: Sequence[_Language]) -> str:
    """A modal verb of the sentence; that of a clause (*that can be found online*) is not."""
    is_inner = len(omitted) > 2 and _first(omitted, "relative", languages)
    return _listed(omitted[2:] if is_inner else omitted, ("modal",), languages)


def _amount(
    chunk: ChunkText, begin: int, omitted: Sequence[str], languages: Sequence[_Language]
) -> str:  # fmt: skip
    """A number left out, or the unit of the number in front of the omission."""
    number = next((word for word in omitted if is_number(word) or word in SYMBOLS), "")
    if number or not begin or not is_number(chunk.words[begin - 1]):
        return number
    return _listed(omitted, ("unit",), languages)


def _listed(stretch: Sequence[str], kinds: Sequence[str], languages: Sequence[_Language]) -> str:
    """The first listed phrase of these kinds in a stretch; "" where there is none."""
    for language in languages:
        spelt = _spelt(stretch, language)
        for kind in kinds:
            for phrase in language.classes[kind]:
                if phrase in spelt:
                    return phrase.strip()
    return ""


def _spelt(stretch: Sequence[str], language: _Language) -> str:
    """The words as the phrases of a language are searched: spaced, or run together."""
    spelt = f" {' '.join(stretch)} "
    if language.name in INFIXED:
        spelt = "".join(word if is_unspaced(word) else f"{word} " for word in stretch)
    for compound in language.compounds:
        spelt = spelt.replace(compound, " ")
    return spelt


def _languages_near(chunk: ChunkText, begin: int, end: int) -> list[_Language]:
    """The languages that the words near a stretch may be in."""
    near = chunk.words[max(0, begin - AROUND) : end + AROUND]
    scripts = {unicodedata.name(word[0], "").partition(" ")[0] for word in near}
    if "KATAKANA" in scripts or "HIRAGANA" in scripts:
        scripts = scripts - {"CJK"} | {"HIRAGANA"}
    counts = Counter(name for word in near for name in _latin_words().get(word, ()))
    most = max(counts.values(), default=0)
    return [
        language
        for language in _languages()
        if (language.script in scripts if language.script else counts[language.name] * 2 >= most)
    ]


def _may_tell(stretch: Sequence[str]) -> bool:
    """Whether any word is listed in some language, is a number, or is of another alphabet."""
    listed = _listed_words()
    return any(word in listed or is_number(word) or word[0] > LATIN for word in stretch)


@cache
def _listed_words() -> frozenset[str]:
    """The words of all phrases."""
    phrases = (
        phrase
        for language in _languages()
        for listed in language.classes.values()
        for phrase in listed
    )
    return frozenset({*SYMBOLS, *(word for phrase in phrases for word in phrase.split())})


@cache
def _latin_words() -> dict[str, list[str]]:
    """The languages of each common word."""
    names: dict[str, list[str]] = {}
    for language in _languages():
        for word in language.common:
            names.setdefault(word, []).append(language.name)
    return names


@cache
def _languages() -> tuple[_Language, ...]:
    text = files("scorers").joinpath("text/omission_words.toml").read_text("utf-8")
    return tuple(_language(name, listed) for name, listed in tomllib.loads(text).items())


def _language(name: str, listed: Mapping[str, str]) -> _Language:
    is_infixed = name in INFIXED
    classes = {kind: _phrases(listed.get(kind, ""), is_infixed=is_infixed) for kind in CLASSES}
    negations = BY_LANGUAGE.get(name, "") if name != "ja" else ""  # 不 is mostly no negation there
    classes["denying"] += _phrases(negations.replace(" ", ","), is_infixed=is_infixed)
    return _Language(
        name=name,
        script=listed.get("script", ""),
        common=frozenset(words(listed.get("common", ""))),
        compounds=_phrases(listed.get("compound", ""), is_infixed=is_infixed),
        classes=classes,
    )


def _phrases(listed: str, *, is_infixed: bool) -> tuple[str, ...]:
    """Phrases as `_spelt` spells the text that they are searched in."""
    phrases = [split for phrase in listed.split(",") if (split := words(phrase))]
    if is_infixed:
        return tuple("".join(phrase) for phrase in phrases)
    return tuple(f" {' '.join(phrase)} " for phrase in phrases)
