"""What a daemon over a shared store does by the clock, by its roles."""

from __future__ import annotations

from collections.abc import Collection

from ragvigil.app.fleet.edge import EdgeNoticing, EdgeWork
from ragvigil.app.fleet.feed import Feed
from ragvigil.app.fleet.late_spans import LateSpanWork
from ragvigil.app.fleet.leading import Leading
from ragvigil.app.fleet.local_share import LocalShare
from ragvigil.app.pipeline.balance import SpanBalance
from ragvigil.app.pipeline.loop import Pipeline
from ragvigil.app.process.jobs import Job
from ragvigil.app.settings import Settings
from ragvigil.app.settings.fleet import Role
from ragvigil.store.engine.store import Store
from ragvigil.store.fleet.members import BEAT_SECONDS, Member

MINUTES_SECONDS, LOCAL_SECONDS, LATE_SECONDS, MINUTE = 2.0, 2.0, 10.0, 60.0


def address_of(settings: Settings) -> str:
    """Where people find this daemon's web."""
    return settings.web.external_url or f"http://{settings.web.endpoint}"


def describe(
    store: Store,
    settings: Settings,
    roles: Collection[Role],
    balance: SpanBalance,
    pipeline: Pipeline,
) -> Member:
    """This daemon as its next beat tells of it."""
    spans = balance.spans()
    return Member(
        replica=store.replica,
        roles=tuple(roles),
        address=address_of(settings),
        acknowledged=spans["acknowledged"],
        in_spool=spans["in_spool"],
        mismatch=balance.mismatch(),
        behind=str(pipeline.lag or ""),
    )


def edge_jobs(
    work: EdgeWork,
    late_spans: LateSpanWork,
    local: LocalShare,
    noticing: EdgeNoticing | None,
    roles: Collection[Role],
) -> list[Job]:
    """Of every daemon over a server; what edges and scorers do is left out where it is none."""
    jobs = [
        Job(name="beat", every_seconds=BEAT_SECONDS, function=work.beat),
        Job(name="erasures", every_seconds=MINUTE, function=work.read_erasures),
    ]
    if Role.EDGE in roles:
        orphans = work.take_orphans
        jobs.append(Job(name="orphans", every_seconds=MINUTE, function=orphans, is_long=True))
        parts = late_spans.run
        jobs.append(Job(name="late_spans", every_seconds=LATE_SECONDS, function=parts))
    if {Role.EDGE, Role.SCORER} & set(roles):
        share = local.run
        jobs.append(Job(name="local_share", every_seconds=LOCAL_SECONDS, function=share))
    if noticing is not None:
        jobs.append(Job(name="epochs", every_seconds=MINUTE, function=noticing.refresh))
    return jobs


def analyst_jobs(feed: Feed, leading: Leading) -> list[Job]:
    """Of the analyst: it takes what others stored."""

    def take() -> None:
        if leading.is_held:
            feed.run()

    return [Job(name="elsewhere", every_seconds=MINUTES_SECONDS, function=take)]
