"""Simulated answers of a RAG service, from the grades of its chunks to what a judge reads of it.

What follows from worse chunks follows from them here, too: an answer refuses more often, is less
supported, less complete and worse cited where its prompt lacks a relevant chunk. The judge errs in
every tenth verdict. Nothing here knows how the verdict on a layer weighs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from alerts.deltas.windows import Floats

FLIPS = 0.1
"""Share of the judge's verdicts that are wrong."""
FOUND, KEPT = 8, 5
"""Chunks that the retriever returns, and those of the prompt."""
CLAIMS, FACTS = 4, 3
REFUSING = "refusals in 30 %"
SHARES = {
    "other chunks for 30 %": 0.3, "half of the documents gone": 0.5, "stale documents": 0.2,
    "unsupported in 30 %": 0.3, "citations off by one in 40 %": 0.4, "truncation in 30 %": 0.3,
    "empty answers in 10 %": 0.1,
}  # fmt: skip
"""The share of the requests that a fault hits; all where it is not here."""
LOSES = {
    "other chunks for 30 %": 1.0, "half of the documents gone": 0.7, "embedder changed": 0.35,
    "refusals after worse chunks": 0.6, "three junk chunks": 1.0,
}  # fmt: skip
"""How likely a hit request loses each of its relevant chunks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What differs from service to service."""

    relevant: float
    supported: float
    cited: float
    refuses: float
    has_reranker: bool
    has_source: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """Simulated answers: what a judge would say of each, and the numbers of all traffic.

    Arrays of one value an answer; NaN where a rubric or number does not apply.
    """

    rubrics: Mapping[str, Floats]
    numbers: Mapping[str, Floats]


def service(rng: np.random.Generator, *, needs_reranker: bool) -> Service:
    """A service, with a reranker where it needs one and by chance elsewhere."""
    return Service(
        relevant=rng.uniform(0.3, 0.6),
        supported=rng.uniform(0.88, 0.97),
        cited=rng.uniform(0.85, 0.95),
        refuses=rng.uniform(0.3, 0.6),
        has_reranker=needs_reranker or rng.random() < 0.6,
        has_source=rng.random() < 0.5,
    )


def answers(rng: np.random.Generator, of: Service, count: int, fault: str = "") -> Answers:
    """Simulates answers of a service, healthy or with a fault."""
    found = _found(rng, of, count, fault)
    shown, before, after = _shown(rng, of, found, fault)
    relevant = (shown >= 2 / 3).sum(axis=1)
    has = relevant > 0
    hit = _hit(rng, count, fault)
    refused = rng.random(count) < np.where(has, 0.02, of.refuses) + 0.3 * (fault == REFUSING)
    empty = hit if fault == "empty answers in 10 %" else np.zeros(count, bool)
    silent = refused | empty
    supported = _share(rng, _supported(of, has, hit, fault), CLAIMS)
    rubrics = {
        "context_relevance": _best_mean(_read(rng, found)),
        "prompt_relevance": _best_mean(_read(rng, shown)),
        "rerank_gain": _gain(rng, before, after) if of.has_reranker else np.full(count, np.nan),
        "groundedness": np.where(silent, np.nan, supported),
        "completeness": np.where(
            silent, np.nan, _share(rng, _complete(relevant, hit, fault), FACTS)
        ),
        "answer_relevance": np.where(empty, np.nan, _addressed(rng, has, refused, fault)),
        "chunk_attribution": np.where(silent, np.nan, _share(rng, _cited(of, has, hit, fault), 3)),
        "factual_accuracy": _factual(rng, of, has, hit, silent, fault),
    }
    return Answers(
        rubrics=rubrics,
        numbers=_numbers(rng, shown, relevant, silent, refused, empty, hit, supported, fault),
    )


def _hit(rng: np.random.Generator, count: int, fault: str) -> np.ndarray:
    return rng.random(count) < SHARES.get(fault, 1.0 if fault else 0.0)


def _found(rng: np.random.Generator, of: Service, count: int, fault: str) -> Floats:
    """True grades of the retrieved chunks, in the retriever's order; shape (count, chunks)."""
    size = 2 * FOUND if fault == "top-k doubled" else 3 if fault == "three junk chunks" else FOUND
    likely = of.relevant * np.exp(-np.arange(size) / 4)
    is_relevant = rng.random((count, size)) < likely
    lost = rng.random((count, size)) < LOSES.get(fault, 0.0)
    is_relevant &= ~(lost & _hit(rng, count, fault)[:, None])
    high = rng.choice([2 / 3, 1.0], (count, size))
    grades = np.where(is_relevant, high, rng.choice([0.0, 0.0, 1 / 3], (count, size)))
    if fault == "chunker changed":
        grades = np.where(rng.random(grades.shape) < 0.4, np.maximum(grades - 1 / 3, 0), grades)
    return grades


def _shown(
    rng: np.random.Generator, of: Service, found: Floats, fault: str
) -> tuple[Floats, Floats, Floats]:
    """Grades of the prompt's chunks, and those of the first ones before and after the reranker."""
    kept = 2 * KEPT if fault == "top-k doubled" else min(KEPT, found.shape[1])
    before = found[:, :kept]
    if not of.has_reranker or fault == "reranker off":
        return before, before, before
    order = np.argsort(-(found + rng.normal(0, 0.25, found.shape)), axis=1)
    if fault == "reranker reversed":
        order = order[:, ::-1]
    after = np.take_along_axis(found, order, axis=1)[:, :kept]
    if fault == "the same chunks upside down":
        after = after[:, ::-1]
    return after, before, after


