"""The page of a trace: its answer, its answers, or its spans alone, and why it has none."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse

from ragvigil.store.engine.together import together
from ragvigil.store.records.same_question import keys_of
from ragvigil.web.api import answers as api
from ragvigil.web.api import records as records_api
from ragvigil.web.pages.answer import Span, curl_of, shown, spans_shown
from ragvigil.web.pages.frame import render
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.views.answers import page
from ragvigil.web.views.answers.cards import answer_card

router = APIRouter()


@router.get(
    "/traces/{trace_id}",
    include_in_schema=False,
    summary="A trace: its answer, its answers, or its spans alone",
    dependencies=[Depends(Requires(Permission.READ))],
)
def trace_page(request: Request, trace_id: records_api.TraceId, span: Span = "") -> HTMLResponse:
    """The page of its answer where it has one."""
    keys = keys_of(request.app.state.store, "", trace_id=trace_id.lower())
    if len(keys) == 1:
        return shown(request, keys[0], span)
    whole, spans = together(
        lambda: records_api.trace(request, trace_id), lambda: api.spans(request, trace_id)
    )
    records = whole.records
    return render(
        request,
        "trace.html",
        title=f"This trace holds {len(records)} answers" if records else "No answer in this trace",
        page="answers",
        trace_id=trace_id.lower(),
        cards=[answer_card(record) for record in records],
        why=page.why_no_answer(spans.spans, spans.not_kept),
        curl=curl_of(request, f"traces/{trace_id.lower()}"),
        **spans_shown(request, spans, span),
    )
