"""People's verdicts on answers, rubric by rubric: `/api/v1/labels`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request

from ragvigil.store.scores import labels as stored
from ragvigil.web.acts import write_act
from ragvigil.web.api.service import JudgeSource
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.times import point_of_time
from ragvigil.web.views import writing
from ragvigil.web.views.labels import LabelForm, LabelsForm, label_form
from ragvigil.web.views.posts import LabelPost, LabelPosts, LabelsAccepted

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

router = APIRouter(prefix="/api/v1")

Name = Annotated[str, Query(max_length=256)]


@router.post(
    "/labels",
    summary="A person's verdict on an answer by one rubric, or a list of them",
    status_code=201,
    dependencies=[Depends(Requires(Permission.LABEL))],
)
def label(request: Request, posts: LabelPosts) -> LabelsAccepted:
    """Stores all labels or none; posting the same labels again changes nothing."""
    listed = posts if isinstance(posts, list) else [posts]
    judges: JudgeSource = request.app.state.judges
    known = judges.rubrics()
    for index, post in enumerate(listed):
        if known and post.rubric not in known:
            raise HTTPException(
                422,
                f"label {index + 1}: there is no rubric {post.rubric}; "
                f"there are {', '.join(sorted(known))}",
            )
    store, labeller = request.app.state.store, request.state.person.name
    _require_own(store, listed, labeller)
    accepted = writing.labels(store, listed, labeller, request.app.state.clock())
    for trace_id in dict.fromkeys(post.trace_id.lower() for post in listed):
        write_act(request, "label", f"traces/{trace_id}")
    return LabelsAccepted(labels=accepted)


def _require_own(store: Store, posts: Sequence[LabelPost], labeller: str) -> None:
    """Raises HTTPException (403) where a label of somebody else has an id of these."""
    ids = [post.label_id for post in posts if post.label_id]
    others = [label for label in stored.of_ids(store, ids) if label.labeller != labeller]
    if others:
        raise HTTPException(403, f"{others[0].label_id} is the id of a label of somebody else")


@router.post(
    "/labels/{label_id}/take-back",
    summary="Take back a label of yours",
    dependencies=[Depends(Requires(Permission.LABEL))],
)
def take_back(request: Request, label_id: Annotated[str, Path(max_length=256)]) -> LabelForm:
    """The answer is as if you had not labelled it: it comes back in its queue."""
    store, now = request.app.state.store, request.app.state.clock()
    matches = stored.find(store, stored.LabelFilter(label_id=label_id, limit=1))
    if not matches:
        raise HTTPException(404, f"there is no label {label_id}")
    if matches[0].labeller != request.state.person.name:
        raise HTTPException(403, "only who gave a label takes it back")
    writing.take_back(store, matches[0], now)
    write_act(request, "take back", f"traces/{matches[0].trace_id}")
    return label_form(matches[0])


@router.get(
    "/labels",
    summary="People's verdicts on answers",
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
    """Newest first. An empty filter matches everything."""
    filter_ = stored.LabelFilter(
        rubric=rubric,
        trace_id=trace_id.lower(),
        labeller=labeller,
        since=int(point_of_time(since, request.app.state.clock()).timestamp()),
        limit=limit,
    )
    found = stored.find(request.app.state.store, filter_)
    return LabelsForm(labels=[label_form(label) for label in found])
