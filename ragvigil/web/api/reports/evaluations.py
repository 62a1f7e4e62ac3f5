"""`/api/v1/evaluations`: golden sets that were asked before a release, beside live traffic."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Protocol

from fastapi import APIRouter, Depends, HTTPException, Query, Request

from ragvigil.store.reports import offline_scores
from ragvigil.store.reports.offline_scores import OfflineScore
from ragvigil.web.acts import write_act
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.times import point_of_time
from ragvigil.web.views.posts import Accepted
from ragvigil.web.views.reports.evaluations import (
    EvaluationForm,
    EvaluationPost,
    EvaluationsForm,
    OnlineForm,
)
from ragvigil.web.views.values import view

router = APIRouter(prefix="/api/v1")
NANOS = 10**9
READ = [Depends(Requires(Permission.READ))]


class ComparisonSource(Protocol):
    """Compares a run with live traffic; the composition root provides it."""

    def beside_live(self, run: offline_scores.OfflineRun, since: datetime) -> OnlineForm:
        """The run beside live answers since a time. Raises StoreError."""
        ...


@router.post(
    "/evaluations",
    summary="Send the scores of a golden set that was asked before a release",
    status_code=201,
    dependencies=[Depends(Requires(Permission.POST))],
)
def send(request: Request, post: EvaluationPost) -> Accepted:
    """They are kept apart from live scores: no live mean, alert or delta reads them.

    A part of a run is sent under the run's id; what is sent again replaces itself.
    """
    store, person = request.app.state.store, request.state.person
    now = int(request.app.state.clock().timestamp() * NANOS)
    offline_scores.write(store, now, _scores(post, person.name if person else ""))
    write_act(request, "send", f"evaluations/{post.run_id}")
    return Accepted(id=post.run_id, matched=True)


@router.get(
    "/evaluations", summary="Golden sets that were asked before releases", dependencies=READ
)
def evaluations(
    request: Request, limit: Annotated[int, Query(ge=1, le=1000)] = 100
) -> EvaluationsForm:
    """Newest first."""
    found = offline_scores.runs(request.app.state.store, limit=limit)
    return EvaluationsForm(evaluations=[view(EvaluationForm, run) for run in found])


@router.get(
    "/evaluations/{run_id}",
    summary="A run beside live traffic: gaps of each rubric and route, topics without a case",
    dependencies=READ,
)
def evaluation(
    request: Request,
    run_id: str,
    since: Annotated[
        str,
        Query(max_length=40, description="ISO 8601, epoch seconds, or how long ago: 30m, 6h, 7d"),
    ] = "7d",
) -> OnlineForm:
    """Compared are live answers of the run's release; without a release, of any."""
    source: ComparisonSource | None = request.app.state.comparing
    found = offline_scores.runs(request.app.state.store, run_id=run_id, limit=1) if run_id else []
    if source is None or not found:
        raise HTTPException(404, f"there is no evaluation {run_id}")
    return source.beside_live(found[0], point_of_time(since, request.app.state.clock()))


def _scores(post: EvaluationPost, sender: str) -> list[OfflineScore]:
    return [
        OfflineScore(
            run_id=post.run_id,
            ran_unix_nano=int(post.ran.timestamp() * NANOS),
            set_name=post.set_name,
            set_hash=post.set_hash,
            target=post.target,
            release=post.release,
            service=case.service,
            environment=case.environment,
            route=case.route,
            case_id=case.case_id,
            question=case.question,
            condition=case.condition,
            reading=case.reading,
            rubric=rubric,
            value=value,
            sender=sender,
        )
        for case in post.cases
        for rubric, value in {"": float(not case.reading), **case.values}.items()
    ]
