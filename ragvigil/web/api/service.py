"""The daemon about itself: `/api/v1/status`, `/ledger`, `/doctor`."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Protocol

from fastapi import APIRouter, Depends, Request

from ragvigil.web.labelling.forms import PeopleForm, RubricForm
from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.views.doctor import DoctorForm
from ragvigil.web.views.judges import (
    AlignmentForm,
    DisagreementForm,
    EstimateForm,
    JudgeForm,
)
from ragvigil.web.views.ledger import LedgerForm

router = APIRouter(prefix="/api/v1")


class JudgeSource(Protocol):
    """Measures judges by people's labels; the composition root provides it."""

    def rubrics(self) -> Collection[str]:
        """The rubrics that a label may name; empty where it may name any."""
        ...

    def rubric(self, name: str) -> RubricForm | None:
        """What a person is asked by a rubric, None where there is none of this name."""
        ...

    def people(self) -> Sequence[PeopleForm]:
        """How far people agree, by rubric."""
        ...

    def judges(self) -> Sequence[JudgeForm]:
        """One entry per rubric and judge."""
        ...

    def alignments(self) -> Sequence[AlignmentForm]:
        """The value below which an answer fails, fitted to labels, by rubric and judge."""
        ...

    def disagreements(self, since: int) -> Sequence[DisagreementForm]:
        """Verdicts since a time (seconds since the epoch) that do not agree."""
        ...

    def estimates(self, since: int) -> Sequence[EstimateForm]:
        """Judged means since a time (seconds since the epoch)."""
        ...


class NoJudges:
    """The source where nothing judges: no rubric is known, so that a label may name any."""

    def rubrics(self) -> Collection[str]:
        """None: a label may name any."""
        return ()

    def rubric(self, name: str) -> RubricForm | None:  # noqa: ARG002
        """None."""
        return None

    def people(self) -> Sequence[PeopleForm]:
        """None."""
        return ()

    def judges(self) -> Sequence[JudgeForm]:
        """None."""
        return ()

    def alignments(self) -> Sequence[AlignmentForm]:
        """None."""
        return ()

    def disagreements(self, since: int) -> Sequence[DisagreementForm]:  # noqa: ARG002
        """None."""
        return ()

    def estimates(self, since: int) -> Sequence[EstimateForm]:  # noqa: ARG002
        """None."""
        return ()


@router.get(
    "/status",
    summary="What is received, scored and stored right now",
    dependencies=[Depends(Requires(Permission.READ))],
)
def status(request: Request) -> dict[str, Any]:
    """A mapping a section."""
    return dict(request.app.state.status.status())


@router.get(
    "/ledger",
    summary="What became of every acknowledged span and every trace",
    dependencies=[Depends(Requires(Permission.READ))],
)
def ledger(request: Request) -> LedgerForm:
    """Acknowledged = stored + duplicate + quarantined + lost + not_kept + in_spool."""
    return LedgerForm.model_validate(request.app.state.status.ledger())


@router.get(
    "/doctor",
    summary="What the spans lack, which rubrics that switches off, and the line that fixes it",
    dependencies=[Depends(Requires(Permission.READ))],
)
def doctor(request: Request) -> DoctorForm:
    """Of the last day: one entry per service and instrumentor, and every service with spans."""
    report: DoctorForm = request.app.state.status.doctor()
    return report
