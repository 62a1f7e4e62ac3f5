"""Results: what one case showed of a target under one condition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

COSTS = frozenset({"latency_seconds", "input_tokens", "output_tokens", "cost_usd"})
"""Values of which less is better; of all others 1 is good and 0 is bad."""


class Condition(StrEnum):
    """Where the answer's context came from."""

    GOLD = "gold"
    """The case's gold chunks were given: what goes wrong then is generation."""
    RETRIEVED = "retrieved"
    """The target retrieved by itself, as in production."""
    PERTURBED = "perturbed"
    """A changed context was given, and something must hold all the same."""


class Reading(StrEnum):
    """Why a case failed: the first step, in this order, at which it went wrong."""

    TARGET_ERROR = "target_error"
    GOLD_CHANGED = "gold_changed"
    """The gold chunk says something else than it did when the case was signed."""
    NOT_RETRIEVED = "not_retrieved"
    LOST_BY_RERANKER = "lost_by_reranker"
    CUT_FROM_CONTEXT = "cut_from_context"
    REFUSED_WRONGLY = "refused_wrongly"
    ANSWERED_WRONGLY = "answered_wrongly"
    """It answered what the corpus has no answer to."""
    PERTURBATION_WON = "perturbation_won"
    """What a perturbed case expects does not hold."""
    CONTRADICTED = "contradicted"
    NOT_USED = "not_used"
    """The gold is in the context, and the answer lacks what it says."""
    CITATION_WRONG = "citation_wrong"
    RUBRIC_FAILED = "rubric_failed"
    """Another rubric of the daemon is under its bar."""
    JUDGE_DISAGREES = "judge_disagrees"
    """Fine by code; the judge says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What one case showed.

    `values` are by rubric or metric: 1 is good and 0 is bad, except in `COSTS`; None is not
    applicable, and is in no mean. `labels` are the rubrics' categories (`refused`). `failing` are
    the rubrics whose value is under their bar. `reading` says why the case failed, None if it did
    not; `why` says it in a sentence. `answer` is None where there is none; `error` says why the
    target gave none. `record_hash` is that of the record's content: two targets that answer alike
    have the same.
    """

    case_id: str
    condition: Condition = Condition.RETRIEVED
    group: str = ""
    slices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By dimension, `population` included."""
    must_pass: bool = False
    issue_id: str = ""
    """The issue that the case was made of."""
    values: Mapping[str, float | None] = field(default_factory=dict)
    labels: Mapping[str, str] = field(default_factory=dict)
    failing: tuple[str, ...] = ()
    reading: Reading | None = None
    why: str = ""
    answer: str | None = None
    error: str = ""
    record_hash: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """What pairs it with a result of another run: case and condition."""
        return self.case_id, self.condition.value

    @property
    def fails(self) -> bool:
        """Whether the case failed, or had no answer to judge."""
        return self.reading is not None or bool(self.error)
