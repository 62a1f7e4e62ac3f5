"""The web application: pages and `/api/v1`, as one ASGI app."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Protocol, TypedDict, Unpack
from urllib.parse import urlsplit

from fastapi import APIRouter, Depends, FastAPI
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import Match
from starlette.types import Scope

from ragvigil.listener.rate import RateLimit
from ragvigil.model.endpoint import split_endpoint
from ragvigil.web.access import Access
from ragvigil.web.answers import API, Answers
from ragvigil.web.api.service import JudgeSource, NoJudges
from ragvigil.web.errors import RESPONSES, handle_errors
from ragvigil.web.guard import Guard
from ragvigil.web.labelling.rules import DEFAULT_QUEUES
from ragvigil.web.pages.problem import problem_page
from ragvigil.web.parameters import known_parameters
from ragvigil.web.sessions import Sessions
from ragvigil.web.settings import WebSettings
from ragvigil.web.site import edge
from ragvigil.web.site.first import First, FirstServed
from ragvigil.web.slowdown import Slowdown
from ragvigil.web.static_files import STATIC, HashedFiles
from ragvigil.web.views.doctor import DoctorForm

if TYPE_CHECKING:
    from ragvigil.store.engine.store import Store
    from ragvigil.web.api import (
        alerts,
        background,
        backups,
        erasures,
        golden,
        health,
        incidents,
        issues,
        operating,
        rubrics,
        search,
        topics,
    )
    from ragvigil.web.api.reports import evaluations
    from ragvigil.web.api.reports.source import ReportSource

SOURCE_NAMES = {
    "alerting": "alerts",
    "pointing": "operating",
    "watching": "incidents",
    "issuing": "issues",
    "charting": "topics",
    "embedding": "meaning",
    "keeping": "golden",
    "diagnosing": "health",
    "copying": "backups",
    "erasing": "erasures",
    "accepting": "rubrics",
    "outside": "background",
    "reporting": "reports",
    "comparing": "comparing",
}
"""The name under which `app.state` has each of the `Sources`, None where there is none."""


class StatusSource(Protocol):
    """The daemon about itself; the composition root provides it."""

    def status(self) -> Mapping[str, object]:
        """What is received, scored and stored right now, a mapping a section."""
        ...

    def judge(self) -> Mapping[str, object]:
        """What `status` says of the judge; empty where there is none."""
        ...

    def behind(self) -> str:
        """How many spans wait, and how long they take, in a line; empty while few do."""
        ...

    def ledger(self) -> Mapping[str, Mapping[str, int]]:
        """The ledger: `spans` and `records`, with the keys of `LedgerForm`."""
        ...

    def doctor(self) -> DoctorForm:
        """What arrives, what is missing, what fixes it; and every service that sent spans."""
        ...


class Part(Protocol):
    """A module with routes."""

    router: APIRouter


class Sources(TypedDict, total=False):
    """The parts of the daemon that answer; without one, its routes answer 404."""

    judging: JudgeSource
    alerting: alerts.AlertSource
    pointing: operating.OperatingSource
    watching: incidents.IncidentSource
    issuing: issues.IssueSource | None
    charting: topics.TopicSource
    embedding: search.MeaningSource
    keeping: golden.GoldenSource
    diagnosing: health.HealthSource
    erasing: erasures.ErasureSource
    accepting: rubrics.RubricSource
    outside: background.BackgroundSource | None
    copying: backups.BackupSource
    reporting: ReportSource
    comparing: evaluations.ComparisonSource


def api(
    store: Store,
    status: StatusSource,
    settings: WebSettings,
    *,
    sessions: Sessions | None = None,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    keep_seconds: float = 0.0,
    analyst: Callable[[], str] | None = None,
    what: str = edge.IS_EDGE,
    first: First = nullcontext,
    is_prebuilt: bool = False,
    **sources: Unpack[Sources],
) -> Guard:
    """The application behind its guard, for any ASGI server.

    `analyst` makes it that of an edge, and returns the address of the analyst; `what` says what
    daemon this is instead. A slow answer passes for new for `keep_seconds` at most; 0 keeps none.
    What `first` returns is held while a request is answered. With `is_prebuilt` no request waits
    for routes to be built: 0.12 s, which tests of a few requests need not spend.
    Raises ValueError where `tokens_file` holds no token any more.
    """
    parts = None if analyst is None else edge.PARTS
    app = application(
        store, status, settings, sessions=sessions, clock=clock, parts=parts, **sources
    )
    if is_prebuilt:
        _build_routes(app)
    answers = Answers(
        app,
        routes=_first_steps(app),
        keep_seconds=keep_seconds,
        on_write=lambda: store.kept.forget(),
        now=lambda: clock().timestamp(),
    )
    # Outside of the kept answers: they are the same for clients that can read gzip or cannot.
    served = answers if analyst is None else edge.EdgeWeb(answers, analyst, what)
    smaller = GZipMiddleware(FirstServed(served, first), minimum_size=1000, compresslevel=5)
    return Guard(
        smaller,
        app.state.access,
        hosts(settings),
        settings.max_body_bytes,
        problem_page,
        partial(_methods_instead, app),
        RateLimit(settings.max_requests_per_second),
    )


def application(
    store: Store,
    status: StatusSource,
    settings: WebSettings,
    *,
    sessions: Sessions | None = None,
    clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    parts: Sequence[Part] | None = None,
    **sources: Unpack[Sources],
) -> FastAPI:
    """The routes of `parts`, by default of all, without their guard."""
    app = FastAPI(
        title="ragvigil",
        version=_version(),
        description="Quality of RAG services: traces, records, scores, deltas.",
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        responses=RESPONSES,
        redirect_slashes=False,
    )
    app.state.access = Access(settings, sessions or Sessions())
    app.state.slowdown = Slowdown()
    app.state.store = store
    app.state.status = status
    app.state.judges = sources.get("judging") or NoJudges()
    app.state.label_queues = settings.label_queues or DEFAULT_QUEUES
    for source, name in SOURCE_NAMES.items():
        setattr(app.state, name, dict(sources).get(source))
    app.state.clock = clock
    app.state.base = settings.external_url
    app.state.open_in = settings.open_in
    _route(app, _every_part() if parts is None else parts)
    return app


def _every_part() -> Sequence[Part]:
    from ragvigil.web.site.parts import PARTS  # 16 MB that an edge does not need

    return PARTS


def _route(app: FastAPI, parts: Sequence[Part]) -> None:
    app.state.routers = [part.router for part in parts]
    for router in app.state.routers:
        checked = [Depends(known_parameters)] if router.prefix else []
        app.include_router(router, dependencies=checked)
    app.mount("/static", HashedFiles(directory=STATIC))
    handle_errors(app, problem_page)


def _build_routes(app: FastAPI) -> None:
    """Builds what FastAPI else builds when the first request passes a route."""
    for route in app.routes:
        route.matches({"type": "http", "method": "GET", "path": "", "headers": []})


def _methods_instead(app: FastAPI, scope: Scope) -> set[str]:
    """The methods of a request's path if its own is not among them; empty for no such path."""
    every = (route for router in app.state.routers for route in router.routes)
    of_path = [route for route in every if route.matches(scope)[0] != Match.NONE]
    methods = {method for route in of_path for method in route.methods or ()}
    return set() if scope["method"] in methods else methods


def _first_steps(app: FastAPI) -> set[str]:
    """What follows `/api/v1/` in the paths of the API; its description is no part of it."""
    api_routers = (router for router in app.state.routers if router.prefix)
    paths = (route.path for router in api_routers for route in router.routes)
    return {path.removeprefix(API).partition("/")[0] for path in paths}


def hosts(settings: WebSettings) -> set[str]:
    """The Host names that are served, besides those of loopback."""
    named = {*settings.allowed_hosts, split_endpoint(settings.endpoint)[0]}
    if settings.external_url:
        named.add(urlsplit(settings.external_url).hostname or "")
    return named


def _version() -> str:
    try:
        return version("ragvigil")
    except PackageNotFoundError:
        return "0"
