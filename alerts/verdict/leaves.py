"""The leaves of the verdict: what can go wrong, and what each of them does to the evidence. Data.

A leaf is a row of the table in which a layer's fault shows: the rubrics that fall because of it,
those that may fall after these, the signals and the notices that come with it. The numbers are how
often such evidence is seen where the leaf is at fault; `FOREIGN` where it is not. Only their ratios
count. They are orders of size, the same for every service, and bench/verdicts.py tests them on
simulated faults.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ragvigil.model.incident import RERANKER
from ragvigil.model.notice import Cause, ChangeKind

FOREIGN = 0.03
"""How often evidence is seen that a leaf does not bring."""
SURE_FOREIGN = 0.003
"""The same for the signals of `SURE`."""
SURE = frozenset(
    {"answer_complete_text", "answer_language", "citation_validity", "injected_context"}
)
"""Signals that tell of themselves what is wrong: hardly anything else brings them."""


class Rubric(StrEnum):
    """The judged rubrics that a verdict weighs by their size."""

    RETRIEVED = "context_relevance"
    PROMPT = "prompt_relevance"
    GAIN = "rerank_gain"
    GROUNDED = "groundedness"
    ADHERENCE = "context_adherence"
    COMPLETE = "completeness"
    RELEVANT = "answer_relevance"
    ATTRIBUTED = "chunk_attribution"
    FACTUAL = "factual_accuracy"


OF_THE_ANSWER = frozenset(
    {
        Rubric.GROUNDED,
        Rubric.ADHERENCE,
        Rubric.COMPLETE,
        Rubric.RELEVANT,
        Rubric.ATTRIBUTED,
        Rubric.FACTUAL,
    }
)
"""Rubrics that fall where the chunks are worse, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """One way in which a service gets worse.

    `prior` is how often it is this one, before any evidence. `falls` are the rubrics whose fall
    makes it, `follows` those that may fall no further than these, `free` those that it may move
    either way. Every other rubric holds. `marks` are the signals on all traffic, and the kinds of
    notices, of which without any it is hardly this leaf. `brings` is how often a signal or a kind
    of notice comes with it; a name that ends with `up` or `down` is a signal that moved there.
    """

    cause: Cause
    prior: float
    part: str = ""
    falls: frozenset[Rubric] = frozenset()
    follows: frozenset[Rubric] = frozenset()
    free: frozenset[Rubric] = frozenset()
    marks: frozenset[str] = frozenset()
    brings: Mapping[str, float] = field(default_factory=dict)


FAMILIES: Mapping[str, str] = {
    "context_tokens": "shape of the context",
    "context_chunks": "shape of the context",
    "chunk_characters": "shape of the context",
    "top_score": "shape of the context",
    "score_gap": "shape of the context",
    "context_relevance": "relevance by the local model",
    "groundedness": "support of the answers",
    "grounding": "support of the answers",
    "citations": "citations",
    "citation_coverage": "citations",
    "citation_validity": "citations",
    "answer_complete_text:truncated": "cut answers",
    "answer_complete_text:empty": "cut answers",
}
"""Signals that move together: of a family only the one that tells most is weighed."""

_CHUNKS = {
    "retrieval_shape": 0.4,
    "refusal": 0.35,
    "chunk_utilization": 0.45,
    "context_relevance": 0.6,
    "answer_relevance": 0.2,
    "groundedness": 0.3,
    "grounding": 0.3,
    "answer_words down": 0.25,
    "citations": 0.2,
    "citations gone": 0.01,
    "citation_coverage": 0.15,
    "citation_coverage gone": 0.01,
    "citation_validity": 0.01,
    "top_score": 0.4,
    "score_gap": 0.4,
    "context_tokens": 0.35,
    "chunk_characters": 0.35,
}
"""What worse chunks bring, whoever chose them."""

