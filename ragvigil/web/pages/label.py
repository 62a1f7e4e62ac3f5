"""The page of labels: is the judge right? Answers to label blind, one a screen."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, StreamingResponse

from ragvigil.store.engine.together import together
from ragvigil.web.api.judges import judges
from ragvigil.web.api.label_queues import (
    label_disputes,
    label_queues,
)
from ragvigil.web.api.labels import label, labels
from ragvigil.web.drawings.agreement import agreement
from ragvigil.web.labelling.forms import label_heading
from ragvigil.web.labelling.table import to_csv
from ragvigil.web.labelling.upload import Uploaded, read_upload
from ragvigil.web.pages.forms import Upload
from ragvigil.web.pages.frame import render
from ragvigil.web.permissions import Permission, Requires

router = APIRouter()

READ = [Depends(Requires(Permission.READ))]
LABEL = [Depends(Requires(Permission.LABEL))]
EVERY = 10_000


@router.get("/label", include_in_schema=False, dependencies=READ, summary="Is the judge right?")
def label_page(request: Request) -> HTMLResponse:
    """Queues with progress, every judge measured, and what to discuss."""
    return _overview(request)


@router.get("/labels.csv", include_in_schema=False, dependencies=READ, summary="Every label as CSV")
def labels_csv(request: Request) -> StreamingResponse:
    """The newest 10,000; `ragvigil labels import` and the page of labels read them again."""
    found = labels(
        request=request, rubric="", labeller="", trace_id="", since="400d", limit=EVERY
    ).labels
    headers = {"content-disposition": 'attachment; filename="labels.csv"'}
    return StreamingResponse(to_csv(found), media_type="text/csv", headers=headers)


@router.post(
    "/label-import", include_in_schema=False, dependencies=LABEL, summary="Labels from a CSV file"
)
def label_import(request: Request, content: Upload) -> HTMLResponse:
    """Says how many labels were read and which lines were not."""
    labeller = request.state.person.name
    done = read_upload(content, labeller, lambda posts: label(request=request, posts=posts))
    return _overview(request, done)


def _overview(request: Request, uploaded: Uploaded | None = None) -> HTMLResponse:
    measured, listed, disputed = together(
        lambda: judges(request=request, rubric="").judges,
        lambda: label_queues(request=request),
        lambda: label_disputes(request=request).disputes,
    )
    return render(
        request,
        "label.html",
        title=label_heading(measured),
        page="label",
        path="/label",
        judges=[(judge, agreement(judge.kappa, judge.low, judge.high)) for judge in measured],
        queues=listed.queues,
        people=listed.people,
        disputes=disputed,
        uploaded=uploaded,
    )
