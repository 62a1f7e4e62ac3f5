"""Articles into chunks: by whole paragraphs, or (a fault) by windows that cut sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from examples.helpdesk.corpus import Article

PARAGRAPH_WORDS = 75
WINDOW_WORDS = 24
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[\"«\w¿¡])|(?<=[。！？])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A piece of an article; `chunk_id` is the article's id and the piece's number."""

    chunk_id: str
    article: Article
    text: str


def by_paragraph(article: Article) -> Iterator[Chunk]:
    """Whole paragraphs, packed up to `PARAGRAPH_WORDS` words a chunk."""
    pack: list[str] = []
    number = 0
    for paragraph in article.paragraphs:
        if pack and _words(" ".join([*pack, paragraph])) > PARAGRAPH_WORDS:
            number += 1
            yield _chunk(article, number, "\n\n".join(pack))
            pack = []
        pack.append(paragraph)
    yield _chunk(article, number + 1, "\n\n".join(pack))


def by_window(article: Article) -> Iterator[Chunk]:
    """Windows of `WINDOW_WORDS` words, blind to sentences: the chunker after a bad change."""
    words = " ".join(article.paragraphs).split()
    for number, start in enumerate(range(0, len(words), WINDOW_WORDS), start=1):
        yield _chunk(article, number, " ".join(words[start : start + WINDOW_WORDS]))


def sentences(text: str) -> list[str]:
    """The sentences of a chunk, in order.

    >>> sentences("Returns are free. Use the label!")
    ['Returns are free.', 'Use the label!']
    """
    parts = (part.strip() for part in _SENTENCE_END.split(text))
    return [part for part in parts if part]


def _chunk(article: Article, number: int, text: str) -> Chunk:
    return Chunk(chunk_id=f"{article.article_id}#{number}", article=article, text=text)


def _words(text: str) -> int:
    return len(text.split())
