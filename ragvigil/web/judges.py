"""How judges stand against people: `/api/v1/judges`, `/api/v1/disagreements`."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request

from ragvigil.web.forms import DisagreementsForm, JudgesForm
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.service import JudgeSource
from ragvigil.web.times import point_of_time

router = APIRouter(prefix="/api/v1")

Name = Annotated[str, Query(max_length=256)]


@router.get(
    "/judges",
    summary="Judges measured by labels: kappa, agreement, state and why, the debiased level",
    dependencies=[Depends(Requires(Permission.READ))],
)
def judges(request: Request, rubric: Name = "") -> JudgesForm:
    """One entry per rubric and judge."""
    source: JudgeSource = request.app.state.judges
    found = JudgesForm.model_validate({"judges": source.judges()})
    return JudgesForm(judges=[one for one in found.judges if rubric in ("", one.rubric)])


@router.get(
    "/disagreements",
    summary="Records worth a person's time: verdicts that do not go together",
    dependencies=[Depends(Requires(Permission.READ))],
)
def disagreements(
    request: Request,
    rubric: Name = "",
    kind: Literal["", "judge_against_person", "judge_against_scorer", "rubric_against_rubric"] = "",
    since: Annotated[
        str,
        Query(max_length=40, description="ISO 8601, epoch seconds, or how long ago: 30m, 6h, 7d"),
    ] = "7d",
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> DisagreementsForm:
    """Judge against person first, then against a cheap scorer, then rubrics; widest gap first."""
    source: JudgeSource = request.app.state.judges
    start = int(point_of_time(since, request.app.state.clock()).timestamp())
    found = DisagreementsForm.model_validate({"disagreements": source.disagreements(start)})
    kept = [
        one
        for one in found.disagreements
        if kind in ("", one.kind) and rubric in ("", one.first.rubric, one.second.rubric)
    ]
    return DisagreementsForm(disagreements=kept[:limit])
