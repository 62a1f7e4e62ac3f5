"""What an analyst's web asks beside the store: the sources that its routes and pages name."""

from __future__ import annotations

from importlib.metadata import version

from ragvigil.app.erasure.erasing import Erasing
from ragvigil.app.parts import CoreParts
from ragvigil.app.settings import Settings
from ragvigil.app.sources.background import IssueBackground
from ragvigil.app.sources.backups import Backups
from ragvigil.app.sources.golden import Golden
from ragvigil.app.sources.guards import Guards
from ragvigil.app.sources.incidents import Incidents
from ragvigil.app.sources.issues import Issues
from ragvigil.app.sources.judges import judge_source
from ragvigil.app.sources.meaning import Meaning
from ragvigil.app.sources.operating import Operating
from ragvigil.app.sources.reports.offline import Offline
from ragvigil.app.sources.reports.reports import Reports
from ragvigil.app.sources.reports.sessions import SameMeaning
from ragvigil.app.sources.topics import Topics
from ragvigil.app.status import Status
from ragvigil.model.clock import Clock
from ragvigil.store.engine.store import Store
from ragvigil.web.site.application import Sources
from scorers.rubric import load_rubrics


def web_sources(
    settings: Settings, store: Store, status: Status, parts: CoreParts, clock: Clock
) -> Sources:
    """Every source but the daemon's own health, which an edge has too."""
    failing, jobs = parts.runner.fails_below, parts.jobs
    watch, judge = jobs.watch, jobs.deferred.judging
    return {
        "judging": judge_source(store, lambda: sorted(load_rubrics()), failing, clock),
        "alerting": watch.metrics,
        "pointing": Operating(store),
        "watching": Incidents(store, watch.incidents, status, clock, lambda: judge.lines),
        **_issue_sources(settings, store, parts, clock),
        "charting": Topics(store, jobs.topics, settings.clustering.topics),
        "embedding": Meaning(parts.inference),
        "keeping": Golden(jobs.golden),
        "copying": Backups(store, settings.data_dir, version("ragvigil"), clock),
        "erasing": Erasing(store, settings.data_dir, judge, parts.inference, clock),
        "reporting": Reports(store, failing, settings.alerts, SameMeaning(parts.inference.embed)),
        "comparing": Offline(store, settings.clustering.topics.gap_share),
    }


def _issue_sources(settings: Settings, store: Store, parts: CoreParts, clock: Clock) -> Sources:
    """Issues, what fails outside of them, and the rubrics that guard them."""
    accepted, jobs = parts.accepted, parts.jobs
    if not settings.clustering.enabled:
        return {"issuing": None, "outside": None, "accepting": accepted}
    accepted.guards = Guards(store, jobs.issues, jobs.deferred.judging, clock)
    issues = Issues(
        store,
        jobs.issues,
        jobs.root_causes,
        external_url=settings.web.external_url,
        clock=clock,
        retired=jobs.calibration.retired,
    )
    return {"issuing": issues, "outside": IssueBackground(jobs.issues), "accepting": accepted}
