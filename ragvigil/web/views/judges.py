"""Judges measured by labels, disagreements and estimates, as the API shows them."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field

from ragvigil.model.score import Layer

Number = float | None


class LevelForm(BaseModel):
    """The judged mean, corrected by people's labels (PPI++), with its 95 % interval."""

    mean: float
    low: float
    high: float
    judged: float = Field(description="the mean of the judge alone")
    labels: int
    records: int
    weight: float = Field(description="weight of the judge's verdicts, 0 to 1")


class JudgeForm(BaseModel):
    """A judge of one rubric, measured by people's labels; unknown is null."""

    rubric: str
    judge: str = Field(description="the model")
    version: str = Field(description="of the rubric that it judges by")
    segment: str
    scale: Literal["pass_fail", "grades", "words"] = Field(description="what the labels are")
    labels: int = Field(
        description="of the newest 200, those on records that this judge has judged"
    )
    missing: int = Field(description="labels that are lacking to measure it")
    kappa: Number = Field(description="Cohen's; grades weighted by the squared distance")
    low: Number
    high: Number
    agreement: Number = Field(description="share of records on which judge and people agree")
    disagreements: int
    quotes: int = Field(description="by which it proved its grades in the last day")
    quotes_not_found: int = Field(description="of these, not in the text: verdicts not accepted")
    state: Literal["unmeasured", "trusted", "retired"]
    reason: str
    level: LevelForm | None


class JudgesForm(BaseModel):
    """Every judge that works or has labels."""

    judges: list[JudgeForm]


class KappaForm(BaseModel):
    """Cohen's kappa, or a difference of two, with its 95 % interval; null where undefined."""

    n: int
    value: Number
    low: Number
    high: Number


class AlignmentForm(BaseModel):
    """The value below which an answer fails, fitted to people's labels."""

    rubric: str
    judge: str = Field(description="the model")
    version: str = Field(description="of the rubric that it judges by")
    segment: str
    advice: Literal["change", "keep", "too_few", "grades"] = Field(
        description="`change`: kappa is larger after, beyond its interval; `too_few`: under 30 "
        "labels, or under 8 that pass or fail; `grades`: people gave grades or words, which no "
        "value decides"
    )
    labels: int
    present: float = Field(description="the value below which an answer fails now")
    fails_below: float = Field(description="the fitted one where a change is advised")
    before: KappaForm
    after: KappaForm = Field(description="cross-validated: of labels that the fit had not seen")
    gain: KappaForm


class AlignmentsForm(BaseModel):
    """Every judge that has labels."""

    alignments: list[AlignmentForm]


class OpinionForm(BaseModel):
    """One side of a disagreement."""

    rubric: str
    by: Literal["person", "judge", "scorer"]
    name: str
    value: float


class DisagreementForm(BaseModel):
    """Two verdicts on one record that do not agree."""

    kind: Literal["judge_against_person", "judge_against_scorer", "rubric_against_rubric"]
    trace_id: str
    record_id: str
    time: datetime
    service: str
    route: str
    gap: float
    why: str
    first: OpinionForm
    second: OpinionForm


class DisagreementsForm(BaseModel):
    """Records worth a person's time, the most useful first."""

    disagreements: list[DisagreementForm]


class EstimateForm(BaseModel):
    """A judged mean of one series, corrected by local models' scores of all its records."""

    service: str
    environment: str
    route: str
    rubric: str
    layer: Layer
    segment: str = Field(description="versions of rubric and judge")
    records: int = Field(description="records that were judged or scored by a local model")
    n: int = Field(description="records that were judged")
    plain_mean: float = Field(description="of the judged records alone")
    mean: float
    low: float = Field(description="of the 95 % interval")
    high: float
    n_effective: float = Field(description="judged records that would be as precise alone")
    slope: float = Field(description="0 where local scores do not help")


class EstimatesForm(BaseModel):
    """By service, environment, route and rubric."""

    estimates: list[EstimateForm]
