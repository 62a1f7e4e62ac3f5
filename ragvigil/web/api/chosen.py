"""Which answers a request asks for: the same parameters for the API's routes and for pages."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Literal

from fastapi import Depends, HTTPException, Query, Request

from ragvigil.model.score import Kind, Layer
from ragvigil.store.records import record_counts
from ragvigil.store.records.record_filter import LATEST, MOST_WORDS, RecordFilter, Said, needles
from ragvigil.web.api.issues import NoSuchIssue
from ragvigil.web.times import point_of_time

Name = Annotated[str, Query(max_length=256)]
Text = Annotated[
    str,
    Query(
        max_length=500, description='words that all begin a word of question or answer; "phrases"'
    ),
]
Topic = Annotated[
    str, Query(max_length=256, description="the id of a topic; only questions with a vector")
]
RatedAs = Annotated[Said, Query(description="how users rated it; the worst rating counts")]
Since = Annotated[
    str, Query(max_length=40, description="ISO 8601, epoch seconds, or how long ago: 30m, 6h, 7d")
]
Until = Annotated[
    str, Query(max_length=40, description="only answers before this, written as in `since`")
]
DEFAULT_SINCE = "24h"


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """The filter of a request; `is_part` where it looks at the newest part of the time alone.

    `since` is what was asked for: where that moves with the clock, as *a day ago* does, the part
    that is looked at moves with every answer that comes.
    """

    filter: RecordFilter
    since: int
    is_part: bool = False


def scored(
    rubric: Name = "",
    below: Annotated[
        float | None, Query(ge=0, le=1, description="only scores under this; needs no rubric")
    ] = None,
    label: Name = "",
    layer: Annotated[Layer | Literal[""], Query(description="of the score")] = "",
    kind: Annotated[Kind | Literal[""], Query(description="who scored")] = "",
    failed: Annotated[
        bool | None, Query(description="only scores that fail their rubric, or only others")
    ] = None,
) -> RecordFilter:
    """What must hold of one and the same score."""
    return RecordFilter(
        rubric=rubric, below=below, label=label, layer=layer, kind=kind, failed=failed
    )


def chosen(
    request: Request,
    scores: Annotated[RecordFilter, Depends(scored)],
    service: Name = "",
    environment: Name = "",
    route: Name = "",
    issue: Annotated[str, Query(max_length=256, description="the id of an issue")] = "",
    topic: Topic = "",
    said: RatedAs = "",
    model: Name = "",
    prompt_version: Name = "",
    text: Text = "",
    since: Since = DEFAULT_SINCE,
    until: Until = "",
) -> Chosen:
    """The filter of these parameters. Raises HTTPException (422)."""
    begin, end = window(since or DEFAULT_SINCE, until, request.app.state.clock())
    filter_ = replace(
        scores,
        service=service,
        environment=environment,
        route=route,
        issue_ids=_issues(request, issue),
        topic=topic,
        said=said,
        model=model,
        prompt_version=prompt_version,
        text=require_words(text),
        since=begin,
        until=end,
    )
    return bounded(request, filter_)


Asked = Annotated[Chosen, Depends(chosen)]


def window(since: str, until: str, now: datetime) -> tuple[int, int]:
    """The window in seconds since the epoch; it has no end where `until` is empty."""
    begin = min(int(point_of_time(since, now).timestamp()), LATEST)
    end = min(int(point_of_time(until, now, "until").timestamp()), LATEST) if until else LATEST
    if end <= begin:
        raise HTTPException(422, f"query.until: {until or 'now'} is not after since, {since}")
    return begin, end


def bounded(request: Request, filter_: RecordFilter) -> Chosen:
    """The filter with the time that a search for words looks at."""
    if not filter_.text:
        return Chosen(filter=filter_, since=filter_.since)
    since = record_counts.searched_since(request.app.state.store, filter_)
    part = replace(filter_, since=since)
    return Chosen(filter=part, since=filter_.since, is_part=since > filter_.since)


def require_words(text: str) -> str:
    """Returns a text to look for. Raises HTTPException (422) for one without words."""
    found = needles(text)
    if text.strip() and not found:
        raise HTTPException(422, "query.text: there is no word in it")
    if len(found) > MOST_WORDS:
        raise HTTPException(
            422, f"query.text: {len(found)} words; at most {MOST_WORDS} are searched"
        )
    return text


def _issues(request: Request, issue: str) -> tuple[str, ...]:
    source = request.app.state.issues
    if not issue or source is None:
        return (issue,) if issue else ()
    try:
        ids: tuple[str, ...] = source.parts(issue)
    except NoSuchIssue as error:
        raise HTTPException(422, f"query.issue: there is no issue {issue}") from error
    return ids
