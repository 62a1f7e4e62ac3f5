"""What computes the reports; the composition root provides it."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from fastapi import HTTPException, Request

from ragvigil.web.views.reports.proxies import ProxiesForm
from ragvigil.web.views.reports.releases import ReleasesForm
from ragvigil.web.views.reports.sessions import SessionsForm
from ragvigil.web.views.reports.slices import SlicesForm


class ReportSource(Protocol):
    """Reads the store on request; nothing runs by the clock. All raise StoreError."""

    def proxies(self, since: datetime, service: str) -> ProxiesForm:
        """Each rubric against what users said since a time, of a service or of all."""
        ...

    def slices(self, now: datetime, service: str) -> SlicesForm:
        """Each slice against its past at the last full hour, of a service or of all."""
        ...

    def releases(self, since: datetime, now: datetime, service: str) -> ReleasesForm:
        """Each version by slice since a time, of a service or of all."""
        ...

    def sessions(self, since: datetime, now: datetime, service: str) -> SessionsForm:
        """Sessions with an answer since a time that are over, of a service or of all."""
        ...


def report_source(request: Request) -> ReportSource:
    """The source. Raises HTTPException (404) where the daemon has none."""
    source: ReportSource | None = request.app.state.reports
    if source is None:
        raise HTTPException(404, "this daemon makes no reports")
    return source
