"""The API keeps to its own OpenAPI document, whatever it is asked."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from alerts.incidents.job import IncidentJob
from alerts.incidents.settings import IncidentSettings
from alerts.settings import AlertsSettings
from ragvigil.app.sources.golden import Golden
from ragvigil.app.sources.incidents import Incidents
from ragvigil.app.sources.judges import judge_source
from ragvigil.app.sources.reports.reports import Reports
from ragvigil.app.sources.rubrics import AcceptedRubrics
from ragvigil.store.engine.store import Store
from ragvigil.store.settings import StoreSettings
from ragvigil.web.sessions import Sessions
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api
from tests.flow.test_api import NOW, Quiet, client, keep, outcome
from tests.golden_sets import job_of, work_tree
from tests.no_model import NO_MODEL
from tests.served_issues import issues

TOKEN = "adm1n-0123456789"
CHECKS = [
    schemathesis.checks.not_a_server_error,
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
]


OPERATIONS = [
    ("GET", "/api/v1/traces/{trace_id}"),
    ("GET", "/api/v1/records"),
    ("GET", "/api/v1/record-counts"),
    ("GET", "/api/v1/search"),
    ("GET", "/api/v1/ids/{kind}"),
    ("GET", "/api/v1/deltas"),
    ("GET", "/api/v1/ledger"),
    ("GET", "/api/v1/status"),
    ("GET", "/api/v1/doctor"),
    ("GET", "/api/v1/deploys"),
    ("POST", "/api/v1/deploys"),
    ("POST", "/api/v1/feedback"),
    ("GET", "/api/v1/traffic"),
    ("GET", "/api/v1/labels"),
    ("POST", "/api/v1/labels"),
    ("GET", "/api/v1/estimates"),
    ("GET", "/api/v1/judges"),
    ("GET", "/api/v1/disagreements"),
    ("POST", "/api/v1/alerts/test"),
    ("GET", "/api/v1/operating-points"),
    ("GET", "/api/v1/incidents"),
    ("GET", "/api/v1/incidents/{incident_id}"),
    ("POST", "/api/v1/incidents/{incident_id}/{verb}"),
    ("GET", "/api/v1/issues"),
    ("GET", "/api/v1/issues/{issue_id}"),
    ("GET", "/api/v1/issues/{issue_id}/members"),
    ("GET", "/api/v1/issues/{issue_id}/retest"),
    ("GET", "/api/v1/issue-background"),
    ("POST", "/api/v1/issue-background/group"),
    ("GET", "/api/v1/rubrics"),
    ("POST", "/api/v1/rubrics"),
    ("POST", "/api/v1/rubrics/{name}/remove"),
    ("POST", "/api/v1/issues/{issue_id}/guard"),
    ("GET", "/api/v1/evaluations"),
    ("POST", "/api/v1/evaluations"),
    ("GET", "/api/v1/evaluations/{run_id}"),
    ("POST", "/api/v1/evaluations/{run_id}/gate"),
    ("POST", "/api/v1/issues/{issue_id}/explain"),
    ("POST", "/api/v1/issues/{issue_id}/{verb}"),
    ("GET", "/api/v1/issue-pairs"),
    ("GET", "/api/v1/why"),
    ("GET", "/api/v1/notices"),
    ("GET", "/api/v1/audits"),
    ("GET", "/api/v1/topics"),
    ("GET", "/api/v1/proxies"),
    ("GET", "/api/v1/slices"),
    ("GET", "/api/v1/releases"),
    ("GET", "/api/v1/sessions"),
    ("GET", "/api/v1/digest"),
    ("GET", "/api/v1/judge-alignments"),
    ("GET", "/api/v1/golden"),
    ("GET", "/api/v1/golden-set"),
    ("GET", "/api/v1/golden/{case_id}"),
    ("POST", "/api/v1/golden"),
    ("POST", "/api/v1/golden-import"),
    ("POST", "/api/v1/golden/{case_id}/edit"),
    ("POST", "/api/v1/golden/{case_id}/sign"),
    ("POST", "/api/v1/golden/{case_id}/reject"),
    ("POST", "/api/v1/golden/{case_id}/run"),
    ("GET", "/api/v1/audits/{audit_id}"),
    ("GET", "/api/v1/person"),
    ("GET", "/api/v1/acts"),
    ("GET", "/api/v1/health-report"),
    ("GET", "/api/v1/label-disputes"),
    ("GET", "/api/v1/label-queues"),
    ("GET", "/api/v1/label-queues/{name}/next"),
    ("POST", "/api/v1/labels/{label_id}/take-back"),
    ("GET", "/api/v1/now"),
    ("GET", "/api/v1/records/{record_id}"),
    ("GET", "/api/v1/records/{record_id}/related"),
    ("GET", "/api/v1/series"),
    ("GET", "/api/v1/settings"),
    ("GET", "/api/v1/traces/{trace_id}/spans"),
    ("GET", "/api/v1/layer-health"),
    ("POST", "/api/v1/backups"),
    ("GET", "/api/v1/backups/{name}"),
    ("POST", "/api/v1/erasures"),
    ("GET", "/api/v1/erasures"),
    ("GET", "/api/v1/erasures/{erasure_id}"),
]


def whole_api(
    store: Store, folder: Path, sessions: Sessions | None = None, **given: object
) -> ASGIApp:
    """The API with everything that it can be given; `given` are settings."""
    return api(
        store,
        Quiet(),
        WebSettings.model_validate({"allowed_hosts": ("testserver",), **given}),
        judging=judge_source(store, tuple, {}, time.time),
        watching=Incidents(store, IncidentJob(store, IncidentSettings()), Quiet()),
        issuing=issues(store, folder),
        keeping=Golden(job_of(store, work_tree(folder / "set"))[0]),
        reporting=Reports(store, {}, AlertsSettings(), NO_MODEL),
        accepting=AcceptedRubrics(store),
        sessions=sessions,
    )


@pytest.fixture(scope="module")
def document(opened_store: Store, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The OpenAPI document. Writing it takes longer than all requests for an operation."""
    served = whole_api(opened_store, tmp_path_factory.mktemp("document"))
    document: dict[str, Any] = TestClient(served).get("/api/v1/openapi.json").json()
    return document


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
def test_every_answer_is_one_that_the_document_describes(
    store: Store, document: dict[str, Any], tmp_path: Path, method: str, path: str
) -> None:
    keep(store, [outcome(1, NOW - 60, value=0.5)])
    described = schemathesis.openapi.from_dict(document)
    described.app = whole_api(store, tmp_path, admin_token=TOKEN)

    @given(case=described[path][method].as_strategy())
    @settings(
        max_examples=5, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    def holds(case: schemathesis.Case) -> None:
        case.call_and_validate(checks=CHECKS, headers={"authorization": f"Bearer {TOKEN}"})
        stranger = case.call()
        case.validate_response(stranger, checks=CHECKS)
        assert stranger.status_code in (400, 401, 404, 405), "a path may be none, or a token's"

    holds()


async def test_the_document_names_every_path_of_the_issue(store: Store) -> None:
    reply = await client(store).get("/api/v1/openapi.json")
    paths = reply.json()["paths"]
    assert sorted(OPERATIONS) == sorted(
        (method.upper(), path) for path, methods in paths.items() for method in methods
    )


async def test_a_store_that_is_away_is_503_with_a_pause(tmp_path: Path) -> None:
    away = Store.open(StoreSettings(url="http://127.0.0.1:9/ragvigil", timeout_seconds=1), tmp_path)
    try:
        reply = await client(away).get("/api/v1/records")
    finally:
        away.close()
    assert reply.status_code == 503
    assert reply.headers["retry-after"] == "2"
    assert reply.json()["error"]["reason"] == "service_unavailable"
