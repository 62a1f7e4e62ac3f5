"""The page of an answer: what happened here, and where did it fail?"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse

from ragvigil.store.engine.together import together
from ragvigil.store.records.same_question import PlacedKey
from ragvigil.web.api import answers as api
from ragvigil.web.drawings.waterfall import waterfall
from ragvigil.web.pages.frame import render
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.views.answer_text import answer_text, shortened
from ragvigil.web.views.answers import page
from ragvigil.web.views.answers.cards import same_question_cards, version_words
from ragvigil.web.views.answers.checks import checks, checks_heading, not_known
from ragvigil.web.views.answers.chunks import chunk_cards, chunks_heading
from ragvigil.web.views.answers.ranking import chunk_flow
from ragvigil.web.views.answers.related import AnswerAndNeighbours, RelatedForm
from ragvigil.web.views.answers.spans import (
    MOST_SPANS,
    SpansForm,
    chosen_span,
    raw_attributes,
    span_facts,
    spans_heading,
    timed,
)

router = APIRouter()

READ = [Depends(Requires(Permission.READ))]
LONGEST = 50_000
"""Characters of an answer that the page shows; the rest is in the JSON."""
Span = Annotated[str, Query(max_length=32, description="the span whose details are shown")]


@router.get(
    "/answers/{record_id}",
    include_in_schema=False,
    summary="What happened here, and where did it fail?",
    dependencies=READ,
)
def answer_page(
    request: Request, record_id: api.RecordId, trace_id: api.OfTrace = "", span: Span = ""
) -> HTMLResponse:
    """One answer, by its id or the first characters of it."""
    return shown(request, api.key_of(request, record_id.lower(), trace_id.lower()), span)


def shown(request: Request, key: PlacedKey, span_id: str) -> HTMLResponse:
    """The page of an answer."""
    (answers, related), spans = together(
        lambda: _answer(request, key), lambda: api.spans(request, key.trace_id)
    )
    record = answers.record
    usual = {(each.rubric, each.segment): each.answers for each in related.usual}
    rows = checks(record.scores, usual)
    text = answer_text(record)
    return render(
        request,
        "answer.html",
        title=" ".join(record.verdict.sentences),
        page="answers",
        record=record,
        version=version_words(record),
        failed_where=page.point_words(record.verdict),
        no_question=page.no_question(record),
        text=shortened(text, LONGEST),
        is_shortened=len(record.answer or "") > LONGEST,
        cut=page.cut_words(record),
        related=related,
        same=same_question_cards(record, related),
        feedback=page.feedback_words(record.feedback),
        chunks_heading=chunks_heading(record),
        measures=page.measures(record),
        flow=chunk_flow(record),
        cards=chunk_cards(record),
        checks=rows,
        checks_heading=checks_heading(rows),
        not_known=not_known(rows),
        curl=curl_of(request, f"traces/{record.trace_id}"),
        **spans_shown(request, spans, span_id),
    )


def _answer(request: Request, key: PlacedKey) -> tuple[AnswerAndNeighbours, RelatedForm]:
    answers = api.with_neighbours(request, key)
    return answers, api.related_to(request, answers)


def spans_shown(request: Request, form: SpansForm, span_id: str) -> dict[str, Any]:
    """What the waterfall shows, and the span that was chosen."""
    spans, trace_id = form.spans, form.trace_id
    chosen = chosen_span(spans, span_id)
    shown = chosen.span_id if chosen else ""
    return {
        "drawn": waterfall(timed(spans)),
        "spans_heading": spans_heading(spans, form.not_kept),
        "spans_not_kept": form.not_kept,
        "more_spans": max(0, len(spans) - MOST_SPANS),
        "span": chosen,
        "span_facts": list(span_facts(chosen, spans)) if chosen else [],
        "raw": raw_attributes(chosen) if chosen else [],
        "links": page.links(request.app.state.open_in, trace_id, shown),
    }


def curl_of(request: Request, path: str) -> str:
    """The command that reads a resource of the API."""
    base = request.app.state.base or f"{request.url.scheme}://{request.url.netloc}"
    return f'curl -H "authorization: Bearer $RAGVIGIL_TOKEN" {base}/api/v1/{path}'
