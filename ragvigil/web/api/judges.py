"""How judges stand against people: `/api/v1/judges`, `/api/v1/disagreements`."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query, Request
from pydantic import BaseModel, Field

from ragvigil.model.score import Layer
from ragvigil.web.api.service import JudgeSource
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.times import point_of_time
from ragvigil.web.views.forms import DisagreementsForm, JudgesForm

router = APIRouter(prefix="/api/v1")

Name = Annotated[str, Query(max_length=256)]
Since = Annotated[
    str,
    Query(max_length=40, description="ISO 8601, epoch seconds, or how long ago: 30m, 6h, 7d"),
]


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


class EstimateForm(BaseModel):
    """A judged mean of one series, corrected by what local models say of all its records."""

    service: str
    environment: str
    route: str
    rubric: str
    layer: Layer
    segment: str = Field(description="versions of rubric and judge")
    records: int = Field(description="records that were judged or scored by a local model")
    n: int = Field(description="records that were judged")
    plain_mean: float = Field(description="of the judged records alone")
    mean: float
    low: float = Field(description="of the 95 % interval")
    high: float
    n_effective: float = Field(description="judged records that would say as much alone")
    slope: float = Field(description="0 where no local score helped")


class EstimatesForm(BaseModel):
    """By service, environment, route and rubric."""

    estimates: list[EstimateForm]


@router.get(
    "/estimates",
    summary="Judged means with their intervals, helped by local scores of the other records",
    dependencies=[Depends(Requires(Permission.READ))],
)
def estimates(request: Request, rubric: Name = "", since: Since = "24h") -> EstimatesForm:
    """One entry per judged series."""
    source: JudgeSource = request.app.state.judges
    start = int(point_of_time(since, request.app.state.clock()).timestamp())
    found = EstimatesForm.model_validate({"estimates": source.estimates(start)})
    return EstimatesForm(estimates=[one for one in found.estimates if rubric in ("", one.rubric)])


@router.get(
    "/disagreements",
    summary="Records worth a person's time: verdicts that do not go together",
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
    found = DisagreementsForm.model_validate({"disagreements": source.disagreements(start)})
    kept = [
        one
        for one in found.disagreements
        if kind in ("", one.kind) and rubric in ("", one.first.rubric, one.second.rubric)
    ]
    return DisagreementsForm(disagreements=kept[:limit])
