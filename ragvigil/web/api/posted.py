"""Feedback and deploy marks: `/api/v1/feedback`, `/api/v1/deploys`."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from ragvigil.store.watch import deploys as stored
from ragvigil.web.acts import write_act
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.times import point_of_time
from ragvigil.web.views import writing
from ragvigil.web.views.posts import Accepted, DeployForm, DeployPost, DeploysForm, FeedbackPost
from ragvigil.web.views.values import view

router = APIRouter(prefix="/api/v1")


@router.post(
    "/feedback",
    summary="A user's feedback on an answer: thumbs, escalation, correction, retry",
    status_code=201,
    responses={202: {"model": Accepted, "description": "Kept; the answer is not stored yet."}},
    dependencies=[Depends(Requires(Permission.POST))],
)
def feedback(request: Request, response: Response, post: FeedbackPost) -> Accepted:
    """201 where the answer is stored, 202 where it is not yet.

    Feedback often arrives before the spans of its answer do.
    """
    accepted = writing.feedback(request.app.state.store, post, request.app.state.clock())
    response.status_code = 201 if accepted.matched else 202
    return accepted


@router.post(
    "/deploys",
    summary="Mark a change of a service by hand",
    status_code=201,
    dependencies=[Depends(Requires(Permission.POST))],
)
def mark_deploy(request: Request, post: DeployPost) -> Accepted:
    """Posting the same mark again changes nothing."""
    accepted = writing.deploy(request.app.state.store, post, request.app.state.clock())
    write_act(request, "mark", f"deploys/{accepted.id}")
    return accepted


@router.get(
    "/deploys",
    summary="Deploy marks",
    dependencies=[Depends(Requires(Permission.READ))],
)
def deploys(
    request: Request,
    service: Annotated[str, Query(max_length=256)] = "",
    since: Annotated[
        str,
        Query(max_length=40, description="ISO 8601, epoch seconds, or how long ago: 30m, 6h, 7d"),
    ] = "30d",
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> DeploysForm:
    """Newest first."""
    start = int(point_of_time(since, request.app.state.clock()).timestamp())
    marks = stored.find(request.app.state.store, service=service, since=start, limit=limit)
    return DeploysForm(deploys=[view(DeployForm, mark, id=mark.deploy_id) for mark in marks])
