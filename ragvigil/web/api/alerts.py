"""Tests whether an alert reaches whoever is on call: `/api/v1/alerts/test`."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Protocol

from fastapi import APIRouter, Depends, HTTPException, Request
from pydantic import BaseModel, Field

from ragvigil.web.acts import write_act
from ragvigil.web.permissions import Permission, Requires

router = APIRouter(prefix="/api/v1")

TEST_SECONDS = 300


class AlertSource(Protocol):
    """Raises alerts; the composition root provides it."""

    def test_alert(self, until: float) -> None:
        """Sets `ragvigil_alert_test` to 1 until a time, seconds since the epoch."""
        ...


class AlertTestForm(BaseModel):
    """A test that has begun."""

    alert: str = Field(description="the rule that fires")
    metric: str = Field(description="the metric that is 1")
    until: datetime = Field(description="when it ends by itself")


@router.post(
    "/alerts/test",
    summary="Raise the test alert for five minutes",
    status_code=202,
    dependencies=[Depends(Requires(Permission.TRIAGE))],
)
def test_alert(request: Request) -> AlertTestForm:
    """Changes nothing else; a second test starts the five minutes again."""
    source: AlertSource | None = request.app.state.alerts
    if source is None:
        raise HTTPException(404, "no alerts are raised here: the watch does not run")
    until = request.app.state.clock() + timedelta(seconds=TEST_SECONDS)
    source.test_alert(until.timestamp())
    write_act(request, "test", "alerts")
    return AlertTestForm(alert="RagvigilTestAlert", metric="ragvigil_alert_test", until=until)
