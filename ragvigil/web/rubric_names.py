"""What pages call a rubric or signal, and which of a layer speaks first. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragvigil.model.signal import UNSUPPORTED

FAILED = ":failed"
MAIN: Mapping[str, Sequence[str]] = {
    "retrieval": (
        "context_relevance",
        "context_recall",
        "answerable",
        "context_precision",
        "chunk_utilization",
        "retrieval_shape",
    ),
    "generation": (
        "groundedness",
        "completeness",
        "answer_relevance",
        "grounding",
        "citation_coverage",
        "answer_complete_text",
        "answer_language",
    ),
    "cross_cutting": ("citation_validity", "factual_accuracy", "injected_context"),
}
"""Of each layer the rubrics that say most, the weightiest first."""
NEUTRAL = frozenset({"chunk_utilization"})
"""Means of which less is not worse by itself: an answer may need fewer of its chunks."""
CORPUS = "factual_accuracy"
"""The rubric that tells whether the documents are true: it compares answers with references."""
MEASURES: Mapping[str, str] = {
    "answer_words": "words of an answer",
    "chunk_characters": "characters of a chunk",
    "citations": "citations per answer",
    "context_chunks": "chunks per prompt",
    "context_order": "chunks in the order of their scores",
    "context_tokens": "tokens of a prompt's context",
    "cost_usd": "cost of a request",
    "error": "requests that fail",
    "score_gap": "gap between retrieval scores",
    "seconds_total": "seconds of a request",
    "seconds_total:slow": "slow requests",
    "top_score": "best retrieval score",
    UNSUPPORTED: "unsupported answers",
}
"""Signals that no rubric gives, and a label's share that has a name of its own."""


def rubric_name(signal: str) -> str:
    """A rubric, rate or measure as pages name it.

    >>> rubric_name("citation_validity:failed"), rubric_name("refusal:refused")
    ('citation validity', 'refusal: refused')
    """
    if signal in MEASURES:
        return MEASURES[signal]
    return signal.removesuffix(FAILED).replace("_", " ").replace(":", ": ")


def base_of(signal: str) -> str:
    """The rubric of a rate of failures; any other signal as it is."""
    return signal.removesuffix(FAILED)


def is_about(signal: str, rubric: str) -> bool:
    """Whether a signal is of this rubric: its mean, or its share of failing answers."""
    return rubric in (signal, base_of(signal))
