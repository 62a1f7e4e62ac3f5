"""`/api/v1/evaluations`: golden sets that were asked before a release, beside live traffic."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Protocol, cast

from fastapi import APIRouter, Depends, HTTPException, Query, Request

from ragvigil.store.engine.store import Store
from ragvigil.store.reports import offline_gates, offline_scores
from ragvigil.store.reports.offline_gates import GateRow
from ragvigil.store.reports.offline_scores import OfflineScore
from ragvigil.web.acts import write_act
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.times import point_of_time
from ragvigil.web.views.posts import Accepted
from ragvigil.web.views.reports.evaluations import (
    ComparisonForm,
    EvaluationForm,
    EvaluationPost,
    EvaluationsForm,
    GateForm,
    GatePost,
    GateState,
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
    store = request.app.state.store
    found = offline_scores.runs(store, limit=limit)
    gates = offline_gates.whole(store, [run.run_id for run in found])
    return EvaluationsForm(
        evaluations=[
            view(
                EvaluationForm, run, gate=gate.verdict if (gate := gates.get(run.run_id)) else None
            )
            for run in found
        ]
    )


@router.post(
    "/evaluations/{run_id}/gate",
    summary="Send what the gate said of a run that was sent",
    status_code=201,
    dependencies=[Depends(Requires(Permission.POST))],
)
def send_gate(request: Request, run_id: str, post: GatePost) -> Accepted:
    """It replaces what was sent before of this run."""
    store, person = request.app.state.store, request.state.person
    if not run_id or not offline_scores.runs(store, run_id=run_id, limit=1):
        raise HTTPException(404, f"there is no evaluation {run_id}: send the run first")
    now = int(request.app.state.clock().timestamp() * NANOS)
    offline_gates.write(store, now, _gate_rows(run_id, post, person.name if person else ""))
    write_act(request, "send", f"evaluations/{run_id}")
    return Accepted(id=run_id, matched=True)


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
    online = source.beside_live(found[0], point_of_time(since, request.app.state.clock()))
    gate = _gate(request.app.state.store, run_id)
    run = online.evaluation.model_copy(update={"gate": gate.state if gate else None})
    return online.model_copy(update={"evaluation": run, "gate": gate})


def _gate(store: Store, run_id: str) -> GateForm | None:
    rows = offline_gates.of_run(store, run_id)
    if not rows:
        return None
    (whole,) = (row for row in rows if not row.rubric)
    compared = [view(ComparisonForm, row) for row in rows if row.rubric]
    return GateForm(
        state=cast(GateState, whole.verdict),
        base_release=whole.base_release,
        sentences=list(whole.sentences),
        sender=whole.sender,
        comparisons=sorted(compared, key=_gravity),
    )


def _gravity(each: ComparisonForm) -> tuple[bool, bool, bool, float]:
    """What is worse first, then rubrics over all cases, those that decide first."""
    return each.verdict != "worse", bool(each.dimension), not each.decides, each.new - each.base


def _gate_rows(run_id: str, post: GatePost, sender: str) -> list[GateRow]:
    whole = GateRow(
        run_id=run_id,
        base_release=post.base_release,
        verdict=post.state,
        sentences=tuple(post.sentences),
        sender=sender,
    )
    return [
        whole,
        *(
            GateRow(run_id=run_id, base_release=post.base_release, **each.model_dump())
            for each in post.comparisons
        ),
    ]


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
