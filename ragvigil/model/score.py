"""Scores: one rubric's verdict on one record, or the reason why there is none."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum

from ragvigil.model.values import dataclass


class Layer(StrEnum):
    """The layer that a rubric pins a failure to. Layers are never averaged with one another."""

    RETRIEVAL = "retrieval"
    GENERATION = "generation"
    CROSS_CUTTING = "cross_cutting"


class Kind(StrEnum):
    """Who scored."""

    CODE = "code"
    MODEL = "model"
    JUDGE = "judge"
    HUMAN = "human"


class Stream(StrEnum):
    """Why a record was scored; means read BASE, and BOOST weighted by its probability.

    PROXY is a local model's score for a judge's rubric: it corrects the judge's mean and never
    enters it.
    """

    BASE = "base"
    BOOST = "boost"
    SUSPICIOUS = "suspicious"
    AUDIT = "audit"
    CANARY = "canary"
    PROXY = "proxy"


OWN_STREAMS = frozenset({Stream.BASE, Stream.BOOST, Stream.SUSPICIOUS})
"""Streams with scores of the record itself; the others test judges or correct them."""
OUTSIDE_PROMPT = "outside_prompt"
"""A label: nothing that makes the score low reached the prompt, so no answer is worse by it."""
UPSTREAM: tuple[str, ...] = (
    "retrieval_shape",
    "context_relevance",
    "answerable",
    "context_precision",
    "prompt_relevance",
    "context_recall",
    "chunk_utilization",
    "rerank_gain",
    Layer.RETRIEVAL,
    "injected_context",
    "injection_resisted",
    "answer_complete_text",
    "answer_language",
    "groundedness",
    "grounding",
    "context_adherence",
    "answer_relevance",
    "completeness",
    "refusal_rightness",
    "citation_coverage",
    Layer.GENERATION,
    "citation_validity",
    "chunk_attribution",
    "factual_accuracy",
    Layer.CROSS_CUTTING,
)
"""Rubrics, upstream first: where several fail, an earlier one likely causes the later ones.

An empty or repeated retrieval cannot be relevant. An instruction in a chunk spoils what is
generated. A cut answer has lost its last facts and citations. An unsupported claim has no chunk
that supports its citation, and an invented quote has none either. A rubric of a plug-in comes at
the end of its layer.
"""


def upstream_place(rubric: str, layer: str) -> tuple[int, str]:
    """Sort key of failing rubrics: the likely cause first, then what follows from it.

    >>> sorted(["citation_validity", "answerable"], key=lambda name: upstream_place(name, ""))
    ['answerable', 'citation_validity']
    """
    name = rubric if rubric in UPSTREAM else layer
    return UPSTREAM.index(name), rubric


def is_outside_prompt(label: str) -> bool:
    """Whether a score's label, which may have several parts, holds OUTSIDE_PROMPT.

    >>> is_outside_prompt("override,outside_prompt"), is_outside_prompt("override")
    (True, False)
    """
    return OUTSIDE_PROMPT in label.split(",")


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """A value in 0..1 where 1 is good, or None with the reason in `explanation`.

    `label` is the rubric's category (`refused`, `quote_not_found`; several joined by a comma).
    `absent` names the record field whose absence made scoring impossible. It is empty if the rubric
    does not apply, so that coverage counts only what could not be seen.
    `details` holds JSON-able evidence: which chunks, by which sentences.

    Raises ValueError on a value that is NaN or outside 0..1.
    """

    rubric: str
    value: float | None = None
    label: str = ""
    explanation: str = ""
    layer: Layer = Layer.CROSS_CUTTING
    scorer: str = ""
    version: str = ""
    kind: Kind = Kind.CODE
    stream: Stream = Stream.BASE
    inclusion_probability: float = 1.0
    absent: str = ""
    details: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.value is not None and not (math.isfinite(self.value) and 0 <= self.value <= 1):
            raise ValueError(f"{self.rubric}: a score lies in 0..1, not {self.value}")

    def fails(self, bar: float | None) -> bool:
        """Whether the value is below the bar of its rubric.

        Bars are set for the grades of code and judges. The number of a local model is no such
        grade, and fails nothing.
        """
        if self.value is None or bar is None or self.kind is Kind.MODEL:
            return False
        return self.value < bar

    @property
    def spares_answer(self) -> bool:
        """Whether it says nothing against the answer: what it is low by did not reach the prompt.

        >>> Score(rubric="injected_context", label="override,outside_prompt").spares_answer
        True
        """
        return is_outside_prompt(self.label)

    @classmethod
    def not_applicable(
        cls, rubric: str, reason: str, *, label: str = "", absent: str = ""
    ) -> Score:
        """A score without a value, and the reason; never 0, never NaN."""
        return cls(rubric=rubric, label=label, explanation=reason, absent=absent)
