"""What the daemon says of itself: `/api/v1/status`, `/ledger`, `/doctor`; and of its judges."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Protocol

from fastapi import APIRouter, Depends, Request

from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.views.forms import LedgerForm

router = APIRouter(prefix="/api/v1")


class JudgeSource(Protocol):
    """How judges stand against people; the composition root provides it."""

    def rubrics(self) -> Collection[str]:
        """The rubrics that a label may name; empty where any may."""
        ...

    def judges(self) -> list[Mapping[str, object]]:
        """One entry per rubric and judge, with the keys of `JudgeForm`."""
        ...

    def disagreements(self, since: int) -> list[Mapping[str, object]]:
        """Those since a time, seconds since the epoch, with the keys of `DisagreementForm`."""
        ...

    def estimates(self, since: int) -> list[Mapping[str, object]]:
        """Judged means since a time, with the keys of `EstimateForm`."""
        ...


class NoJudges:
    """Where nothing judges."""

    def rubrics(self) -> Collection[str]:
        """Any may be named."""
        return ()

    def judges(self) -> list[Mapping[str, object]]:
        """None."""
        return []

    def disagreements(self, since: int) -> list[Mapping[str, object]]:  # noqa: ARG002
        """None."""
        return []

    def estimates(self, since: int) -> list[Mapping[str, object]]:  # noqa: ARG002
        """None."""
        return []


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
    summary="The books: what became of every acknowledged span and every trace",
    dependencies=[Depends(Requires(Permission.READ))],
)
def ledger(request: Request) -> LedgerForm:
    """Acknowledged = stored + duplicate + quarantined + in_spool."""
    return LedgerForm.model_validate(request.app.state.status.ledger())


@router.get(
    "/doctor",
    summary="What the spans lack, which rubrics that switches off, and the line that fixes it",
    dependencies=[Depends(Requires(Permission.READ))],
)
def doctor(request: Request) -> dict[str, Any]:
    """`{"services": [...]}`, one entry per service and instrumentor."""
    return {"services": request.app.state.status.doctor()}
