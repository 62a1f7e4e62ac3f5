"""The daemon about its jobs, its settings and its judge, as the API shows them."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from ragvigil.model.figures import share


class JobForm(BaseModel):
    """A periodic job of this process."""

    model_config = ConfigDict(from_attributes=True)

    name: str
    every_seconds: float
    runs: int = Field(description="since the start")
    failures: int
    last: datetime | None = Field(description="when it ended last; null before its first run")
    seconds: float | None = Field(description="how long the last run took")
    has_failed: bool = Field(description="whether the last run failed")


class SettingsWarningForm(BaseModel):
    """A setting that is allowed but surprises, as `ragvigil check` says it."""

    model_config = ConfigDict(from_attributes=True)

    key: str
    explanation: str


class SetAsideForm(BaseModel):
    """Rows that the database refused for good, by reason."""

    model_config = ConfigDict(from_attributes=True)

    table: str
    reason: str
    rows: int
    last: datetime


class RefusalForm(BaseModel):
    """Requests that this process refused since its start, by reason."""

    what: str
    reason: str
    requests: int


class CanaryForm(BaseModel):
    """The last run of the judge over its frozen answers, against the first."""

    time: datetime
    records: int
    rubrics: int = Field(description="that could be compared; 0 before a second run")
    moved: list[str] = Field(description="a sentence for each rubric that the judge judges anew")


class JudgeCostForm(BaseModel):
    """What a day of judging would cost at the traffic of the last day."""

    model: str = Field(description="empty: none is configured")
    answers: int
    judged: float = Field(description="of them, by the sample rates")
    calls: float
    tokens: float
    dollars: float | None = Field(description="null where the model has no known price")


class CrossingForm(BaseModel):
    """A time at which a limit would have told somebody."""

    time: datetime
    service: str
    environment: str
    route: str = Field(description="`*` for all routes together")


class LimitForm(BaseModel):
    """A limit of one's own, `[[alerts.limits]]`, tried on the past when the daemon started."""

    signal: str
    service: str = Field(description="empty: every service")
    route: str = Field(description="empty: every route by itself; `*`: all together")
    above: float | None
    below: float | None
    window_minutes: int
    reaches: Literal["page", "ticket", "nobody"]
    tried: datetime
    days: int = Field(description="of the past on which it was tried")
    words: str
    crossings: list[CrossingForm] = Field(description="oldest first")

    @property
    def bound(self) -> str:
        """The bound in words: a share in percent."""
        side, bound = ("over", self.above) if self.above is not None else ("under", self.below)
        return f"{side} {share(bound) if ':' in self.signal else f'{bound:g}'}"


class HealthReportForm(BaseModel):
    """What the daemon knows of itself, beside `/status`, `/ledger` and `/doctor`."""

    version: str
    replica: str
    started: datetime = Field(description="its start, which is the epoch in its rows")
    jobs: list[JobForm]
    warnings: list[SettingsWarningForm]
    set_aside: list[SetAsideForm] = Field(description="of the last 30 days, most rows first")
    refused: list[RefusalForm]
    canary: CanaryForm | None
    cost: JudgeCostForm
    limits: list[LimitForm] = Field(
        default=[], description="limits of one's own; empty before the watch first ran"
    )


class SettingForm(BaseModel):
    """A key and its value; a secret is masked."""

    key: str
    value: str
    origin: Literal["default", "file", "environment"]


class SettingsForm(BaseModel):
    """Every setting in force."""

    source: str = Field(description="the file, and the variables that override it")
    settings: list[SettingForm]
