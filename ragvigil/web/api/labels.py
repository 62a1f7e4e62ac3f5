"""What people say of answers, rubric by rubric: `/api/v1/labels`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Query, Request

from ragvigil.store.scores import labels as stored
from ragvigil.web.api.service import JudgeSource
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.times import point_of_time
from ragvigil.web.views import reading, writing
from ragvigil.web.views.forms import LabelsForm
from ragvigil.web.views.posts import LabelPosts, LabelsAccepted

router = APIRouter(prefix="/api/v1")

Name = Annotated[str, Query(max_length=256)]


@router.post(
    "/labels",
    summary="A person's verdict on an answer by one rubric, or a list of them",
    status_code=201,
    dependencies=[Depends(Requires(Permission.LABEL))],
)
def label(request: Request, posts: LabelPosts) -> LabelsAccepted:
    """All or none are stored; the same labels again change nothing."""
    many = posts if isinstance(posts, list) else [posts]
    judges: JudgeSource = request.app.state.judges
    known = judges.rubrics()
    for place, post in enumerate(many):
        if known and post.rubric not in known:
            raise HTTPException(
                422,
                f"label {place + 1}: there is no rubric {post.rubric}; "
                f"there are {', '.join(sorted(known))}",
            )
    accepted = writing.labels(request.app.state.store, many, request.app.state.clock())
    return LabelsAccepted(labels=accepted)


@router.get(
    "/labels",
    summary="What people said of answers",
    dependencies=[Depends(Requires(Permission.READ))],
)
def labels(
    request: Request,
    rubric: Name = "",
    labeller: Name = "",
    trace_id: Annotated[str, Query(pattern="^([0-9a-fA-F]{32})?$")] = "",
    since: Annotated[
        str,
        Query(max_length=40, description="ISO 8601, epoch seconds, or how long ago: 30m, 6h, 7d"),
    ] = "400d",
    limit: Annotated[int, Query(ge=1, le=10_000)] = 100,
) -> LabelsForm:
    """Newest first. An empty filter is none."""
    wanted = stored.LabelFilter(
        rubric=rubric,
        trace_id=trace_id.lower(),
        labeller=labeller,
        since=int(point_of_time(since, request.app.state.clock()).timestamp()),
        limit=limit,
    )
    found = stored.find(request.app.state.store, wanted)
    return LabelsForm(labels=[reading.label_form(one) for one in found])
