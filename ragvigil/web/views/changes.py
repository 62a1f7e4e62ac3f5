"""What changed on a route while a chart runs: a letter, words and a time each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from string import ascii_uppercase
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from ragvigil.model.deploy import Deploy
from ragvigil.model.notice import MARK, ChangeKind, Notice
from ragvigil.store.watch import deploys, notices
from ragvigil.web.views.values import EPOCH

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

NANOS = 10**9
TOGETHER_NANOS = 600 * NANOS
"""The same change on several routes within this time is one change."""
MOST_CHANGES = 9
WORDS = {
    ChangeKind.DOCUMENTS: "documents",
    ChangeKind.CHUNK_COUNT: "chunks",
    ChangeKind.EMBEDDING_MODEL: "embedding model",
    ChangeKind.INDEX: "index",
    ChangeKind.LLM_MODEL: "model",
    ChangeKind.MAX_TOKENS: "max tokens",
    ChangeKind.TOP_K: "top k",
    # Their values are sentences.
    ChangeKind.OTHER_CHUNKS: "",
    ChangeKind.OTHER_ORDER: "",
    ChangeKind.RERANKED: "",
}
"""Kinds whose names are no words; the others' are."""


class ChangeForm(BaseModel):
    """A change, as charts mark it and texts name it."""

    letter: str = Field(description="the newest change is A; the same in charts and texts")
    id: str
    kind: str = Field(description="of a notice, or what a deploy mark says that changed")
    time: datetime = Field(description="of the first request that shows it, or of the mark")
    words: str
    routes: list[str] = Field(description="on which it was noticed; empty of a deploy mark")
    is_declared: bool = Field(description="whether somebody said so: a mark, or a release")
    ids: list[str] = Field(description="of its notices, as incidents name their suspects")
    service: str
    environment: str = Field(description="empty of a mark for all environments")
    before: str
    after: str
    noticed: datetime | None = Field(description="when it was certain; null for a mark")
    requests: int = Field(description="requests of the route until it was certain")
    share: float = Field(description="of the newest requests: under 1 while it rolls out")


def changes_of(
    store: Store, *, service: str, environment: str, route: str | None, begin: int, end: int
) -> list[ChangeForm]:
    """The newest MOST_CHANGES changes of begin..end (seconds since the epoch), newest first.

    An empty service or environment is all of them, and so is a route that is None. A deploy mark
    without an environment is of all environments.
    """
    noticed = notices.find(store, service=service, route=route or "", since=begin)
    marks = deploys.find(store, service=service, since=begin)
    return changes(
        (
            notice
            for notice in noticed
            if environment in ("", notice.environment) and route in (None, notice.route)
        ),
        (mark for mark in marks if environment in ("", mark.environment) or not mark.environment),
        until_nanos=end * NANOS,
    )


def changes(
    noticed: Iterable[Notice],
    marks: Iterable[Deploy],
    *,
    until_nanos: int,
    most: int = MOST_CHANGES,
) -> list[ChangeForm]:
    """Notices and marks as changes with letters, newest first.

    A release that was also marked is named once, by its mark.
    """
    marks = [mark for mark in marks if mark.time_unix_nano < until_nanos]
    marked = {mark.version for mark in marks if mark.version}
    seen = [
        notice
        for notice in noticed
        if notice.since_unix_nano < until_nanos
        and not (notice.kind is ChangeKind.RELEASE and notice.after in marked)
    ]
    both = [*map(_of_notices, _together(seen)), *map(_of_mark, marks)]
    both.sort(key=lambda change: (change.time, change.id), reverse=True)
    return [
        change.model_copy(update={"letter": letter})
        for letter, change in zip(ascii_uppercase, both[:most], strict=False)
    ]


def change_words(kind: ChangeKind, before: str, after: str) -> str:
    """A noticed change in a few words.

    >>> change_words(ChangeKind.PROMPT, "v3", "v5"), change_words(ChangeKind.RECHUNKED, "", "")
    ('prompt v3 → v5', 're-chunked')
    """
    name = WORDS.get(kind, str(kind)) if before or after else str(kind).replace("_", " ")
    if not before or not after:
        return f"{name} {before or after}".strip()
    return f"{name} {before} → {after}".strip()


def _together(noticed: Sequence[Notice]) -> list[list[Notice]]:
    groups: list[list[Notice]] = []
    for notice in sorted(noticed, key=lambda notice: notice.since_unix_nano):
        for group in groups:
            first = group[0]
            is_same = (first.kind, first.before, first.after, first.service) == (
                notice.kind, notice.before, notice.after, notice.service
            )  # fmt: skip
            if is_same and notice.since_unix_nano - first.since_unix_nano < TOGETHER_NANOS:
                group.append(notice)
                break
        else:
            groups.append([notice])
    return groups


def _of_notices(group: Sequence[Notice]) -> ChangeForm:
    first = group[0]
    return ChangeForm(
        letter="",
        id=first.notice_id,
        kind=first.kind,
        time=_time(first.since_unix_nano),
        words=change_words(first.kind, first.before, first.after),
        routes=sorted({notice.route for notice in group}),
        is_declared=first.is_declared,
        ids=[notice.notice_id for notice in group],
        service=first.service,
        environment=first.environment,
        before=first.before,
        after=first.after,
        noticed=_time(first.noticed_unix_nano),
        requests=first.requests,
        share=min(notice.share for notice in group),
    )


def _of_mark(mark: Deploy) -> ChangeForm:
    name = "release" if mark.kind == "deploy" else mark.kind
    return ChangeForm(
        letter="",
        id=mark.deploy_id,
        kind=mark.kind,
        time=_time(mark.time_unix_nano),
        words=f"{name} {mark.version}".strip() or mark.description or name,
        routes=[],
        is_declared=True,
        ids=[f"{MARK}{mark.deploy_id}"],
        service=mark.service,
        environment=mark.environment,
        before="",
        after=mark.version,
        noticed=None,
        requests=0,
        share=1.0,
    )


def _time(nanos: int) -> datetime:
    return EPOCH + timedelta(microseconds=nanos // 1000)
