"""An issue's count of members, and its interval."""

from __future__ import annotations

import doctest
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

import clustering.issues.counts
from clustering.issues.counts import SampledMembers, count
from ragvigil.model.score import Stream


def looked(p: float, members: int, stream: Stream = Stream.BASE) -> SampledMembers:
    return SampledMembers(stream=stream, inclusion_probability=p, members=members)


def test_the_examples_hold() -> None:
    assert doctest.testmod(clustering.issues.counts).failed == 0


def test_what_looks_at_every_record_counts_exactly() -> None:
    estimate = count([looked(1.0, 22)])
    assert (estimate.seen, estimate.about, estimate.low, estimate.high) == (22, 22, 22, 22)
    assert estimate.is_exact
    assert str(count([])) == "0"


def test_boosted_members_speak_for_fewer() -> None:
    assert count([looked(0.1, 10), looked(0.5, 10, Stream.BOOST)]).about == pytest.approx(120)


def test_suspicious_members_and_unknown_chances_speak_for_nobody() -> None:
    estimate = count([looked(0.1, 10), looked(0.3, 7, Stream.SUSPICIOUS), looked(0.0, 2)])
    assert (estimate.seen, estimate.apart) == (19, 9)
    assert estimate.about == pytest.approx(100)
    only = count([looked(0.3, 7, Stream.SUSPICIOUS)])
    assert (only.about, only.is_exact, str(only)) == (7, False, "7 seen")


@given(st.lists(st.builds(looked, st.floats(0.01, 1.0), st.integers(0, 500)), max_size=5))
def test_the_estimate_lies_in_its_interval_and_above_what_was_seen(
    rows: list[SampledMembers],
) -> None:
    estimate = count(rows)
    assert estimate.seen <= estimate.low <= estimate.about <= estimate.high


@pytest.mark.parametrize(
    ("chances", "size"),
    [([0.07], 310), ([0.5], 60), ([0.02], 1000), ([1.0, 0.5, 0.05, 0.05], 300)],
)
def test_the_interval_has_the_truth_nineteen_times_in_twenty(
    chances: list[float], size: int
) -> None:
    rng, trials, covered = random.Random(11), 600, 0
    for _ in range(trials):
        drawn = Counter(p for n in range(size) if rng.random() < (p := chances[n % len(chances)]))
        estimate = count([looked(p, members) for p, members in drawn.items()])
        covered += estimate.low <= size <= estimate.high
    assert 0.93 <= covered / trials <= 0.985
