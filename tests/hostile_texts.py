"""Texts that cost much to read where reading is not linear, and where they can stand."""

from __future__ import annotations

import base64
import json
import random
from collections.abc import Callable, Mapping
from dataclasses import replace

from collector.record.citations import CitationSource, citations
from ragvigil.model.record import Document, RagRecord, Retrieval

Shape = Callable[[int], str]
SYLLABLES = ("re", "fun", "de", "liv", "er", "or", "pa", "cel", "ware", "hou", "cus", "to", "mer")
QUESTION = "How long does a card refund take?"
ANSWER = "Card refunds take 5 to 7 business days [refund-02]. They go back to the card [1]."
CHUNKS = (
    Document(chunk_id="refund-02", content="Card refunds take 5 to 7 business days to appear."),
    Document(chunk_id="ship-01", content="Parcels are sent twice a day. Cash is never refunded."),
)
CHUNK_CHARACTERS = 1_000
"""Size of each chunk where a text is spread over many."""


def repeated(piece: str, end: str = "") -> Shape:
    """A shape of one piece again and again."""
    return lambda size: piece * ((size - len(end)) // len(piece)) + end


def _nested(opening: str, closing: str) -> Shape:
    pair = len(opening + closing)
    return lambda size: opening * (size // pair) + closing * (size // pair)


def _in_turn(make: Callable[[int], str], separator: str = " ") -> Shape:
    """A shape of different pieces, made from 0, 1, 2 ..."""

    def shape(size: int) -> str:
        pieces, length, number = list[str](), 0, 0
        while length + len(make(number)) <= size:
            pieces.append(make(number))
            length += len(pieces[-1]) + len(separator)
            number += 1
        return separator.join(pieces)

    return shape


def _begun(beginning: str, rest: str) -> Shape:
    """A shape of a line that begins like a label and goes on with one character."""
    start = f"-------\n{beginning}"
    return lambda size: start + rest * (size - len(start) - 1) + "x"


def _data_uri(size: int) -> str:
    return (
        "data:image/png;base64,"
        + base64.b64encode(random.Random(7).randbytes(size)).decode()[: size - 22]
    )


def _prose(size: int, *, seed: int = 7) -> str:
    """Sentences of words that occur with very different frequencies, as in language."""
    rng = random.Random(seed)
    words = ["".join(rng.choices(SYLLABLES, k=rng.randint(1, 5))) for _ in range(3_000)]
    shares = [1 / (rank + 3) for rank in range(len(words))]
    drawn = rng.choices(words, shares, k=size // 4)
    sentences = [" ".join(drawn[at : at + 12]).capitalize() for at in range(0, len(drawn), 12)]
    return ". ".join(sentences)[:size]


SHAPES: Mapping[str, Shape] = {
    "no spaces": repeated("x"),
    "newlines": repeated("\n", "."),
    "spaces": repeated(" ", "."),
    "tabs": repeated("\t", "."),
    "carriage returns": repeated("\r\n", "."),
    "numbered markers": repeated("[1]"),
    "spaced markers": repeated("[1] "),
    "cited sentences": _in_turn(lambda n: f"Refund {n} takes {n} business days [{n % 9}]."),
    "different markers": _in_turn(lambda n: f"[doc-{n}]"),
    "opening brackets": repeated("["),
    "opening parentheses": repeated("("),
    "nested brackets": _nested("[", "]"),
    "empty brackets": repeated("[]"),
    "lenticular brackets": repeated("【4:0†a】"),
    "opening lenticular": repeated("【"),
    "double quotes": repeated('"'),
    "alternating quotes": repeated("“a”„b“«c»"),
    "opening quotes": repeated("“"),
    "quoted words": _in_turn(lambda n: f"“refund {n} takes five days”"),
    "ellipses": repeated("… "),
    "dots": repeated("."),
    "spaced dots": repeated(". "),
    "initials": repeated("a."),
    "full stops and newlines": repeated(".\n"),
    "stops of other scripts": repeated("。"),
    "data URI": _data_uri,
    "long address": repeated("https://a.example/b?c=d&"),
    "at signs": repeated("@"),
    "addresses": repeated("a@b.c."),
    "digits": repeated("1"),
    "grouped number": repeated("1,234,567,"),
    "spaced numbers": repeated("1 "),
    "decimals": repeated("1.5-"),
    "hyphens": repeated("-"),
    "hyphenated lines": repeated("-\n"),
    "rules": repeated("-----\n"),
    "apostrophes": repeated("'"),
    "backticks": repeated("`"),
    "opened code": repeated("```\n"),
    "soft hyphens": repeated("\u00ad \n"),
    "combining characters": repeated("e\u0301\u0323"),
    "emoji": repeated("👩\u200d👩\u200d👧"),
    "zero width": repeated("a\u200b"),
    "Chinese": repeated("退款需要五天"),
    "Thai": repeated("การคืนเงินใช้เวลาห้าวัน"),
    "Arabic": repeated("الاسترداد خلال خمسة أيام "),
    "deep JSON": _nested('{"a":[', "]}"),
    "wide JSON": lambda size: json.dumps([{"id": n, "text": "a b"} for n in range(size // 28)]),
    "cut JSON": repeated('{"answer": "a", "b": [', ""),
    "answer keys": repeated('"answer": '),
    "escapes": repeated('\\"\\n\\u0041'),
    "table": repeated("| a | b |\n"),
    "list": _in_turn(lambda n: f"- {n} refunds take days", "\n"),
    "numbered list": _in_turn(lambda n: f"{n}. refunds take days", "\n"),
    "headings": repeated("Context:\n\n"),
    "questions": repeated("Question: why? "),
    "lines of words": repeated("the refund of the parcel "),
    "opening elements": repeated("<document id=1>"),
    "elements": repeated("<document>a</document>"),
    "comparison signs": repeated("<"),
    "cited elements": repeated("<co: 1>a</co: 1>"),
    "entities": repeated("&amp;"),
    "percent escapes": repeated("%20"),
    "superscripts": repeated("a¹"),
    "code words": repeated("a_b/c."),
    "capitals": repeated("A1"),
    "refusals": repeated("I could not find that, but refunds of cards take five days. "),
    "same sentences": repeated("Card refunds take 5 to 7 business days. "),
    "different sentences": _in_turn(lambda n: f"Refund number{n} takes {n} days and {n} hours."),
    "prose": _prose,
    "semicolons": repeated(";", "a"),
    "colons": repeated(":", "a"),
    "question marks": repeated("?", "a"),
    "stops in a word": repeated(".", "x"),
    "underscores": repeated("_", "x"),
    "words without end": repeated("a ", "b"),
    "quoted and cited": _in_turn(lambda n: f"“refund {n} takes five days” [{n % 9}]"),
    "rows of markers": _in_turn(lambda n: f"“refund {n} takes five days” [1] [refund-02]."),
    "code and markers": repeated("`a` [1] "),
    "numbers in parentheses": repeated("a (1) "),
    "unclosed elements": repeated("<doc><source><cite></x>"),
    "elements in elements": repeated("<doc><id>1</id>a</doc>"),
    "blocks": _in_turn(lambda n: f"[doc-{n}] Refunds take {n} days.", "\n"),
    "commas in brackets": repeated("[1,2,3,4,5,6,7,8,9]"),
    "long number in an element": lambda size: f"-------\n<co: {'9' * (size - 22)}>a</co>",
    **{
        f"{beginning!r} and {name}": _begun(beginning, rest)
        for beginning in (
            "Context", "Context: ", "[source", "source", "source 1", "source: ", "Question: ",
            "No", "**", "1. ", "<co:", "<source ", "[ ", "-----BEGIN ",
        )
        for name, rest in (("spaces", " "), ("underscores", "_"))
    },
}  # fmt: skip


def in_bytes(name: str, size: int) -> str:
    """A text of this shape of about `size` bytes of UTF-8, which ends as any other of the shape."""
    text = SHAPES[name](size)
    bytes_long = len(text.encode())
    return text if bytes_long <= size else SHAPES[name](size * len(text) // bytes_long)


def distinct(text: str, number: int) -> str:
    """The text with another beginning, of equal length: what is cached for others is not found."""
    return f"{number:07d} " + text[8:]


def record_with(place: str, text: str) -> RagRecord:
    """A record with this text as `answer`, `question`, `chunk`, `chunks` (many) or `everywhere`."""
    question, answer, chunks = QUESTION, ANSWER, CHUNKS
    if place in ("answer", "everywhere"):
        answer = text
    if place in ("question", "everywhere"):
        question = text
    if place in ("chunk", "everywhere"):
        chunks = (replace(CHUNKS[0], content=text), *CHUNKS[1:])
    if place == "chunks":
        chunks = tuple(
            Document(chunk_id=f"doc-{at}", content=text[at : at + CHUNK_CHARACTERS], rank=at)
            for at in range(0, len(text), CHUNK_CHARACTERS)
        )
    return RagRecord(
        record_id="1",
        trace_id="1",
        query=question,
        retrievals=(Retrieval(query=question, documents=chunks, span_id="1"),),
        retrieved=chunks,
        context=chunks,
        answer=answer,
        citations=citations(CitationSource(answer=answer, context=chunks)),
    )


PLACES = ("answer", "question", "chunk", "chunks", "everywhere")
