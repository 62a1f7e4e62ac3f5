"""What the daemon knows of itself: `/api/v1/health-report`, `/api/v1/settings`."""

from __future__ import annotations

from typing import Protocol

from fastapi import APIRouter, Depends, HTTPException, Request

from ragvigil.web.permissions import Permission, Requires
from ragvigil.web.views.health.report import HealthReportForm, SettingsForm

router = APIRouter(prefix="/api/v1")


class HealthSource(Protocol):
    """Knows the daemon's jobs and settings; the composition root provides it."""

    def report(self) -> HealthReportForm:
        """What stands beside status, ledger and doctor. Raises StoreError."""
        ...

    def settings(self) -> SettingsForm:
        """Every setting in force, secrets masked."""
        ...


def _source(request: Request) -> HealthSource:
    source: HealthSource | None = request.app.state.health
    if source is None:
        raise HTTPException(404, "this daemon tells nothing of its jobs and settings")
    return source


@router.get(
    "/health-report",
    summary="Jobs, warnings of settings, what was set aside, the canary, what judging would cost",
    dependencies=[Depends(Requires(Permission.READ))],
)
def health_report(request: Request) -> HealthReportForm:
    """The newest state; slow parts are kept for a minute."""
    return _source(request).report()


@router.get(
    "/settings",
    summary="Every setting in force, secrets masked, and where it comes from",
    dependencies=[Depends(Requires(Permission.ADMINISTER))],
)
def settings(request: Request) -> SettingsForm:
    """As `ragvigil check --all` prints them."""
    return _source(request).settings()
