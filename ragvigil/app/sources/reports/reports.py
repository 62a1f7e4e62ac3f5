"""The API's reports: read from the store when they are asked for, and kept for minutes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime

from alerts.settings import AlertsSettings
from alerts.slices.compare import PAST_DAYS, slice_deltas
from alerts.slices.job import DAY, HOUR, SUMMED_SECONDS
from ragvigil.app.sources.reports.releases import release_form
from ragvigil.app.sources.reports.sessions import SameMeaning, session_forms
from ragvigil.evaluation.live.tracking import signal_reports
from ragvigil.store.engine.kept import SLOW_SECONDS
from ragvigil.store.engine.store import Store
from ragvigil.store.issues import topics
from ragvigil.store.reports import releases, sessions, user_answers
from ragvigil.store.reports.user_answers import UserAnswer
from ragvigil.store.scores import slice_sums
from ragvigil.web.views.reports.proxies import ProxiesForm, ServiceProxiesForm, SignalForm
from ragvigil.web.views.reports.releases import ReleasesForm
from ragvigil.web.views.reports.sessions import SessionsForm
from ragvigil.web.views.reports.slices import SliceForm, SlicesForm
from ragvigil.web.views.values import view

SESSION_SECONDS = 1800
"""A session without an answer for this long is over."""


class Reports:
    """The API's `ReportSource`; safe from any thread."""

    def __init__(
        self,
        store: Store,
        fails_below: Mapping[str, float],
        alerts: AlertsSettings,
        meaning: SameMeaning,
    ) -> None:
        self._store, self._fails_below, self._alerts = store, fails_below, alerts
        self._meaning = meaning

    def proxies(self, since: datetime, service: str) -> ProxiesForm:
        """Each rubric against what users said since a time. Raises StoreError."""
        seconds = int(since.timestamp())
        services = self._store.kept.of(
            ("proxies", service, self._store.kept.moving(seconds)),
            lambda: self._proxies(seconds, service),
            lasts=True,
            new_seconds=SLOW_SECONDS,
        )
        return ProxiesForm(since=since, services=services)

    def slices(self, now: datetime, service: str) -> SlicesForm:
        """Each slice against its past at the last hour that was summed. Raises StoreError."""
        seconds = int(now.timestamp()) - SUMMED_SECONDS
        end = seconds - seconds % HOUR
        rows = self._store.kept.of(
            ("slices", service, end),
            lambda: self._slices(end, service),
            lasts=True,
            new_seconds=SLOW_SECONDS,
        )
        return SlicesForm(until=datetime.fromtimestamp(end, UTC), slices=rows)

    def _slices(self, end: int, service: str) -> list[SliceForm]:
        sums = slice_sums.read(self._store, end - PAST_DAYS * DAY, end, service)
        names = topics.slice_names(self._store)
        return [
            view(SliceForm, row, name=names.get((row.dimension, row.value), row.value))
            for row in slice_deltas(sums, end, self._alerts, self._alerts.slices.most)
        ]

    def releases(self, since: datetime, now: datetime, service: str) -> ReleasesForm:
        """Each version by slice since a time. Raises StoreError."""
        seconds = int(since.timestamp())
        form = self._store.kept.of(
            ("releases", service, self._store.kept.moving(seconds)),
            lambda: self._releases(since, int(now.timestamp()) + 60, service),
            lasts=True,
            new_seconds=SLOW_SECONDS,
        )
        return form.model_copy(update={"since": since})

    def _releases(self, since: datetime, until: int, service: str) -> ReleasesForm:
        slices = self._alerts.slices
        drawn = releases.read(
            self._store,
            int(since.timestamp()),
            until,
            by=slices.by,
            tiers=slices.tiers,
            most=slices.most,
            service=service,
        )
        names = topics.slice_names(self._store)
        rows = [
            release_form(row, names.get((row.dimension, row.value), row.value))
            for row in drawn.rows
        ]
        return ReleasesForm(since=since, share=drawn.share, releases=rows)

    def sessions(self, since: datetime, now: datetime, service: str) -> SessionsForm:
        """Sessions with an answer since a time that are over. Raises StoreError."""
        seconds, ended = int(since.timestamp()), int(now.timestamp()) - SESSION_SECONDS
        form = self._store.kept.of(
            ("sessions", service, self._store.kept.moving(seconds)),
            lambda: self._sessions(since, ended, service),
            lasts=True,
            new_seconds=SLOW_SECONDS,
        )
        return form.model_copy(update={"since": since})

    def _sessions(self, since: datetime, ended: int, service: str) -> SessionsForm:
        drawn = sessions.read(self._store, int(since.timestamp()), ended, service)
        forms = session_forms(drawn.sessions, self._meaning)
        return SessionsForm(since=since, share=drawn.share, services=forms)

    def _proxies(self, since: int, service: str) -> list[ServiceProxiesForm]:
        by_place: dict[tuple[str, str], list[UserAnswer]] = defaultdict(list)
        for answer in user_answers.read(self._store, since, service):
            by_place[answer.service, answer.environment].append(answer)
        reports = {
            place: signal_reports(answers, self._fails_below)
            for place, answers in sorted(by_place.items())
        }
        return [
            ServiceProxiesForm(
                service=name,
                environment=environment,
                signals=[SignalForm.model_validate(asdict(each)) for each in found],
            )
            for (name, environment), found in reports.items()
            if found
        ]
