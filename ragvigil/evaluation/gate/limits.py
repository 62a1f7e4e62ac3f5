"""Settings of `[gate]`: how far a rubric may fall before a release is stopped."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field, field_validator

LIMITS = {
    "answered": 0.05,
    "groundedness": 0.05,
    "recall@10": 0.03,
    "citation_validity": 0.04,
    "refusal_unanswerable": 0.10,
    "perturbation": 0.10,
}
FLOORS = {"equivalence": 0.85}


class GateSettings(BaseModel):
    """What a new run may lose against its base, as `ragvigil gate` judges it.

    A rubric under `limits` decides: a fall beyond its limit stops the release, and too few cases to
    see such a fall make the gate say so. Of all other rubrics only a fall beyond `other_limit`
    stops it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    limits: dict[str, float] = Field(
        default={},
        description="largest allowed fall by rubric, over the defaults "
        + ", ".join(f"{name} {limit:g}" for name, limit in LIMITS.items())
        + "; `groundedness = 0.08`",
    )
    floors: dict[str, float] = Field(
        default={},
        description="least mean by rubric whatever the base has, over the defaults "
        + ", ".join(f"{name} {floor:g}" for name, floor in FLOORS.items()),
    )
    other_limit: float = Field(
        default=0.10, gt=0, le=1, description="largest allowed fall of a rubric without a limit"
    )
    chance: float = Field(
        default=0.01,
        ge=0.0001,
        le=0.1,
        description="a fall stops the release only if chance makes one as large more rarely than "
        "this; all slices together share it (Holm)",
    )
    power: float = Field(
        default=0.8,
        ge=0.5,
        le=0.99,
        description="with what probability a fall of the limit must have been seen, or the cases "
        "are too few",
    )
    cannot_say_passes: bool = Field(
        default=False, description="exit with 0, not 3, where the cases are too few to say"
    )

    @field_validator("limits", "floors")
    @classmethod
    def _are_shares(cls, shares: dict[str, float]) -> dict[str, float]:
        for name, share in shares.items():
            if not 0 < share <= 1:
                raise ValueError(f"{name} = {share:g} is not over 0 and at most 1")
        return shares

    def limit_of(self, rubric: str) -> float:
        """The largest allowed fall of a rubric."""
        return self.decisive.get(rubric, self.other_limit)

    @property
    def decisive(self) -> dict[str, float]:
        """The limits by rubric: those of the settings over the defaults."""
        return LIMITS | self.limits

    @property
    def least(self) -> dict[str, float]:
        """The floors by rubric: those of the settings over the defaults."""
        return FLOORS | self.floors
