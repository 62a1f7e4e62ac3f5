"""The part that this daemon plays among those of one store: its roles, the lease, its place."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

import structlog

from ragvigil.app.fleet.edge import EdgeNoticing, EdgeWork
from ragvigil.app.fleet.feed import Feed
from ragvigil.app.fleet.jobs import address_of, analyst_jobs, edge_jobs
from ragvigil.app.fleet.late_spans import LateSpanWork
from ragvigil.app.fleet.leading import Leading
from ragvigil.app.fleet.local_share import LocalShare
from ragvigil.app.process.jobs import JOBS_PUT_OFF, Job
from ragvigil.app.settings import Settings
from ragvigil.app.settings.fleet import Role
from ragvigil.store.engine.store import Store
from ragvigil.store.fleet.fence import Fence
from ragvigil.store.fleet.lease import Lease
from ragvigil.store.fleet.lease_table import LeaseTable
from ragvigil.store.fleet.members import Member
from ragvigil.web.site.edge import IS_EDGE

IS_SCORER = "a scorer: it runs local models on what edges stored"

log = structlog.get_logger()


class Part:
    """What this life of the core does in its fleet.

    An embedded store has one daemon, which does everything. Over a server an analyst leads by the
    lease: one that does not waits, and a daemon of both roles that does not is an edge meanwhile.
    `stop` is set when the lease is lost or won later: the next life is built for its new part.
    """

    def __init__(self, settings: Settings, store: Store, stop: threading.Event) -> None:
        self._settings, self._store, self._stop = settings, store, stop
        self.is_shared = bool(settings.store.url)
        self.roles: tuple[Role, ...] = settings.fleet.roles
        self._work: EdgeWork | None = None
        lease = None
        if self.is_shared and Role.ANALYST in self.roles:
            table = LeaseTable(settings.store)
            lease = Lease(table, store.replica, address=address_of(settings))
            store.sharing.guard(Fence(lease))
        self.leading = Leading(lease, stop.set, is_edge=not self.leads)

    @property
    def leads(self) -> bool:
        """Whether this life of the core is the analyst's."""
        return Role.ANALYST in self.roles

    def take(self) -> bool:
        """Takes its place; a mere analyst waits until it leads. False: the core is to stop."""
        if self.leads and not self.leading.take():
            if others := tuple(role for role in self.roles if role is not Role.ANALYST):
                self.roles = others
                log.warning(
                    "not the analyst: another leads",
                    roles=list(others),
                    leader=self.leading.leader.holder,
                )
            elif not self.leading.wait(self._stop):
                return False
        # Of what an edge stores scorers learn too, though it leads.
        if self.is_shared and (Role.EDGE in self.roles or not self.leads):
            self._store.sharing.announce()
        self.leading.start()
        return True

    def standing(self) -> bytes:
        """The short status of one who stands by, for the intake."""
        holder = self.leading.leader.holder
        line = f"stands by: {holder} leads" if holder else ""
        status = {"ready": False, "behind": "", "remarks": [], "stands_by": line}
        return json.dumps(status).encode()

    def stop(self) -> None:
        """Renews the lease no more."""
        self.leading.stop()

    def where(self) -> str:
        """The address of the analyst's web; empty while none is known."""
        return next((each.address for each in self._members("analyst") if each.is_live), "")

    def what(self) -> str:
        """What this daemon says that it is, where it is not the analyst."""
        words = {Role.EDGE: IS_EDGE, Role.SCORER: IS_SCORER}
        return ", and ".join(word for role, word in words.items() if role in self.roles)

    def jobs(
        self,
        jobs: Sequence[Job],
        of_every_role: Collection[str],
        work: Callable[[], EdgeWork],
        join: Callable[[Iterable[str], int], None],
        clock: Callable[[], float],
        noticing: object,
        local: Callable[[EdgeWork], LocalShare],
        feed: Callable[[], Feed],
    ) -> list[Job]:
        """The jobs, the analyst's only while it leads; and those that daemons of one server have.

        `work`, `local` and `feed` are made only there.
        """
        if not self.is_shared:
            return list(jobs)
        self._work = own = work()
        late_spans = LateSpanWork(self._store, lambda: own.members, join, clock)
        edge_noticing = noticing if isinstance(noticing, EdgeNoticing) else None
        return [
            *(job if job.name in of_every_role else self._led(job) for job in jobs),
            *edge_jobs(own, late_spans, local(own), edge_noticing, self.roles),
            *(analyst_jobs(feed(), self.leading) if self.leads else ()),
        ]

    def section(self) -> dict[str, object]:
        """The section `fleet` of the status; none in an embedded store."""
        if not self.is_shared:
            return {}
        every = self._work.members if self._work else ()
        live = [each for each in every if each.is_live]
        counts = ("acknowledged", "in_spool", "mismatch")
        return {
            "fleet": {
                "replica": self._store.replica,
                "roles": list(self.roles),
                "leads": self.leading.is_held and self.leads,
                "analyst": self.where(),
                "scorers": [each.replica for each in live if Role.SCORER in each.roles],
                "live": len(live),
                "gone": [each.replica for each in every if not each.is_live],
                **{name: sum(getattr(each, name) for each in every) for name in counts},
            }
        }

    def _members(self, role: str) -> list[Member]:
        return [each for each in (self._work.members if self._work else ()) if role in each.roles]

    def _led(self, job: Job) -> Job:
        def run() -> None:
            if self.leading.is_held:
                job.function()
            else:
                JOBS_PUT_OFF.labels(job.name).inc()

        return replace(job, function=run)
