"""Judges measured by people's labels: `/api/v1/judges`, `/estimates`, `/disagreements`."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request

from ragvigil.web.api.service import JudgeSource
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.times import point_of_time
from ragvigil.web.views.judges import (
    AlignmentsForm,
    DisagreementsForm,
    EstimatesForm,
    JudgesForm,
)

router = APIRouter(prefix="/api/v1")

Name = Annotated[str, Query(max_length=256)]
Since = Annotated[
    str,
    Query(max_length=40, description="ISO 8601, epoch seconds, or how long ago: 30m, 6h, 7d"),
]


@router.get(
    "/judges",
    summary="Judges measured by labels: kappa, agreement, state and why, the corrected mean",
    dependencies=[Depends(Requires(Permission.READ))],
)
def judges(request: Request, rubric: Name = "") -> JudgesForm:
    """One entry per rubric and judge."""
    source: JudgeSource = request.app.state.judges
    return JudgesForm(judges=[judge for judge in source.judges() if rubric in ("", judge.rubric)])


@router.get(
    "/judge-alignments",
    summary="The value below which an answer fails, fitted to people's labels: kappa before, after",
    dependencies=[Depends(Requires(Permission.READ))],
)
def alignments(request: Request, rubric: Name = "") -> AlignmentsForm:
    """One entry per rubric and judge with labels. Changes nothing."""
    source: JudgeSource = request.app.state.judges
    found = [each for each in source.alignments() if rubric in ("", each.rubric)]
    return AlignmentsForm(alignments=found)


@router.get(
    "/estimates",
    summary="Judged means with their intervals, corrected by local scores of all answers",
    dependencies=[Depends(Requires(Permission.READ))],
)
def estimates(request: Request, rubric: Name = "", since: Since = "24h") -> EstimatesForm:
    """One entry per service, environment, route, rubric and judge."""
    source: JudgeSource = request.app.state.judges
    start = int(point_of_time(since, request.app.state.clock()).timestamp())
    found = [each for each in source.estimates(start) if rubric in ("", each.rubric)]
    return EstimatesForm(estimates=found)


@router.get(
    "/disagreements",
    summary="Answers worth a person's time: their verdicts do not agree",
    dependencies=[Depends(Requires(Permission.READ))],
)
def disagreements(
    request: Request,
    rubric: Name = "",
    kind: Literal["", "judge_against_person", "judge_against_scorer", "rubric_against_rubric"] = "",
    since: Since = "7d",
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> DisagreementsForm:
    """Judge against person first, then against a cheap scorer, then rubrics; widest gap first."""
    source: JudgeSource = request.app.state.judges
    start = int(point_of_time(since, request.app.state.clock()).timestamp())
    matches = [
        each
        for each in source.disagreements(start)
        if kind in ("", each.kind) and rubric in ("", each.first.rubric, each.second.rubric)
    ]
    return DisagreementsForm(disagreements=matches[:limit])
