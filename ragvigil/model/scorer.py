"""What a scorer is: a rubric it fills in, and one verb."""

from __future__ import annotations

from typing import Protocol

from ragvigil.model.record import RagRecord
from ragvigil.model.score import Score


class Scorer(Protocol):
    """Scores one record. Pure and deterministic; registered under `ragvigil.scorers`."""

    rubric: str

    def score(self, record: RagRecord) -> Score:
        """One score, or `Score.not_applicable` with the reason; never raises on a record."""
        ...
