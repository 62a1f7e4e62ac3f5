"""Settings of `[judge]`; the descriptions are the documentation."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, ValidationInfo, field_validator

from ragvigil.llm.settings import LlmSettings

Share = Annotated[float, Field(ge=0, le=1)]
LEAST_RATE, MOST_RATE = 0.05, 0.10
"""Base rates that need no `allow`: lower ones tell too little, higher ones cost too much."""


class JudgeSettings(LlmSettings):
    """Which records a language model judges, and by which rubrics; none without `model`."""

    # First, since pydantic validates in this order and the checks of rates read it.
    allow: bool = Field(
        default=False, description="allow base rates outside 5-10 % (0 is always allowed)"
    )
    sample_rate: Share = Field(
        default=0.05, description="share of all answers that is judged; 0 is off"
    )
    routes: dict[str, Share] = Field(
        default={}, description="by route, the share that is judged instead"
    )
    suspicious_rate: Share = Field(
        default=0.02,
        description="share of the answers that failed a cheap rubric, ended in an error or got bad "
        "feedback that is judged beside the sample; feeds issues, never means",
    )
    rubrics: tuple[str, ...] = Field(
        default=(), description="names of the rubrics to judge by; empty is all"
    )
    salt: str = Field(
        default="ragvigil",
        description="replicas with the same salt sample the same traces",
    )
    wait_seconds: float = Field(
        default=60.0,
        ge=0,
        le=3600,
        description="an answer is judged this long after its trace closed: late spans may "
        "change it",
    )
    queue_records: int = Field(
        default=10_000, ge=1, description="most answers that wait; more are counted and dropped"
    )
    rounds: int = Field(
        default=5, ge=1, le=100, description="times an answer is tried while the API is down"
    )
    strict_quotes: bool = Field(
        default=False,
        description="count a verdict whose quote is not in the text as unproven (a claim as "
        "unsupported), rather than the score as missing; moves the means",
    )
    backfill: bool = Field(
        default=False, description="judge replayed and imported traffic too (see `judge cost`)"
    )
    canary_hours: float = Field(
        default=6.0,
        ge=0,
        le=24 * 7,
        description="60 frozen answers are judged again this often, and at every change of model "
        "or rubric, to notice when the judge moves; 0 is never",
    )
    sources: tuple[str, ...] = Field(
        default=(),
        description="folders, files (.md, .txt, .rst, .html) and http(s) addresses of trusted "
        "texts, by which factual_accuracy checks answers beside the golden file",
    )
    max_characters: int = Field(
        default=60_000,
        ge=1000,
        description="longest prompt; longer ones are split by chunk or marked partial",
    )

    @field_validator("sample_rate")
    @classmethod
    def _rate_is_usual(cls, rate: float, info: ValidationInfo) -> float:
        return _check_rate(rate, str(rate), info)

    @field_validator("routes")
    @classmethod
    def _rates_are_usual(cls, routes: dict[str, float], info: ValidationInfo) -> dict[str, float]:
        for route, rate in routes.items():
            _check_rate(rate, f"{route} = {rate}", info)
        return routes

    @property
    def is_sampling(self) -> bool:
        """Whether the base rate of any route is over 0."""
        return any((self.sample_rate, *self.routes.values()))

    def rate_of(self, route: str) -> float:
        """The base rate of a route."""
        return self.routes.get(route, self.sample_rate)


def _check_rate(rate: float, shown: str, info: ValidationInfo) -> float:
    if rate and not LEAST_RATE <= rate <= MOST_RATE and not info.data.get("allow"):
        raise ValueError(
            f"{shown} is not 0 and not between {LEAST_RATE} and {MOST_RATE}; "
            "with allow = true any rate between 0 and 1 is taken"
        )
    return rate
