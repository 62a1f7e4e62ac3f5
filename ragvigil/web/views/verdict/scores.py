"""Scores as the API shows them."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from ragvigil.model.score import Layer, is_outside_prompt

Number = float | None


class ScoreForm(BaseModel):
    """One rubric's verdict; `value` is null where it does not apply, `explanation` says why."""

    rubric: str
    layer: Layer
    value: Number
    label: str
    explanation: str
    scorer: str
    version: str
    segment: str
    kind: str
    stream: str
    failed: bool = Field(description="whether the value fails the rubric")
    absent: str = Field(description="the field whose absence made scoring impossible")
    details: dict[str, Any] = {}

    @property
    def fails_answer(self) -> bool:
        """Whether it fails by something that reached the prompt, and so the answer."""
        return self.failed and not is_outside_prompt(self.label)
