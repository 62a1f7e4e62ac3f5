"""The API's reports: read from the store when they are asked for, and kept for minutes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime

from ragvigil.evaluation.live.tracking import signal_reports
from ragvigil.store.engine.kept import SLOW_SECONDS
from ragvigil.store.engine.store import Store
from ragvigil.store.reports import user_answers
from ragvigil.store.reports.user_answers import UserAnswer
from ragvigil.web.views.reports.proxies import ProxiesForm, ServiceProxiesForm, SignalForm


class Reports:
    """The API's `ReportSource`; safe from any thread."""

    def __init__(self, store: Store, fails_below: Mapping[str, float]) -> None:
        self._store, self._fails_below = store, fails_below

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
