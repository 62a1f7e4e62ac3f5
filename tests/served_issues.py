"""The API in front of the store's issues, for tests."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from starlette.types import ASGIApp

from clustering.grouping.process import ClusteringChild
from clustering.issues.job import IssueJob
from clustering.rca.job import RootCauseJob
from clustering.rca.settings import RootCauseSettings
from clustering.settings import ClusteringSettings
from ragvigil.app.sources.issues import Issues
from ragvigil.inference.process import Inference
from ragvigil.inference.settings import InferenceSettings
from ragvigil.store.engine.store import Store
from ragvigil.web.settings import WebSettings
from ragvigil.web.site.application import api
from scorers.judge.job import JudgeJob
from scorers.judge.settings import JudgeSettings
from tests.flow.test_api import Quiet
from tests.issues import NOW


def issues(store: Store, folder: Path) -> Issues:
    """Issues without a judge and without local models, at noon of today."""
    clock = lambda: float(NOW)  # noqa: E731
    inference = Inference(InferenceSettings(enabled=False))
    settings = ClusteringSettings()
    clusters = ClusteringChild(settings, folder)
    job = IssueJob(store, inference, settings, {}, clusters, clock)
    judging = JudgeJob(JudgeSettings(), store, folder, {}, None, lambda _: None)
    explaining = RootCauseJob(store, RootCauseSettings(), judging, clock=clock)
    return Issues(store, job, explaining, clock=clock)


def served(store: Store, folder: Path, **settings: object) -> ASGIApp:
    """The application."""
    web = WebSettings.model_validate({"allowed_hosts": ("testserver",), **settings})
    now = datetime.fromtimestamp(NOW, UTC)
    return api(store, Quiet(), web, issuing=issues(store, folder), clock=lambda: now)
