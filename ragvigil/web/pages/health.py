"""The page Health: can I trust what I see?"""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse

from ragvigil.store.engine.together import together
from ragvigil.web.api import health as health_api
from ragvigil.web.api import judges as judges_api
from ragvigil.web.api import people as people_api
from ragvigil.web.api import service as service_api
from ragvigil.web.api.people import ActForm
from ragvigil.web.pages.frame import render
from ragvigil.web.permissions import ROLES, Permission, Requires
from ragvigil.web.views.health.checks import checks, heading, table_sentence
from ragvigil.web.views.health.coverage import coverage, field_name
from ragvigil.web.views.health.daemon_checks import books, difference
from ragvigil.web.views.health.kinds import Evidence
from ragvigil.web.views.health.report import SettingsForm
from ragvigil.web.views.ledger import LedgerForm, RecordLedger

router = APIRouter()

MOST_ACTS = 12
DOCTOR_SECONDS = 30.0
"""How long a diagnosis passes for new: it reads the spans of a day."""


@router.get(
    "/health",
    include_in_schema=False,
    summary="Whether what you see can be trusted",
    dependencies=[Depends(Requires(Permission.READ))],
)
def health(request: Request) -> HTMLResponse:
    """The books, every check with what mends it, fields, refusals, acts, jobs and settings."""
    evidence, records, acts = _evidence(request)
    spans, doctor = evidence.ledger, evidence.doctor
    found = checks(evidence)
    return render(
        request,
        "health.html",
        title=heading(found),
        page="health",
        is_refreshed=True,
        checks=found,
        table_sentence=table_sentence(found),
        books=books(spans),
        spans=spans,
        difference=difference(spans),
        records=records,
        coverage=coverage(doctor),
        field_name=field_name,
        sources=[source for source in doctor.sources if not source.answers],
        report=evidence.report,
        acts=acts,
        settings=_settings(request) if evidence.report else None,
    )


def _evidence(request: Request) -> tuple[Evidence, RecordLedger, list[ActForm]]:
    """What the checks are made from, traces by outcome, and the newest acts."""
    state = request.app.state
    status, doctor, report, judged, acts = together(
        lambda: service_api.status(request),
        lambda: state.store.kept.of(
            "doctor", state.status.doctor, lasts=True, new_seconds=DOCTOR_SECONDS
        ),
        lambda: health_api.health_report(request) if state.health is not None else None,
        lambda: judges_api.judges(request).judges,
        lambda: _acts(request),
    )
    ledger = LedgerForm.model_validate({"spans": status["spans"], "records": status["traces"]})
    evidence = Evidence(
        status=status, ledger=ledger.spans, doctor=doctor, judges=judged, report=report
    )
    return evidence, ledger.records, acts


def _acts(request: Request) -> list[ActForm]:
    return people_api.acts(
        request, person="", verb="", thing="", since="7d", limit=MOST_ACTS, cursor=""
    ).acts


def _settings(request: Request) -> SettingsForm | None:
    """None for a reader who may not see them."""
    if Permission.ADMINISTER not in ROLES[request.state.person.role]:
        return None
    return health_api.settings(request)
