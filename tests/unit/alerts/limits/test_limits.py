"""Limits of one's own: proven or not, tried on the past, and found in a real store."""

from __future__ import annotations

import numpy as np
import pytest

from alerts.limits.crossing import BIN_SECONDS, Bins, is_beyond, is_within, words
from alerts.limits.job import LimitJob
from alerts.limits.settings import OwnLimit, Reach
from alerts.limits.trial import Trial, trial_words, tried
from alerts.signals.catalogue import accepted_key
from ragvigil.model.finding import FindingKind
from ragvigil.store.engine.store import Store
from tests.outcomes import NOW, SECOND
from tests.unit.alerts.stored_requests import Served, write

MINUTE, HOUR, DAY = 60, 3600, 86_400
NOON = NOW // SECOND // HOUR * HOUR - 6 * HOUR
REFUSED = OwnLimit(signal="refusal:refused", above=0.3, reaches=Reach.PAGE)
FOUNDED = OwnLimit(signal="groundedness", below=0.7)


@pytest.mark.parametrize(
    ("limit", "sums", "beyond"),
    [
        (REFUSED, (40, 25, 25), True),
        (REFUSED, (40, 14, 14), False),  # 35 % of 40 is no evidence
        (REFUSED, (10, 10, 10), False),  # fewer than the least
        (OwnLimit(signal="citation_validity:failed", below=0.5), (40, 2, 2), True),
        (FOUNDED, (40, 20, 12), True),
        (FOUNDED, (40, 27, 20), False),  # 0.675, and it scatters
        (OwnLimit(signal="answer_words", above=200), (40, 12_000, 4_000_000), True),
    ],
)
def test_a_limit_is_crossed_when_the_whole_interval_lies_beyond_it(
    limit: OwnLimit, sums: tuple[float, float, float], beyond: bool
) -> None:
    assert is_beyond(limit, *sums) == beyond


def test_a_limit_says_what_was_measured_and_what_was_wanted() -> None:
    assert words(REFUSED, 60, 41, 41) == (
        "refusal:refused is 41 of 60 answers (68 % [56, 79], your limit is 30 %)"
    )
    assert words(FOUNDED, 40, 20, 12) == (
        "groundedness is 0.5 [0.43, 0.57] over 40 answers, your limit is 0.7"
    )
    assert is_within(FOUNDED, 40, 28)
    assert not is_within(FOUNDED, 0, 0)


def past(*shares: float) -> dict[tuple[str, str, str], Bins]:
    """A bin of ten answers for each share that refuses."""
    n, hits = np.full(len(shares), 10.0), 10 * np.array(shares)
    return {("desk", "live", "/a"): Bins(start=DAY, n=n, total=hits, squares=hits)}


def test_a_trial_counts_how_often_it_would_have_told() -> None:
    calm, bad = [0.05] * 48, [0.9] * 12
    crossings = tried(REFUSED, past(*calm, *bad, *calm, *bad, *calm))
    assert len(crossings) == 2
    trial = Trial(limit=REFUSED, at=DAY, days=30, crossings=tuple(crossings))
    told = trial_words(trial)
    assert trial.words == "would have paged 2 times in 30 days"
    assert told.startswith("would have paged 2 times in 30 days: 1970-01-02 04:")
    assert told.endswith(" /a")
    ticket = REFUSED.model_copy(update={"reaches": Reach.TICKET})
    quiet = Trial(limit=ticket, at=DAY, days=30, crossings=())
    assert trial_words(quiet) == quiet.words == "would not have opened a ticket in 30 days"


def test_a_limit_just_over_a_steady_share_is_quiet_for_weeks() -> None:
    rng = np.random.default_rng(3)
    month = rng.binomial(10, 0.2, 30 * 288) / 10
    assert len(tried(REFUSED, past(*month))) == 0


def requests(first: int, start: int, minutes: int, **fields: object) -> list[Served]:
    return [
        Served(number=first + place, time=start + place * 30, **fields)  # type: ignore[arg-type]
        for place in range(2 * minutes)
    ]


def test_a_crossed_limit_pages_until_it_is_kept_again(store: Store) -> None:
    write(store, requests(0, NOON - 2 * HOUR, 120))
    write(store, requests(1000, NOON, 60, label="refused"))
    write(store, requests(2000, NOON + HOUR, 120))
    job = LimitJob(store, [REFUSED])
    found = [
        finding
        for minute in range(0, 180, 5)
        for finding in job.run(NOON + minute * MINUTE + 61, {})
    ]
    assert {finding.finding_id for finding in found} == {found[0].finding_id}
    assert found[0].kind is FindingKind.BROKEN
    assert abs(found[0].since_unix_nano // SECOND - NOON) <= BIN_SECONDS
    assert "your limit is 30 %" in found[0].words
    assert not found[-1].is_open
    assert job.run(NOON + 180 * MINUTE + 61, {}) == ()


def test_a_measure_may_have_a_limit_and_goes_on_after_a_start(store: Store) -> None:
    write(store, requests(0, NOON - HOUR, 60, measures={"answer_words": 300.0}))
    limit = OwnLimit(signal="answer_words", above=200, route="*")
    (found,) = LimitJob(store, [limit]).run(NOON + 61, {})
    assert (found.kind, found.routes) == (FindingKind.LIMIT, ())
    (again,) = LimitJob(store, [limit], [found]).run(NOON + 5 * MINUTE + 61, {})
    assert again.finding_id == found.finding_id
    for accepted, is_over in ((300.0, True), (200.0, False)):
        levels = {accepted_key(found): accepted}
        (seen,) = LimitJob(store, [limit], [found]).run(NOON + 361, levels)
        assert seen.is_open is not is_over


def test_what_a_limit_of_before_found_ends_with_the_limit(store: Store) -> None:
    write(store, requests(0, NOON - HOUR, 60, measures={"answer_words": 300.0}))
    limit = OwnLimit(signal="answer_words", above=200, route="*")
    (found,) = LimitJob(store, [limit]).run(NOON + 61, {})
    for limits in ([], [limit.model_copy(update={"above": 400})]):
        (ended,) = LimitJob(store, limits, [found]).run(NOON + 361, {})
        assert (ended.finding_id, ended.is_open) == (found.finding_id, False)
        assert ended.words == "the limit was changed or removed"


def test_a_limit_that_reaches_nobody_is_only_tried(store: Store) -> None:
    write(store, requests(0, NOON - HOUR, 60, label="refused"))
    tried_only = REFUSED.model_copy(update={"reaches": Reach.NOBODY})
    job = LimitJob(store, [tried_only])
    assert job.run(NOON + 61, {}) == ()
    (trial,) = job.trials
    assert (trial.limit, trial.at, len(trial.crossings)) == (tried_only, NOON, 1)
