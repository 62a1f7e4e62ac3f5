"""Citations made wrong on purpose, and edited without harm, in nine languages."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ragvigil.model.record import Citation, Document, RagRecord
from scorers.text.sentences import sentences

NOT = {"en": "not", "de": "nicht", "ru": "не", "el": "δεν", "ar": "لا", "he": "לא", "hi": "नहीं",
       "zh": "不", "ja": "ない"}  # fmt: skip
UNSPACED = ("zh", "ja")
CHUNKS = 4
MIN_PIECES = 6
Piece = str


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A chunk of text and its language."""

    id: str
    language: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A record with one citation of a known kind; good ones must pass."""

    id: str
    kind: str
    record: RagRecord
    is_good: bool
    language: str = "en"


def pieces(text: str, language: str) -> list[Piece]:
    """Words, or characters (numbers whole) where no spaces are written."""
    return re.findall(r"\d+(?:\.\d+)?|.", text) if language in UNSPACED else text.split()


def joined(parts: Sequence[Piece], language: str) -> str:
    return ("" if language in UNSPACED else " ").join(parts)


def swapped_word(text: str, other: str, language: str, chance: random.Random) -> str | None:
    """One word (two characters of an unspaced script) replaced by one of another passage."""
    parts, donors = pieces(text, language), pieces(other, language)
    size = 2 if language in UNSPACED else 1
    places = [
        i for i in range(len(parts) - size + 1) if joined(parts[i : i + size], "zh").isalpha()
    ]
    chance.shuffle(donors)
    for place in places and [chance.choice(places)]:
        old = "".join(parts[place : place + size]).casefold()
        for index in range(len(donors) - size + 1):
            new = donors[index : index + size]
            word = "".join(new).casefold()
            if word.isalpha() and word not in (old, text.casefold()) and word[:3] != old[:3]:
                return joined([*parts[:place], *new, *parts[place + size :]], language)
    return None


def swapped_number(text: str, _other: str, _language: str, chance: random.Random) -> str | None:
    """One number changed."""
    found = list(re.finditer(r"\d+", text))
    if not found:
        return None
    match = chance.choice(found)
    number = str(int(match.group()) + chance.choice((1, 2, 5, 10, 41)))
    return text[: match.start()] + number + text[match.end() :]


def negated(text: str, _other: str, language: str, chance: random.Random) -> str | None:
    """A *not* of the language put somewhere inside."""
    parts = pieces(text, language)
    parts.insert(chance.randrange(1, len(parts)), NOT[language])
    return joined(parts, language)


def stitched(text: str, other: str, language: str, chance: random.Random) -> str | None:
    """The first half of one sentence and the second half of another passage's."""
    first, second = pieces(text, language), pieces(other, language)
    least = 8 if language in UNSPACED else 4
    if min(len(first), len(second)) < 2 * least:
        return None
    head, tail = first[: len(first) // 2], second[len(second) // 2 :]
    gap = chance.choice(([], ["…"], ["[...]"]))
    return joined([*head, *gap, *tail], language)


BAD: dict[str, Callable[[str, str, str, random.Random], str | None]] = {
    "swapped_word": swapped_word,
    "swapped_number": swapped_number,
    "negated": negated,
    "stitched": stitched,
}


def _shouted(text: str, chance: random.Random) -> str:
    return chance.choice((text.upper(), text.lower(), text.title()))


def _spaced(text: str, chance: random.Random) -> str:
    return text.replace(" ", chance.choice(("  ", "\n", "\u00a0", " \u200b", "\u2009")))


def _quoted(text: str, chance: random.Random) -> str:
    before, after = chance.choice((("“", "”"), ("«", "»"), ("„", "“"), ("「", "」"), ("'", "'")))
    return f"{before}{text.replace('-', chance.choice('–—‑'))}{after}"


def _punctuated(text: str, chance: random.Random) -> str:
    return re.sub(r"[,;:。、!?؟،।](?!\d)", chance.choice(("", ",", ";")), text).rstrip(".")


def _recoded(text: str, chance: random.Random) -> str:
    if chance.random() < 0.5:
        return unicodedata.normalize(chance.choice(("NFD", "NFKC", "NFKD")), text)
    return re.sub(r"[a-zA-Z0-9]", lambda found: chr(ord(found.group()) + 0xFEE0), text)


def _invisible(text: str, chance: random.Random) -> str:
    place = chance.randrange(1, len(text))
    return text[:place] + chance.choice("\u00ad\u200b\u200e\u2060\ufeff") + text[place:]


def _hyphenated(text: str, chance: random.Random) -> str:
    """A longer word broken at a line's end, or hyphens taken out."""
    found = [match for match in re.finditer(r"[^\W\d_]{6,}", text) if match.group().isascii()]
    if not found:
        return text.replace("-", "")
    match = chance.choice(found)
    place = chance.randrange(match.start() + 2, match.end() - 2)
    return text[:place] + chance.choice(("-\n", "-", "\u00ad\n", "- ")) + text[place:]


def _marked(text: str, chance: random.Random) -> str:
    """Emphasis of markdown or HTML around a word, as models add it."""
    if " " not in text:
        return f"**{text}**"
    parts = text.split(" ")
    index = chance.randrange(len(parts))
    before, after = chance.choice((("**", "**"), ("_", "_"), ("`", "`"), ("“", "”")))
    parts[index] = before + parts[index] + after
    return " ".join(parts)


HARMLESS = {
    "case": _shouted, "spacing": _spaced, "quote_style": _quoted, "punctuation": _punctuated,
    "recoded": _recoded, "invisible": _invisible, "hyphenated": _hyphenated,
    "marked": _marked,
}  # fmt: skip


def cases(passages: Sequence[Passage], count: int, chance: random.Random) -> Iterator[Case]:
    """About `count` cases: every edit of a quotation; of a copied sentence the harmless ones."""
    made = 0
    while made < count:
        chunk = chance.choice(passages)
        same = [
            passage
            for passage in passages
            if passage.language == chunk.language and passage.id != chunk.id
        ]
        rivals = chance.sample(same, min(CHUNKS - 1, len(same)))
        texts = [sentence.text for sentence in sentences(chunk.text)]
        text = chance.choice(texts)
        other = chance.choice(sentences(rivals[0].text)).text
        if len(pieces(text, chunk.language)) < MIN_PIECES or len(text) > 400:
            continue
        is_quote = chance.random() < 0.6
        for case in _of(chunk, rivals, text, other, chance, is_quote=is_quote):
            made += 1
            yield case


def _of(
    chunk: Passage, rivals: Sequence[Passage], text: str, other: str, chance: random.Random, *,
    is_quote: bool,
) -> Iterator[Case]:  # fmt: skip
    how = "quote" if is_quote else "sentence"
    context = [chunk, *rivals]
    chance.shuffle(context)

    def case(kind: str, said: str, cited: str, *, is_good: bool) -> Case:
        record = record_of(said, cited, context, is_quote=is_quote)
        name = f"{chunk.id}/{kind}/{said[:40]}"
        return Case(id=name, kind=f"{kind}:{how}", record=record, is_good=is_good,
                    language=chunk.language)  # fmt: skip

    for kind, mutate in BAD.items():
        if not is_quote:  # a sentence without quotation marks may say it in other words
            continue
        said = mutate(text, other, chunk.language, chance)
        if said is not None:
            yield case(kind, said, chunk.id, is_good=False)
    yield case("marker_swapped", text, rivals[0].id, is_good=False)
    yield case("verbatim", text, chunk.id, is_good=True)
    for kind, edit in HARMLESS.items():
        yield case(kind, edit(text, chance), chunk.id, is_good=True)


def record_of(said: str, cited: str, context: Sequence[Passage], *, is_quote: bool) -> RagRecord:
    """A record whose answer quotes, or says, one sentence with one marker."""
    body = f'It says "{said}"' if is_quote else said
    answer = f"{body} [{cited}]"
    citation = Citation(
        target=cited,
        chunk_id=cited,
        marker=f"[{cited}]",
        quote=said if is_quote else None,
        start=len(body) + 1,
        end=len(answer),
        claim_start=0,
        claim_end=len(answer),
    )
    chunks = tuple(Document(chunk_id=chunk.id, content=chunk.text) for chunk in context)
    return RagRecord(
        record_id="1", trace_id="1", answer=answer, context=chunks, citations=(citation,)
    )
