"""What a check says, and what checks are made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ragvigil.web.views.doctor import DoctorForm
from ragvigil.web.views.health.report import HealthReportForm
from ragvigil.web.views.judges import JudgeForm
from ragvigil.web.views.ledger import SpanLedger


class Verdict(StrEnum):
    """How a check stands, the worst first; the words are those of the parts."""

    BROKEN = "broken"
    WORSE = "worse"
    MUTED = "muted"
    MISSING = "not enough yet"
    HOLDS = "holding"


RANKS = tuple(Verdict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that must hold. `fix` is the line that mends it; `link` a page of ours."""

    name: str
    verdict: Verdict
    words: str
    fix: str = ""
    link: str = ""
    link_words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What the checks are made from; `report` is None where the daemon tells nothing of itself."""

    status: Mapping[str, Any]
    ledger: SpanLedger
    doctor: DoctorForm
    judges: Sequence[JudgeForm]
    report: HealthReportForm | None

    def section(self, name: str) -> Mapping[str, Any]:
        """A section of the status, empty where it has none."""
        section: Mapping[str, Any] = self.status.get(name) or {}
        return section