LEAVES: Mapping[str, Leaf] = {
    "retriever": Leaf(
        cause=Cause.RETRIEVAL,
        prior=0.32,
        falls=frozenset({Rubric.RETRIEVED}),
        follows=OF_THE_ANSWER,
        free=frozenset({Rubric.PROMPT, Rubric.GAIN}),
        brings={
            **_CHUNKS,
            "context_chunks": 0.3,
            "context_order": 0.1,
            ChangeKind.RECHUNKED: 0.4,
            ChangeKind.REEMBEDDED: 0.5,
            ChangeKind.EMBEDDING_MODEL: 0.3,
            ChangeKind.INDEX: 0.3,
            ChangeKind.REINDEXED: 0.4,
            ChangeKind.CHUNK_COUNT: 0.15,
            ChangeKind.TOP_K: 0.15,
            ChangeKind.OTHER_CHUNKS: 0.5,
            ChangeKind.OTHER_ORDER: 0.1,
            ChangeKind.DOCUMENTS: 0.02,
            ChangeKind.RERANKER: 0.02,
        },
    ),
    "reranker": Leaf(
        cause=Cause.RETRIEVAL,
        part=RERANKER,
        prior=0.10,
        falls=frozenset({Rubric.PROMPT, Rubric.GAIN}),
        follows=OF_THE_ANSWER,
        brings={
            **_CHUNKS,
            "retrieval_shape": FOREIGN,
            "context_order": 0.7,
            ChangeKind.RERANKER: 0.6,
            ChangeKind.RERANKED: 0.6,
            ChangeKind.OTHER_ORDER: 0.7,
            ChangeKind.REEMBEDDED: 0.1,
            ChangeKind.CHUNK_COUNT: 0.15,
            ChangeKind.DOCUMENTS: 0.02,
        },
    ),
    "over-fetch": Leaf(
        cause=Cause.RETRIEVAL,
        prior=0.04,
        follows=frozenset({Rubric.RETRIEVED, Rubric.PROMPT, Rubric.GROUNDED, Rubric.RELEVANT}),
        free=frozenset({Rubric.GAIN}),
        marks=frozenset({"context_chunks", "context_tokens"}),
        brings={
            "chunk_utilization": 0.8,
            "context_chunks up": 0.8,
            "context_tokens up": 0.8,
            "score_gap": 0.4,
            ChangeKind.CHUNK_COUNT: 0.5,
            ChangeKind.TOP_K: 0.5,
        },
    ),
    "too little context": Leaf(
        cause=Cause.RETRIEVAL,
        prior=0.015,
        falls=frozenset({Rubric.COMPLETE}),
        follows=frozenset({Rubric.RELEVANT, Rubric.GROUNDED}),
        free=frozenset({Rubric.GAIN}),
        marks=frozenset({"chunk_characters", "context_tokens", "context_chunks"}),
        brings={
            "chunk_characters down": 0.6,
            "context_tokens down": 0.8,
            "context_chunks down": 0.4,
            "top_score": 0.3,
            "score_gap": 0.3,
            "refusal": 0.2,
            "answer_words down": 0.4,
            "citations": 0.3,
            ChangeKind.RECHUNKED: 0.6,
            ChangeKind.CHUNK_COUNT: 0.4,
            ChangeKind.TOP_K: 0.3,
        },
    ),
    "torn chunks": Leaf(
        cause=Cause.RETRIEVAL,
        prior=0.02,
        falls=frozenset({Rubric.ATTRIBUTED}),
        follows=frozenset({Rubric.COMPLETE, Rubric.RELEVANT, Rubric.GROUNDED}),
        free=frozenset({Rubric.GAIN}),
        marks=frozenset({"chunk_characters", ChangeKind.RECHUNKED, ChangeKind.REINDEXED}),
        brings={
            "citation_validity": 0.5,
            "citations": 0.3,
            "citation_coverage": 0.2,
            "chunk_characters": 0.7,
            "context_tokens": 0.5,
            "chunk_utilization": 0.3,
            "top_score": 0.4,
            "score_gap": 0.4,
            "context_relevance": 0.3,
            ChangeKind.RECHUNKED: 0.9,
            ChangeKind.REINDEXED: 0.4,
        },
    ),
    "documents": Leaf(
        cause=Cause.CORPUS,
        prior=0.05,
        falls=frozenset({Rubric.RETRIEVED}),
        follows=OF_THE_ANSWER,
        free=frozenset({Rubric.PROMPT, Rubric.GAIN}),
        brings={
            **_CHUNKS,
            "retrieval_shape": 0.2,
            "context_chunks": 0.1,
            ChangeKind.DOCUMENTS: 0.8,
            ChangeKind.OTHER_CHUNKS: 0.4,
            ChangeKind.REINDEXED: 0.2,
            ChangeKind.INDEX: 0.1,
        },
    ),
    "stale documents": Leaf(
        cause=Cause.CORPUS,
        prior=0.03,
        falls=frozenset({Rubric.FACTUAL}),
        # Older texts lack what is asked now, though they are about it.
        follows=frozenset({Rubric.COMPLETE, Rubric.RELEVANT}),
        brings={
            "context_tokens": 0.25,
            "chunk_characters": 0.25,
            "answer_relevance": 0.2,
            ChangeKind.DOCUMENTS: 0.6,
            ChangeKind.REINDEXED: 0.1,
        },
    ),
    "hostile documents": Leaf(
        cause=Cause.CORPUS,
        prior=0.01,
        follows=OF_THE_ANSWER | {Rubric.RETRIEVED, Rubric.PROMPT},
        free=frozenset({Rubric.GAIN}),
        marks=frozenset({"injected_context"}),
        brings={"injected_context": 0.95, ChangeKind.DOCUMENTS: 0.3},
    ),
    "unsupported": Leaf(
        cause=Cause.GENERATION,
        prior=0.12,
        falls=frozenset({Rubric.GROUNDED}),
        follows=frozenset({Rubric.ADHERENCE, Rubric.ATTRIBUTED, Rubric.FACTUAL, Rubric.RELEVANT}),
        brings={
            "groundedness": 0.6,
            "grounding": 0.6,
            "answer_words up": 0.3,
            "answer_words down": 0.15,
            "citation_validity": 0.15,
            "citation_coverage": 0.3,
            "citations": 0.3,
            "chunk_utilization": 0.15,
            ChangeKind.LLM_MODEL: 0.3,
            ChangeKind.PROMPT: 0.3,
            ChangeKind.TEMPERATURE: 0.2,
        },
    ),
    "incomplete": Leaf(
        cause=Cause.GENERATION,
        prior=0.08,
        falls=frozenset({Rubric.COMPLETE}),
        follows=frozenset({Rubric.RELEVANT}),
        brings={
            "answer_words down": 0.7,
            "chunk_utilization": 0.4,
            "citations": 0.4,
            "citation_coverage": 0.1,
            ChangeKind.LLM_MODEL: 0.3,
            ChangeKind.PROMPT: 0.3,
            ChangeKind.MAX_TOKENS: 0.4,
        },
    ),
    "refusing": Leaf(
        cause=Cause.GENERATION,
        prior=0.06,
        follows=frozenset({Rubric.COMPLETE, Rubric.RELEVANT, Rubric.GROUNDED}),
        marks=frozenset({"refusal"}),
        brings={
            "refusal": 0.9,
            "chunk_utilization": 0.05,
            "answer_words down": 0.5,
            "citations": 0.5,
            "citation_coverage": 0.1,
            ChangeKind.LLM_MODEL: 0.3,
            ChangeKind.PROMPT: 0.4,
        },
    ),
    "citing": Leaf(
        cause=Cause.GENERATION,
        prior=0.05,
        falls=frozenset({Rubric.ATTRIBUTED}),
        brings={
            "citation_validity": 0.8,
            "citation_coverage": 0.5,
            "citation_coverage gone": 0.05,
            "citations": 0.5,
            "citations gone": 0.05,
            ChangeKind.LLM_MODEL: 0.2,
            ChangeKind.PROMPT: 0.3,
        },
    ),
    "uncited": Leaf(
        cause=Cause.GENERATION,
        prior=0.02,
        free=frozenset({Rubric.ATTRIBUTED}),
        marks=frozenset({"citation_coverage", "citations"}),
        brings={
            "citation_coverage down": 0.9,
            "citations down": 0.8,
            "answer_words down": 0.4,
            "chunk_utilization": 0.1,
            ChangeKind.LLM_MODEL: 0.3,
            ChangeKind.PROMPT: 0.4,
        },
    ),
    "wandering": Leaf(
        cause=Cause.GENERATION,
        prior=0.05,
        falls=frozenset({Rubric.RELEVANT}),
        follows=frozenset({Rubric.COMPLETE}),
        brings={
            "answer_relevance": 0.6,
            "answer_words up": 0.6,
            "answer_words down": 0.15,
            "chunk_utilization": 0.2,
            ChangeKind.LLM_MODEL: 0.3,
            ChangeKind.PROMPT: 0.3,
            ChangeKind.TEMPERATURE: 0.2,
        },
    ),
    "language": Leaf(
        cause=Cause.GENERATION,
        prior=0.04,
        follows=frozenset(OF_THE_ANSWER - {Rubric.FACTUAL}),
        marks=frozenset({"answer_language"}),
        brings={
            "answer_language": 0.95,
            "chunk_utilization": 0.8,
            "groundedness": 0.7,
            "grounding": 0.7,
            "answer_relevance": 0.6,
            "answer_words": 0.4,
            "refusal": 0.1,
            "citation_validity": 0.3,
            ChangeKind.LLM_MODEL: 0.3,
            ChangeKind.PROMPT: 0.4,
        },
    ),
    "cut": Leaf(
        cause=Cause.GENERATION,
        prior=0.04,
        follows=frozenset({Rubric.COMPLETE, Rubric.RELEVANT}),
        marks=frozenset({"answer_complete_text"}),
        brings={
            "answer_complete_text": 0.95,
            "answer_words down": 0.6,
            "citations": 0.5,
            "citation_coverage": 0.2,
            "chunk_utilization": 0.3,
            ChangeKind.LLM_MODEL: 0.2,
            ChangeKind.MAX_TOKENS: 0.5,
            ChangeKind.PROMPT: 0.1,
        },
    ),
}
"""What can go wrong, by a name that no user reads."""

KNOWN = frozenset(name for leaf in LEAVES.values() for name in leaf.brings)
"""The signals and kinds of notices that tell leaves apart."""


def often(leaf: Leaf, *names: str) -> float:
    """How often a leaf brings this signal or kind of notice; of several names the first it has."""
    usual = SURE_FOREIGN if SURE.intersection(names) else FOREIGN
    return next((leaf.brings[name] for name in names if name in leaf.brings), usual)
