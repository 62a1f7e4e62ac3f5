"""The template of a system prompt: its sentences, without the parts that vary by themselves.

A prompt that holds today's date, a ticket number or the name of a customer is another text at every
request, and still the same prompt. So dates, times, numbers, ids, addresses and known names are
masked before its sentences are compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from hashlib import blake2b

MOST_CHARACTERS = 20_000
MOST_SENTENCES = 64
"""The first and the last 32 lines are read, and as many sentences are kept: instructions stand at
the ends of a prompt, retrieved texts between them."""
SHORTEST_NAME = 3
MASK = "#"
PUNCTUATION = ".,;:!?()[]{}<>\"'\u201c\u201d"
WEEKDAY_NAMES = """
monday tuesday wednesday thursday friday saturday sunday mon tue wed thu fri sat sun
montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag
lundi mardi mercredi jeudi vendredi samedi dimanche
lunes martes miércoles jueves viernes sábado domingo
lunedì martedì mercoledì giovedì venerdì sabato domenica
segunda-feira terça-feira quarta-feira quinta-feira sexta-feira
maandag dinsdag woensdag donderdag vrijdag zaterdag zondag
poniedziałek wtorek środa czwartek piątek sobota niedziela
måndag tisdag onsdag torsdag fredag lördag söndag
понедельник вторник среда четверг пятница суббота воскресенье
"""
"""A day's name changes at midnight by itself; a month's name is known by the number beside it."""
WEEKDAYS = frozenset(WEEKDAY_NAMES.split())
ARTICLES = frozenset({"the", "der", "den", "le", "el", "de", "del", "of", "do"})
HALVES = frozenset({"am", "pm", "a.m", "p.m"})
ZONE_LENGTHS = (3, 4)
CJK_WEEKDAY = re.compile(r"星期[一二三四五六日天]|[月火水木金土日]曜日?")
DIGITS = re.compile(r"[A-Za-z_.:/+\-]*+\d(?:[A-Za-z0-9_.:/+\-]*[A-Za-z0-9_])?")
DIGIT = re.compile(r"\d")
YEAR = re.compile(r"\D?(?:19|20)\d\d\D{0,2}")
DAY = re.compile(r"\d{1,2}\D{0,3}")
SENTENCE_END = re.compile(r"(?<=[.!?:;]) |(?<=[。！？])")


def template_of(texts: Iterable[str], names: Iterable[str] = ()) -> tuple[int, ...]:
    """Hashes (32 bits) of the sentences of these texts, each once, in order; at most 64.

    `names` are parts that name the user or the tenant: they are masked too.

    >>> monday = template_of(["You help Acme. Today is Monday, 23 November 2026."], ["Acme"])
    >>> monday == template_of(["You help Umbrella. Today is Tue, 1 December 2026."], ["Umbrella"])
    True
    >>> monday == template_of(["You serve Acme. Today is Monday, 23 November 2026."], ["Acme"])
    False
    """
    text = "\n".join(texts)[:MOST_CHARACTERS]
    for name in names:
        if len(name) >= SHORTEST_NAME:
            text = text.replace(name, MASK)
    lines = text.splitlines()
    half = MOST_SENTENCES // 2
    if len(lines) > MOST_SENTENCES:
        lines = [*lines[:half], *lines[-half:]]
    sentences = dict.fromkeys(sentence for line in lines if line for sentence in _sentences(line))
    kept = tuple(sentences)
    return kept if len(kept) <= MOST_SENTENCES else (*kept[:half], *kept[-half:])


# Most lines of a prompt are the same at every request: each is masked once.
@lru_cache(maxsize=1_024)
def _sentences(line: str) -> tuple[int, ...]:
    parts = SENTENCE_END.split(masked(line))
    return tuple(_hash(part) for part in parts if part.strip())


def masked(line: str) -> str:
    """The line without what varies by itself, its white space made equal.

    >>> masked("Ticket  AB-1234 of jane@example.com opened at 2:05 PM CET on Friday, 3 May 2026.")
    'Ticket # of # opened at # # # on #, # # #.'
    """
    words = line.split()
    shown = list(words)
    for at, word in enumerate(words):
        # Most words are plain: the cheap question first.
        if word.isalpha() and word.isascii() and word.casefold() not in WEEKDAYS:
            continue
        if _bare(word) in WEEKDAYS:
            shown[at] = _mask(word)
            _mask_month_after(words, shown, at)
        elif "@" in word:
            shown[at] = _mask(word)
        elif DIGIT.search(word):
            shown[at] = DIGITS.sub(MASK, CJK_WEEKDAY.sub(MASK, word))
            _mask_month_before(words, shown, at)
            _mask_clock_after(words, shown, at)
        elif not word.isascii():
            shown[at] = CJK_WEEKDAY.sub(MASK, word)
    return " ".join(shown)


def _bare(word: str) -> str:
    return word.strip(PUNCTUATION).casefold()


def _mask(word: str) -> str:
    """The mask, with the punctuation that ends the word: a sentence may end there."""
    return MASK + word[len(word.rstrip(PUNCTUATION)) :]


def _mask_month_before(words: list[str], shown: list[str], year: int) -> None:
    """Masks the month of `3 May 2026`, `May 3, 2026`, `3 de mayo de 2026` and `May 2026`."""
    if not YEAR.fullmatch(words[year]):
        return
    at = _skipped(words, year - 1, -1)
    if at >= 0 and DAY.fullmatch(words[at]):
        at = _skipped(words, at - 1, -1)
    if at >= 0 and _bare(words[at]).isalpha():
        shown[at] = _mask(words[at])


def _mask_month_after(words: list[str], shown: list[str], weekday: int) -> None:
    """Masks the month of `Friday, 3 May` and `Friday, May 3`, dates without a year."""
    first = _skipped(words, weekday + 1, 1)
    second = _skipped(words, first + 1, 1)
    if second >= len(words):
        return
    for day, month in ((first, second), (second, first)):
        if DAY.fullmatch(words[day]) and _bare(words[month]).isalpha():
            shown[month] = _mask(words[month])


def _skipped(words: list[str], at: int, step: int) -> int:
    """The next place that holds no article."""
    return at + step if 0 <= at < len(words) and words[at].casefold() in ARTICLES else at


def _mask_clock_after(words: list[str], shown: list[str], clock: int) -> None:
    """Masks `PM` and the time zone after a time."""
    if ":" not in words[clock] and _bare("".join(words[clock + 1 : clock + 2])) not in HALVES:
        return
    for at in range(clock + 1, min(clock + 3, len(words))):
        bare = words[at].strip(PUNCTUATION)
        if bare.casefold() in HALVES or (bare.isupper() and len(bare) in ZONE_LENGTHS):
            shown[at] = _mask(words[at])


def _hash(sentence: str) -> int:
    digest = blake2b(sentence.encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return int.from_bytes(digest, "little")
