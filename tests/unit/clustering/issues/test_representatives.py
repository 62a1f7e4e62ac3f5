"""Five members represent an issue: the typical one, and others that differ."""

from __future__ import annotations

import numpy as np

from clustering.issues.representatives import representatives
from tests.unit.clustering.issue_examples import failure
from tests.unit.clustering.vector_groups import groups


def test_the_first_is_the_medoid() -> None:
    vectors = groups([9, 1])
    chosen = representatives([failure(str(n)) for n in range(10)], vectors, count=1)
    assert chosen == [int((vectors @ vectors.T).mean(axis=1).argmax())]


def test_the_others_are_of_other_routes_and_versions() -> None:
    several = [
        failure(str(n), route=route, service_version=version)
        for n, (route, version) in enumerate(
            [("/ask", "1")] * 20 + [("/chat", "1"), ("/ask", "2"), ("/chat", "2")]
        )
    ]
    chosen = representatives(several, groups([23]), count=4)
    assert {(several[row].route, several[row].service_version) for row in chosen} == {
        ("/ask", "1"),
        ("/chat", "1"),
        ("/ask", "2"),
        ("/chat", "2"),
    }


def test_nobody_is_chosen_twice_and_few_are_all() -> None:
    same = np.ones((3, 4), np.float32) / 2
    assert sorted(representatives([failure(str(n)) for n in range(3)], same)) == [0, 1, 2]
    assert representatives([], same[:0]) == []
