"""Queues of answers for people to label: `/api/v1/label-queues`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from fastapi import APIRouter, Depends, HTTPException, Request

from ragvigil.web.api.service import JudgeSource
from ragvigil.web.labelling.disputes import disputes
from ragvigil.web.labelling.forms import (
    DisputesForm,
    LabelQueuesForm,
    NextAnswerForm,
    RubricForm,
    plain_rubric,
)
from ragvigil.web.labelling.queues import contents, labelled_by, next_answer, progress
from ragvigil.web.labelling.rules import DAY, LabelQueue
from ragvigil.web.permissions import Permission, Requires

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store

router = APIRouter(prefix="/api/v1")

DISPUTE_DAYS = 30


@router.get(
    "/label-queues",
    summary="Queues of answers for people to label, and how far you have come in them",
    dependencies=[Depends(Requires(Permission.READ))],
)
def label_queues(request: Request) -> LabelQueuesForm:
    """In the order of the settings; with them, how far people agree with one another."""
    state = request.app.state
    store: Store = state.store
    judges: JudgeSource = state.judges
    now = int(state.clock().timestamp())
    labeller = request.state.person.name
    rubrics = dict.fromkeys(queue.rubric for queue in state.label_queues)
    mine = {rubric: labelled_by(store, labeller, rubric) for rubric in rubrics}
    return LabelQueuesForm(
        queues=[
            progress(queue, contents(store, queue, judges.disagreements, now), mine[queue.rubric])
            for queue in state.label_queues
        ],
        people=list(judges.people()),
    )


@router.get(
    "/label-queues/{name}/next",
    summary="The next answer for you to label, without anybody's verdict on it",
    dependencies=[Depends(Requires(Permission.LABEL))],
)
def next_to_label(request: Request, name: str) -> NextAnswerForm:
    """An answer that you have labelled by the queue's rubric does not come back."""
    state = request.app.state
    queue = queue_named(request, name)
    judges: JudgeSource = state.judges
    now = int(state.clock().timestamp())
    answers = contents(state.store, queue, judges.disagreements, now)
    mine = labelled_by(state.store, request.state.person.name, queue.rubric)
    form, rubric = progress(queue, answers, mine), rubric_of(judges, queue.rubric)
    shows_retrieved = rubric.shows_retrieved
    is_left = form.done < form.total
    return NextAnswerForm(
        queue=form,
        rubric=rubric,
        answer=next_answer(state.store, answers, mine, shows_retrieved=shows_retrieved)
        if is_left
        else None,
    )


@router.get(
    "/label-disputes",
    summary="Answers that you labelled, where the judge or another person says otherwise",
    dependencies=[Depends(Requires(Permission.READ))],
)
def label_disputes(request: Request) -> DisputesForm:
    """Of the last 30 days. What you have not labelled is left out: you label it blind."""
    state = request.app.state
    since = int(state.clock().timestamp()) - DISPUTE_DAYS * DAY
    found = state.judges.disagreements(since)
    return DisputesForm(disputes=disputes(state.store, found, request.state.person.name, since))


def rubric_of(judges: JudgeSource, name: str) -> RubricForm:
    """What a person is asked by a rubric."""
    return judges.rubric(name) or plain_rubric(name)


def queue_named(request: Request, name: str) -> LabelQueue:
    """A queue of the settings. Raises HTTPException (404)."""
    queues: Sequence[LabelQueue] = request.app.state.label_queues
    for queue in queues:
        if queue.name == name:
            return queue
    raise HTTPException(404, f"there is no queue {name}; see [web] label_queues")