def _read(rng: np.random.Generator, grades: Floats) -> Floats:
    """Grades as the judge gives them: every tenth is on the other side of relevant."""
    other = np.where(grades >= 2 / 3, 1 / 3, 2 / 3)
    return np.where(rng.random(grades.shape) < FLIPS, other, grades)


def _best_mean(grades: Floats) -> Floats:
    return np.sort(grades, axis=1)[:, ::-1][:, :KEPT].mean(axis=1)


def _gain(rng: np.random.Generator, before: Floats, after: Floats) -> Floats:
    weights = 1 / np.log2(np.arange(before.shape[1]) + 2)
    had, has = (_read(rng, grades) @ weights for grades in (before, after))
    best = np.maximum(np.maximum(had, has), 1e-9)
    return np.clip((has / best - had / best + 1) / 2, 0, 1)


def _share(rng: np.random.Generator, likely: Floats, items: int) -> Floats:
    """The share of `items` that the judge accepts, each with its error."""
    read = likely * (1 - FLIPS) + (1 - likely) * FLIPS
    return rng.binomial(items, read) / items


def _supported(of: Service, has: np.ndarray, hit: np.ndarray, fault: str) -> Floats:
    likely = np.where(has, of.supported, 0.6 * of.supported)
    return np.where(hit, 0.45 * likely, likely) if fault == "unsupported in 30 %" else likely


def _complete(relevant: np.ndarray, hit: np.ndarray, fault: str) -> Floats:
    likely = np.select([relevant >= 2, relevant == 1], [0.88, 0.75], 0.2)
    cut = fault == "answers half as long" or (hit & (fault == "truncation in 30 %"))
    return np.where(cut, 0.6 * likely, likely)


def _addressed(
    rng: np.random.Generator, has: np.ndarray, refused: np.ndarray, fault: str
) -> Floats:
    level = np.select([refused, has], [0.5, 0.9], 0.75) - 0.25 * (fault == "another language")
    return np.clip(np.round(4 * (level + rng.normal(0, 0.15, len(has)))) / 4, 0, 1)


def _cited(of: Service, has: np.ndarray, hit: np.ndarray, fault: str) -> Floats:
    likely = np.where(has, of.cited, 0.6)
    return np.where(hit, 0.3, likely) if fault == "citations off by one in 40 %" else likely


def _factual(
    rng: np.random.Generator,
    of: Service,
    has: np.ndarray,
    hit: np.ndarray,
    silent: np.ndarray,
    fault: str,
) -> Floats:
    likely = _supported(of, has, hit, fault)
    if fault == "stale documents":
        likely = np.where(hit, 0.1, likely)
    return np.where(silent | (not of.has_source), np.nan, _share(rng, likely, 1))


def _by_local_models(
    rng: np.random.Generator,
    shown: Floats,
    supported: Floats,
    silenced: Floats,
    *,
    is_foreign: bool,
) -> dict[str, Floats]:
    """What the local models say of all traffic, by signal."""
    count = len(shown)
    return {
        "groundedness": (0.6 + 0.25 * supported - 0.3 * is_foreign + rng.normal(0, 0.1, count))
        * silenced,
        "context_relevance": 0.4 + 0.2 * shown.mean(axis=1) + rng.normal(0, 0.06, count),
        "answer_relevance": (0.6 - 0.15 * is_foreign + rng.normal(0, 0.1, count)) * silenced,
    }


def _numbers(
    rng: np.random.Generator,
    shown: Floats,
    relevant: np.ndarray,
    silent: np.ndarray,
    refused: np.ndarray,
    empty: np.ndarray,
    hit: np.ndarray,
    supported: Floats,
    fault: str,
) -> dict[str, Floats]:
    """Rates and numbers of all traffic, by signal."""
    count, chunks = shown.shape
    is_foreign = fault == "another language"
    cut = (hit & (fault == "truncation in 30 %")) | (rng.random(count) < 0.005)
    halved = np.full(count, fault == "answers half as long")
    shorter = np.select([refused, cut, halved], [0.15, 0.6, 0.5], 1.0)
    used = np.clip(0.8 * relevant / chunks + rng.normal(0, 0.1, count), 0, 1)
    used *= np.where(halved, 0.8, 0.3 if is_foreign else 1.0)
    invalid = 0.015 + 0.3 * (fault == "citations off by one in 40 %") + 0.03 * is_foreign
    characters = np.log(450 if fault == "chunker changed" else 900) + rng.normal(0, 0.2, count)
    silenced = np.where(silent, np.nan, 1.0)
    return {
        "refusal:refused": refused.astype(float),
        "answer_complete_text:truncated": cut.astype(float),
        "answer_complete_text:empty": empty.astype(float),
        "answer_language:failed": (rng.random(count) < (0.9 if is_foreign else 0.005)) * silenced,
        "citation_validity:failed": (rng.random(count) < invalid) * silenced,
        "chunk_utilization": used * silenced,
        "answer_words": np.where(empty, np.nan, np.log(shorter * 90) + rng.normal(0, 0.5, count)),
        "citations": rng.poisson(3 * shorter) * silenced,
        "context_chunks": np.full(count, float(chunks)) + rng.normal(0, 0.2, count),
        "chunk_characters": characters,
        "context_tokens": characters + np.log(chunks / 4),
        "top_score": (0.7 if fault == "embedder changed" else 0.6)
        + 0.2 * shown.max(axis=1)
        + rng.normal(0, 0.08, count),
        **_by_local_models(rng, shown, supported, silenced, is_foreign=is_foreign),
    }
