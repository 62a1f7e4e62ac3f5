"""Settings of `[alerts.drift]`; the descriptions are the documentation."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field


class Sensitivity(StrEnum):
    """How small a fall below the usual level is tolerated for ever."""

    DEFAULT = "default"
    SENSITIVE = "sensitive"
    STABLE = "stable"


SLACK = {Sensitivity.DEFAULT: 0.01, Sensitivity.SENSITIVE: 0.0075, Sensitivity.STABLE: 0.005}


class DriftSettings(BaseModel):
    """When a sustained drop pages."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    enabled: bool = Field(default=True, description="look for sustained drops")
    sensitivity: Sensitivity = Field(
        default=Sensitivity.DEFAULT,
        description="`default` tolerates falls of 1 point, `sensitive` of 0.75, `stable` of 0.5: "
        "the last only for routes whose traffic hardly varies",
    )
    weeks_between_false_alarms: float = Field(
        default=100.0,
        ge=4,
        le=10_000,
        description="weeks between two false alarms of one rubric on one route, at least",
    )
    weeks_between_false_pages: float = Field(
        default=8.0,
        ge=1,
        le=1000,
        description="weeks between two false alarms of all rubrics and routes together, at least; "
        "with many of them each needs more evidence",
    )
    propose_shifted_days: float = Field(
        default=7.0,
        ge=1,
        le=90,
        description="days after which a drop that lasts is proposed as the new usual level",
    )
    accept_shifted: bool = Field(
        default=False,
        description="accept such a level without a person; the log of acts has a row of it",
    )
    boost_rate: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="share of a route's answers that is judged while one of its judged rubrics "
        "looks like a drop, within the judge's budget; 0 is off",
    )
    rates: tuple[str, ...] = Field(
        default=("error", "refusal:refused", "citation_validity:failed", "thumbs_down"),
        description="shares of bad answers that are followed: `error`, `thumbs_down`, "
        "`rubric:label` or `rubric:failed`; a rise is the drop",
    )

    @property
    def slack(self) -> float:
        """The tolerated fall as a share of 1."""
        return SLACK[self.sensitivity]
