"""Trusted references: golden cases, and passages of files and web pages, searched by BM25.

    >>> sources = Sources(["Card refunds take 5 to 7 business days.", "The office opens at nine."])
    >>> sources.about("How long does a card refund take?", most=1)
    ('Card refunds take 5 to 7 business days.',)

Passages are ranked by BM25 (lucene's variant, k1 1.2, b 0.75).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

from ragvigil.model.record import RagRecord
from scorers.golden import Case, question_key
from scorers.judge.material import Reference
from scorers.text.tokens import tokens

if TYPE_CHECKING:
    import httpx2

ENDINGS = frozenset({".md", ".txt", ".rst", ".html", ".htm"})
PASSAGE_CHARACTERS = 1_000
MOST_PASSAGES = 5
"""Passages shown to the judge."""
MOST_CHARACTERS = 50_000_000
"""Most bytes of all text files of one source."""
PAGE_SECONDS, PAGE_BYTES = 30.0, 5_000_000
MOST_REDIRECTS = 5
_INVISIBLE_TAGS = frozenset({"script", "style", "noscript", "template", "head"})


class BadSource(ValueError):
    """A source cannot be read; `str(error)` names it and says why."""


class Sources:
    """A search index of passages; leaves out empty ones."""

    def __init__(self, passages: Iterable[str]) -> None:
        import bm25s

        self._passages = [passage for passage in passages if passage.strip()]
        self._words = [tokens(passage) for passage in self._passages]
        self._index = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
        if any(self._words):
            self._index.index(self._words, show_progress=False)

    def __len__(self) -> int:
        return len(self._passages)

    def about(self, text: str, *, most: int) -> tuple[str, ...]:
        """Up to `most` passages that share words with a text, the best match first."""
        # Without a known word there is nothing to rank.
        words = (
            [word for word in tokens(text) if word in self._index.vocab_dict] if len(self) else []
        )
        if not words:
            return ()
        places, scores = self._index.retrieve(
            [words], k=min(most, len(self)), show_progress=False, backend_selection="numpy"
        )
        matches = zip(places[0].tolist(), scores[0].tolist(), strict=True)
        return tuple(self._passages[place] for place, score in matches if score > 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class References:
    """Golden cases by `scorers.golden.question_key`, and trusted sources."""

    cases: Mapping[str, Case] = field(default_factory=dict)
    sources: Sources | None = None

    def of(self, record: RagRecord) -> Reference:
        """What is known about a record; an empty reference if nothing is."""
        case = self.cases.get(question_key(record.query)) if self.cases and record.query else None
        query = f"{record.query or ''} {record.answer or ''}"
        passages = self.sources.about(query, most=MOST_PASSAGES) if self.sources else ()
        return Reference(
            answer=case.gold_answer if case else "",
            facts=case.facts if case else (),
            sources=passages,
        )


def read_sources(named: Iterable[str]) -> Sources:
    """Reads and indexes folders, files and http(s) addresses. Raises BadSource."""
    return Sources(
        passage for source in named for text in _texts(source) for passage in passages_of(text)
    )


def passages_of(text: str) -> Iterator[str]:
    """Yields paragraphs, joined up to PASSAGE_CHARACTERS; splits longer ones at that length."""
    gathered = ""
    for paragraph in text.replace("\r\n", "\n").split("\n\n"):
        if gathered and len(gathered) + len(paragraph) > PASSAGE_CHARACTERS:
            yield gathered.strip()
            gathered = ""
        gathered = f"{gathered}\n\n{paragraph}" if gathered else paragraph
        while len(gathered) > PASSAGE_CHARACTERS:
            yield gathered[:PASSAGE_CHARACTERS].strip()
            gathered = gathered[PASSAGE_CHARACTERS:]
    yield gathered.strip()


def _texts(source: str) -> Iterator[str]:
    if source.startswith(("http://", "https://")):
        yield _page(source)
        return
    path = Path(source)
    if not path.exists():
        raise BadSource(f"{source}: there is no such file or folder")
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    text_files = [file for file in files if file.suffix.lower() in ENDINGS and file.is_file()]
    if not text_files:
        raise BadSource(f"{source}: holds no file that ends in {', '.join(sorted(ENDINGS))}")
    if sum(file.stat().st_size for file in text_files) > MOST_CHARACTERS:
        raise BadSource(f"{source}: holds more than {MOST_CHARACTERS:,} bytes of text")
    for file in text_files:
        try:
            text = file.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise BadSource(f"{file}: cannot be read: {error.strerror or error}") from error
        yield _visible_text(text) if file.suffix.lower().startswith(".htm") else text


def _page(address: str) -> str:
    import httpx2

    try:
        with httpx2.Client(timeout=PAGE_SECONDS) as client:
            reply = client.get(address)
            for _ in range(MOST_REDIRECTS):
                if reply.next_request is None:
                    break
                _require_same_origin(reply.url, reply.next_request.url)
                reply = client.send(reply.next_request)
        reply.raise_for_status()
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise BadSource(f"{address}: cannot be fetched: {error}") from error
    text = reply.text[:PAGE_BYTES]
    return _visible_text(text) if "html" in reply.headers.get("content-type", "") else text


def _require_same_origin(asked: httpx2.URL, target: httpx2.URL) -> None:
    """Raises BadSource for a redirect to another host or port, or from HTTPS to HTTP."""
    is_upgrade = (asked.scheme, target.scheme) == ("http", "https")
    is_same = asked.host == target.host and asked.port == target.port
    if not is_same or (asked.scheme != target.scheme and not is_upgrade):
        raise BadSource(f"{asked}: redirects to {target}; name that address instead")


class _VisibleText(HTMLParser):
    """Collects the visible text of an HTML page."""

    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._hidden_depth = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 (the parser gives it)
        self._hidden_depth += tag in _INVISIBLE_TAGS
        self.parts += ["\n\n"] * (tag in ("p", "div", "li", "tr", "h1", "h2", "h3", "h4", "br"))

    def handle_endtag(self, tag: str) -> None:
        self._hidden_depth = max(0, self._hidden_depth - (tag in _INVISIBLE_TAGS))

    def handle_data(self, data: str) -> None:
        if not self._hidden_depth:
            self.parts.append(data)


def _visible_text(page: str) -> str:
    parser = _VisibleText()
    parser.feed(page)
    return "".join(parser.parts)
