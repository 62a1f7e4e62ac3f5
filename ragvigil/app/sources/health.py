"""The daemon about its jobs, its settings and its judge, for the API."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version

from prometheus_client import REGISTRY

from alerts.limits.trial import Crossing, Trial
from ragvigil.app.process.jobs import JobRun
from ragvigil.app.settings import Settings, SettingsError, origin
from ragvigil.app.settings.in_force import Origin, origins, plain
from ragvigil.app.settings.warnings import warnings
from ragvigil.app.sources.judge_cost import HOURS, lines
from ragvigil.llm.settings import price_of
from ragvigil.store.engine.store import Store
from ragvigil.store.records import quarantine, traffic
from ragvigil.store.scores import canary
from ragvigil.web.views.health.report import (
    CanaryForm,
    CrossingForm,
    HealthReportForm,
    JobForm,
    JudgeCostForm,
    LimitForm,
    RefusalForm,
    SetAsideForm,
    SettingForm,
    SettingsForm,
    SettingsWarningForm,
)
from scorers.calibration.canary_job import shifts

HOUR, MONTH = 3600, 30 * 86_400
KEPT_SECONDS = 60.0
"""How long the parts that ask much of the store pass for new."""
REFUSALS = {
    "ragvigil_web_identity_refused_total": "signing in",
    "ragvigil_web_foreign_total": "requests of other sites",
    "ragvigil_api_refused_total": "reads of the API, too many at once",
    "ragvigil_web_connections_closed_total": "connections",
}
"""The web's counters of refusals, in words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Slow:
    """What is read from the store once in KEPT_SECONDS."""

    set_aside: list[SetAsideForm]
    canary: CanaryForm | None
    cost: JudgeCostForm
    warnings: list[SettingsWarningForm]


class Health:
    """The API's `HealthSource`; safe from any thread.

    `bars` holds the value under which each rubric fails; `clock` gives Unix seconds; `trials` are
    those of the limits of one's own.
    """

    def __init__(
        self,
        settings: Settings,
        store: Store,
        runs: Callable[[], Sequence[JobRun]],
        bars: Mapping[str, float],
        clock: Callable[[], float],
        trials: Callable[[], Sequence[Trial]] = tuple,
    ) -> None:
        self._settings, self._store, self._runs = settings, store, runs
        self._bars, self._clock, self._trials = bars, clock, trials

    def report(self) -> HealthReportForm:
        """The newest state. Raises StoreError."""
        slow: _Slow = self._store.kept.of(
            "health", self._read_slow, lasts=True, new_seconds=KEPT_SECONDS
        )
        return HealthReportForm(
            version=version("ragvigil"),
            replica=self._store.replica,
            started=datetime.fromtimestamp(self._store.epoch, UTC),
            jobs=[JobForm.model_validate(run) for run in self._runs()],
            warnings=slow.warnings,
            set_aside=slow.set_aside,
            refused=sorted(_refused(), key=lambda refusal: -refusal.requests),
            canary=slow.canary,
            cost=slow.cost,
            limits=[_limit(trial) for trial in self._trials()],
        )

    def settings(self) -> SettingsForm:
        """Every setting in force, secrets masked."""
        try:
            came_from = origins()
        except SettingsError:  # the file was changed since the start
            came_from = {}
        return SettingsForm(
            source=origin(),
            settings=[
                SettingForm(
                    key=key, value=str(value), origin=came_from.get(key, Origin.DEFAULT).value
                )
                for key, value in plain(self._settings).items()
            ],
        )

    def _read_slow(self) -> _Slow:
        now = int(self._clock())
        return _Slow(
            set_aside=[
                SetAsideForm.model_validate(each)
                for each in quarantine.reasons(self._store, now - MONTH)
            ],
            canary=self._canary(),
            cost=self._cost(now),
            warnings=[
                SettingsWarningForm.model_validate(each) for each in warnings(self._settings)
            ],
        )

    def _canary(self) -> CanaryForm | None:
        chosen = canary.current(self._store)
        runs = canary.runs(self._store, chosen.set_id, last=1) if chosen else []
        if chosen is None or not runs:
            return None
        compared = shifts(self._store, chosen.set_id, self._bars)
        return CanaryForm(
            time=datetime.fromtimestamp(runs[-1][0].time_unix_nano / 1e9, UTC),
            records=len(chosen.members),
            rubrics=sum(shift.moved is not None for shift in compared),
            moved=[f"{shift.rubric}: {shift.why}" for shift in compared if shift.moved],
        )

    def _cost(self, now: int) -> JudgeCostForm:
        judge = self._settings.judge
        price = None
        if judge.model:
            price = price_of(judge, datetime.fromtimestamp(now, UTC).date())
        routes = traffic.since(self._store, now - HOURS * HOUR)
        estimates = lines(map(asdict, routes), judge, price, self._settings.alerts.audit)
        return JudgeCostForm(
            model=judge.model,
            answers=sum(route.records for route in routes),
            judged=sum(route.records * judge.rate_of(route.route) for route in routes),
            calls=sum(line.calls for line in estimates),
            tokens=sum(line.tokens for line in estimates),
            dollars=_together(line.dollars for line in estimates),
        )


def _limit(trial: Trial) -> LimitForm:
    names = ("signal", "service", "route", "above", "below", "window_minutes")
    return LimitForm(
        **{name: getattr(trial.limit, name) for name in names},
        reaches=trial.limit.reaches.value,
        tried=datetime.fromtimestamp(trial.at, UTC),
        days=trial.days,
        words=trial.words,
        crossings=[_crossing(crossing) for crossing in trial.crossings],
    )


def _crossing(crossing: Crossing) -> CrossingForm:
    service, environment, route = crossing.place
    time = datetime.fromtimestamp(crossing.at, UTC)
    return CrossingForm(time=time, service=service, environment=environment, route=route)


def _together(dollars: Iterable[float | None]) -> float | None:
    """The sum; None where one is unknown."""
    total = 0.0
    for each in dollars:
        if each is None:
            return None
        total += each
    return total


def _refused() -> Iterator[RefusalForm]:
    # All metrics together take 20 ms to read.
    for family in REGISTRY.restricted_registry(REFUSALS).collect():
        for sample in family.samples:
            if sample.name in REFUSALS and sample.value:
                reason = sample.labels.get("reason") or ", ".join(sample.labels.values())
                yield RefusalForm(
                    what=REFUSALS[sample.name], reason=reason, requests=int(sample.value)
                )
