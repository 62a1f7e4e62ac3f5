"""The help centre of Brewlark, an invented coffee shop: articles, their old versions, questions."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date
from pathlib import Path

HERE = Path(__file__).parent

TOPICS_BY_ROUTE: dict[str, frozenset[str]] = {
    "/refunds/ask": frozenset({"refunds", "warranty"}),
    "/shipping/ask": frozenset({"shipping", "customs"}),
    "/billing/ask": frozenset({"billing", "giftcards"}),
    "/account/ask": frozenset({"account", "privacy"}),
    "/chat": frozenset(),
}
"""Which articles a route searches; the empty set means all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Article:
    """One page of the help centre."""

    article_id: str
    title: str
    topic: str
    language: str
    updated: date
    paragraphs: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Something a customer asks; `article_id` answers it, None where nothing does."""

    route: str
    language: str
    text: str
    article_id: str | None


def load_articles(*, stale: bool = False, injected: bool = False) -> tuple[Article, ...]:
    """The articles in order of id.

    `stale` puts the archived version of an article in the place of the current one, as a
    restored backup would; `injected` adds community pages that carry instructions to the model.
    """
    articles = _read_folder("current")
    if stale:
        articles |= _read_folder("archive")
    if injected:
        articles |= _read_folder("injected")
    return tuple(articles[key] for key in sorted(articles))


def load_questions() -> tuple[Question, ...]:
    """All questions of the load driver, in the order of the file."""
    lines = (HERE / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return tuple(_question(json.loads(line)) for line in lines)


def _read_folder(name: str) -> dict[str, Article]:
    articles = (_article(path) for path in (HERE / "articles" / name).glob("*.md"))
    return {article.article_id: article for article in articles}


def _article(path: Path) -> Article:
    _, head, body = path.read_text(encoding="utf-8").split("---\n", 2)
    fields = dict(line.split(": ", 1) for line in head.strip().splitlines())
    return Article(
        article_id=fields["id"],
        title=fields["title"],
        topic=fields["topic"],
        language=fields["language"],
        updated=date.fromisoformat(fields["updated"]),
        paragraphs=tuple(part.strip() for part in body.strip().split("\n\n")),
    )


def _question(row: dict[str, str | None]) -> Question:
    return Question(
        route=row["route"] or "",
        language=row["language"] or "",
        text=row["question"] or "",
        article_id=row["article"],
    )
