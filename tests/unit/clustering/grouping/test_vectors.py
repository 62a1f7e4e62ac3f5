"""The joint vector of a reason and a question."""

from __future__ import annotations

import numpy as np
import pytest

from clustering.failures.masking import masked
from clustering.grouping.vectors import MOST_MEMBERS, centroid, joint, moved, unit
from ragvigil.inference.models import load
from ragvigil.inference.weights import NoModel

RNG = np.random.default_rng(5)


def directions(n: int, size: int = 384) -> np.ndarray:
    return unit(RNG.normal(size=(n, size)).astype(np.float32))


def test_a_dot_product_is_three_quarters_reason_and_one_quarter_question() -> None:
    reasons, questions = directions(2), directions(2)
    first, second = joint(reasons, questions)
    likeness = 0.75 * reasons[0] @ reasons[1] + 0.25 * questions[0] @ questions[1]
    assert first.shape == (768,)
    assert first @ second == pytest.approx(likeness, abs=1e-6)
    assert first @ first == pytest.approx(1.0)


def test_without_a_question_the_reason_speaks_alone() -> None:
    reasons = directions(2)
    first, second = joint(reasons, np.zeros((2, 384), dtype=np.float32))
    assert first @ second == pytest.approx(float(reasons[0] @ reasons[1]), abs=1e-6)


def test_vectors_of_nothing_are_none() -> None:
    empty = np.zeros((0, 384), dtype=np.float32)
    assert joint(empty, empty).shape == (0, 768)


def test_a_centroid_moves_to_the_mean_of_its_members() -> None:
    vectors = unit(np.array([[1, 0], [0, 1]], dtype=np.float32))
    assert moved(vectors[0], 1, vectors[1]) == pytest.approx(centroid(vectors))


def test_a_large_issue_still_drifts() -> None:
    old, new = np.eye(2, dtype=np.float32)
    centre = old
    for members in range(100_000, 100_000 + 5 * MOST_MEMBERS):
        centre = moved(centre, members, new)
    assert centre @ new > 0.95


@pytest.fixture(scope="module")
def embed() -> object:
    try:
        return load("embed", "all-MiniLM-L6-v2").run
    except NoModel as error:
        pytest.skip(str(error))


def test_masked_reasons_are_nearer_by_cause_than_by_topic(embed) -> None:  # type: ignore[no-untyped-def]
    examples = [
        ("Refused to say how long a card takes although the passages tell", "When comes my card?"),
        ("Refused to say how to get a refund although the passages tell", "How do I get a refund?"),
        ("The card is said to take 9 days where the context names 14 days", "When comes my card?"),
        ("A refund is said to take 3 days where the context names 5 days", "How long is a refund?"),
    ]
    questions = embed([question for _, question in examples])
    plain = joint(embed([reason for reason, _ in examples]), questions)
    without = joint(embed([masked(*assignment) for assignment in examples]), questions)

    def lead(vectors: np.ndarray) -> float:
        """By how much reasons of one cause are nearer than those of one topic."""
        likeness = vectors @ vectors.T
        return float(likeness[0, 1] + likeness[2, 3] - likeness[0, 2] - likeness[1, 3])

    assert lead(without) > lead(plain)
    assert lead(without) > 0
