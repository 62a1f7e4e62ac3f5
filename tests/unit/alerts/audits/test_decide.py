"""What an audit has shown after some pairs, which rubrics it still judges, and its words."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alerts.audits.decide import Plan, allowed_pairs, caused_by, next_rubrics, overdue, update
from alerts.audits.words import Pace, conclusion, findings, outcome, progress, with_end
from ragvigil.model.audit import Audit, AuditResult, AuditState
from ragvigil.model.finding import FindingKind
from ragvigil.model.notice import Cause
from ragvigil.model.score import Layer
from tests.audit_pairs import paired

RELEVANCE, GROUNDEDNESS, COMPLETENESS = "context_relevance", "groundedness", "completeness"
PROMPT = "prompt_relevance"
PLAN = Plan(first=(RELEVANCE, GROUNDEDNESS), then=(COMPLETENESS,))
STEADY = [(0.9, 0.9), (1.0, 1.0), (0.8, 0.85), (1.0, 0.95)]
WORSE = [(0.9, 0.7), (1.0, 0.6), (0.8, 0.6), (1.0, 1.0)]
SMALL = [(0.9, 0.85), (1.0, 0.9), (0.8, 0.74), (1.0, 0.93)]
LATER_LARGE = SMALL * 30 + WORSE * 120
"""After 120 pairs a drop of 7 points, after 300 one of 15."""
NOISY = [(1.0, 0.0), (0.0, 1.0), (1.0, 0.5), (0.5, 1.0)]
HOUR = 3600 * 10**9


def result(rubric: str = GROUNDEDNESS, **known: object) -> AuditResult:
    layer = Layer.RETRIEVAL if rubric == RELEVANCE else Layer.GENERATION
    return AuditResult(rubric=rubric, layer=layer, **known)  # type: ignore[arg-type]


def after(count: int, scores: list[tuple[float | None, float | None]]) -> AuditResult:
    return update(result(), paired(count, {GROUNDEDNESS: scores}), PLAN, 7)


def audit(*results: AuditResult, **known: object) -> Audit:
    given = {"service": "desk", "environment": "prod", "reason": "prompt v1 -> v2", **known}
    return Audit(
        audit_id="a",
        anchor_unix_nano=HOUR,
        started_unix_nano=HOUR,
        results=results,
        **given,  # type: ignore[arg-type]
    )


def test_a_large_drop_is_confirmed_with_its_means_and_interval() -> None:
    found = after(120, WORSE)
    assert (found.state, found.n, found.decided_unix_nano) == (AuditState.DROPPED, 120, 7)
    assert (found.before, found.after) == pytest.approx((0.925, 0.725))
    assert found.change == pytest.approx(-0.2)
    assert found.low is not None
    assert found.high is not None
    assert found.low < -0.2 < found.high < 0


def test_a_drop_that_matters_is_ruled_out() -> None:
    found = after(300, STEADY)
    assert found.state is AuditState.STEADY
    assert found.low is not None
    assert found.low > -PLAN.smallest_drop


def test_a_drop_that_is_sure_and_too_small_to_matter_is_none() -> None:
    found = after(600, [(0.9, 0.88), (0.8, 0.79)])
    assert found.state is AuditState.STEADY
    assert found.high is not None
    assert found.high < 0


def test_what_shows_neither_goes_on() -> None:
    assert after(100, NOISY).state is AuditState.RUNNING


def test_nothing_is_said_of_few_pairs_however_bad_they_are() -> None:
    total = [(1.0, 0.0)]
    assert after(29, total).state is AuditState.RUNNING
    assert after(30, total).state is AuditState.DROPPED


def test_a_gain_is_no_drop() -> None:
    found = after(300, [(high, low) for low, high in WORSE])
    assert found.state is AuditState.STEADY
    assert found.low is not None
    assert found.low > 0


def test_a_verdict_that_is_missing_counts_for_nothing_not_for_0() -> None:
    found = after(200, [*STEADY, (None, 0.0), (1.0, None)])
    assert found.n == 4 * 33 + 2
    assert found.state is not AuditState.DROPPED
    assert after(50, [(None, None)]) == result()


def test_what_is_decided_stays() -> None:
    decided = after(120, WORSE)
    assert update(decided, paired(300, {GROUNDEDNESS: STEADY}), PLAN, 9) == decided


def test_a_small_drop_is_measured_again_with_all_its_records_and_not_before() -> None:
    small = after(120, LATER_LARGE)
    assert (small.state, small.change) == (AuditState.DROPPED, pytest.approx(-0.07))
    for count in (121, 200, 299):
        assert update(small, paired(count, {GROUNDEDNESS: LATER_LARGE}), PLAN, 9) == small
    whole = update(small, paired(308, {GROUNDEDNESS: LATER_LARGE}), PLAN, 9)
    assert (whole.state, whole.n, whole.decided_unix_nano) == (AuditState.DROPPED, 300, 9)
    assert whole.change == pytest.approx((120 * -0.07 + 180 * -0.2) / 300)
    assert update(whole, paired(400, {GROUNDEDNESS: LATER_LARGE}), PLAN, 11) == whole


def test_a_drop_that_stays_small_is_one_of_its_first_look() -> None:
    whole = update(after(120, SMALL), paired(300, {GROUNDEDNESS: SMALL}), PLAN, 9)
    assert (whole.state, whole.n, whole.decided_unix_nano) == (AuditState.DROPPED, 300, 7)


def test_records_without_a_verdict_do_not_keep_a_small_drop_from_its_measure() -> None:
    scores = [*SMALL, (None, 0.9)]
    whole = update(after(120, scores), paired(300, {GROUNDEDNESS: scores}), PLAN, 9)
    assert whole.n == 240


def test_a_small_drop_of_the_last_rubrics_is_measured_on_the_pairs_of_the_first() -> None:
    small = update(result(COMPLETENESS), paired(120, {COMPLETENESS: LATER_LARGE}), PLAN, 7)
    unjudged = paired(150, {GROUNDEDNESS: STEADY})[120:]
    judged = paired(150, {COMPLETENESS: LATER_LARGE})
    assert update(small, [*judged[:120], *unjudged], PLAN, 9) == small
    assert update(small, judged, PLAN, 9).n == 150


def test_all_rubrics_together_use_one_percent() -> None:
    rubrics = (*PLAN.first, *PLAN.then)
    assert sum(map(PLAN.alpha, rubrics)) == pytest.approx(0.01)
    alone = Plan(first=(RELEVANCE, GROUNDEDNESS))
    assert alone.alpha(RELEVANCE) == pytest.approx(0.005)


@pytest.mark.parametrize(
    ("relevance", "groundedness", "needed"),
    [
        ("running", "running", PLAN.first),
        ("dropped", "running", ()),
        ("running", "dropped", (RELEVANCE,)),
        ("steady", "running", (GROUNDEDNESS,)),
        ("steady", "dropped", ()),
        ("steady", "steady", PLAN.then),
    ],
)
def test_a_drop_ends_what_follows_from_it(
    relevance: str, groundedness: str, needed: tuple[str, ...]
) -> None:
    results = [
        result(RELEVANCE, state=AuditState(relevance)),
        result(GROUNDEDNESS, state=AuditState(groundedness)),
    ]
    assert next_rubrics(results, PLAN, 100) == needed


@pytest.mark.parametrize(
    ("drops", "pairs", "needed"),
    [
        ({RELEVANCE: 0.07}, 120, PLAN.first),
        ({RELEVANCE: 0.1}, 120, ()),
        ({RELEVANCE: 0.07, GROUNDEDNESS: 0.2}, 120, (RELEVANCE,)),
        ({RELEVANCE: 0.07, GROUNDEDNESS: 0.2}, 300, ()),
        ({RELEVANCE: 0.07, GROUNDEDNESS: 0.07}, 300, PLAN.then),
    ],
)
def test_a_small_drop_ends_nothing_and_waits_for_its_records(
    drops: dict[str, float], pairs: int, needed: tuple[str, ...]
) -> None:
    results = [
        result(rubric, state=AuditState.DROPPED, n=min(pairs, 120), before=0.9, after=0.9 - drop)
        for rubric, drop in drops.items()
    ]
    assert next_rubrics(results, PLAN, pairs) == needed


def test_after_small_drops_with_all_their_records_nothing_is_needed() -> None:
    known = {"state": AuditState.DROPPED, "n": 300, "before": 0.9, "after": 0.83}
    results = [result(rubric, **known) for rubric in (*PLAN.first, *PLAN.then)]
    assert next_rubrics(results, PLAN, 300) == ()


@given(
    states=st.lists(st.sampled_from(AuditState), min_size=3, max_size=3),
    drop=st.floats(0.005, 1),
    n=st.integers(30, 600),
)
def test_where_every_drop_pages_none_is_small(
    states: list[AuditState], drop: float, n: int
) -> None:
    rubrics = (*PLAN.first, *PLAN.then)
    every = replace(PLAN, page_drop=0.0)
    results = [
        result(rubric, state=state, n=n, before=1.0, after=1 - drop, change=-drop)
        for rubric, state in zip(rubrics, states, strict=True)
    ]
    needed = next_rubrics(results, every, n)
    known = dict(zip(rubrics, states, strict=True))
    assert all(known[rubric] is AuditState.RUNNING for rubric in needed)
    if AuditState.DROPPED in states[:2]:
        assert set(needed) <= set(PLAN.first[: states.index(AuditState.DROPPED)])
    pairs = paired(300, dict.fromkeys(rubrics, WORSE))
    for decided in results:
        if decided.state is not AuditState.RUNNING:
            assert update(decided, pairs, every, 9) == decided


def test_at_the_budget_the_first_rubrics_end() -> None:
    undecided = [result(RELEVANCE, change=-0.01), result(GROUNDEDNESS, change=0.01)]
    assert next_rubrics(undecided, PLAN, 299) == PLAN.first
    assert next_rubrics(undecided, PLAN, 300) == PLAN.then
    assert next_rubrics(undecided, replace(PLAN, then=()), 300) == ()


def test_a_drop_in_sight_may_cost_twice_as_much_and_no_more() -> None:
    in_sight = [result(n=150, change=-0.06)]
    assert allowed_pairs(in_sight, PLAN) == 600
    assert allowed_pairs([result(n=149, change=-0.06)], PLAN) == 300
    assert allowed_pairs([result(n=150, change=-0.03)], PLAN) == 300
    assert allowed_pairs([result(n=150, change=-0.06, state=AuditState.DROPPED)], PLAN) == 300
    assert next_rubrics(in_sight, PLAN, 600) == PLAN.then


def test_what_comes_then_does_not_wait_for_a_drop_in_sight() -> None:
    in_sight = [result(n=300, change=-0.06)]
    judged = paired(300, dict.fromkeys(PLAN.first, WORSE))
    assert overdue(in_sight, PLAN, judged[:299]) == ()
    assert overdue(in_sight, PLAN, judged) == PLAN.then
    caught_up = paired(300, dict.fromkeys((*PLAN.first, *PLAN.then), WORSE))
    assert overdue(in_sight, PLAN, (*caught_up, *judged)) == ()
    assert overdue([result(state=AuditState.DROPPED, before=0.9, after=0.7)], PLAN, judged) == ()


def test_a_gain_of_the_reranker_alone_asks_for_no_pair() -> None:
    plan = Plan(first=(RELEVANCE, "rerank_gain", GROUNDEDNESS))
    steady = [result(name, state=AuditState.STEADY) for name in (RELEVANCE, GROUNDEDNESS)]
    assert next_rubrics(steady, plan, 100) == ()
    assert next_rubrics(steady[:1], plan, 100) == ("rerank_gain", GROUNDEDNESS)


def test_a_drop_among_the_last_rubrics_ends_those_after_it() -> None:
    plan = replace(PLAN, then=(COMPLETENESS, "answer_relevance"))
    steady = [result(name, state=AuditState.STEADY) for name in PLAN.first]
    dropped = result(COMPLETENESS, state=AuditState.DROPPED, before=0.9, after=0.6)
    assert next_rubrics(steady, plan, 300) == plan.then
    assert next_rubrics([*steady, dropped], plan, 300) == ()


def test_after_the_end_of_all_nothing_is_needed() -> None:
    results = [result(name, state=AuditState.STEADY) for name in (*PLAN.first, *PLAN.then)]
    assert next_rubrics(results, PLAN, 10) == ()


@pytest.mark.parametrize("cause", [None, *Cause])
def test_a_drop_of_relevance_is_of_retrieval_or_corpus_whatever_changed(
    cause: Cause | None,
) -> None:
    results = [result(RELEVANCE, state=AuditState.DROPPED)]
    causes = (cause,) if cause else ()
    assert caused_by(RELEVANCE, results, causes) == (Cause.RETRIEVAL, Cause.CORPUS)


def test_what_the_prompt_alone_lost_was_lost_on_the_way() -> None:
    lost = [result(RELEVANCE, state=AuditState.STEADY), result(PROMPT, state=AuditState.DROPPED)]
    assert caused_by(PROMPT, lost, (Cause.CORPUS,)) == (Cause.RETRIEVAL,)
    assert caused_by("rerank_gain", (), (Cause.CORPUS,)) == (Cause.RETRIEVAL,)
    both = [result(RELEVANCE), result(PROMPT, state=AuditState.DROPPED)]
    assert caused_by(PROMPT, both, ()) == (Cause.RETRIEVAL, Cause.CORPUS)


def test_what_is_untrue_and_supported_is_of_the_corpus() -> None:
    supported = [result(state=AuditState.STEADY)]
    assert caused_by("factual_accuracy", supported, (Cause.GENERATION,)) == (Cause.CORPUS,)
    assert caused_by("factual_accuracy", [result()], ()) == ()


def test_worse_answers_from_steady_retrieval_are_not_of_generation_where_the_prompt_is_worse() -> (
    None
):
    results = [
        result(RELEVANCE, state=AuditState.STEADY),
        result(PROMPT, n=200),
        result(state=AuditState.DROPPED),
    ]
    assert caused_by(GROUNDEDNESS, results, ()) == ()


def test_a_drop_of_groundedness_is_of_generation_where_relevance_is_steady() -> None:
    steady = [result(RELEVANCE, state=AuditState.STEADY), result(state=AuditState.DROPPED)]
    assert caused_by(GROUNDEDNESS, steady, (Cause.RETRIEVAL,)) == (Cause.GENERATION,)
    unknown = [result(RELEVANCE), result(state=AuditState.DROPPED)]
    assert caused_by(GROUNDEDNESS, unknown, (Cause.RETRIEVAL,)) == (Cause.RETRIEVAL,)
    assert caused_by(GROUNDEDNESS, unknown, ()) == ()


def test_what_answers_lack_may_be_of_chunks_that_hold_less_though_relevance_is_steady() -> None:
    steady = [result(RELEVANCE, state=AuditState.STEADY), result("completeness")]
    cut = (Cause.RETRIEVAL,)
    assert caused_by("completeness", steady, cut) == (Cause.GENERATION, Cause.RETRIEVAL)
    assert caused_by("completeness", steady, ()) == (Cause.GENERATION,)
    assert caused_by("completeness", [result(RELEVANCE)], cut) == cut
    # Cut anew, another chunk holds what an answer cites.
    assert caused_by("chunk_attribution", steady, cut) == (Cause.GENERATION, Cause.RETRIEVAL)
    assert caused_by("chunk_attribution", steady, ()) == (Cause.GENERATION,)


def test_the_progress_line_says_what_could_be_shown_by_when() -> None:
    pairs = paired(84, {GROUNDEDNESS: NOISY})
    running = audit(update(result(), pairs, PLAN, 0))
    line = progress(running, pairs, PLAN, Pace(an_hour=108, now=13 * 3600 + 40 * 60))
    assert line.startswith("after 84 of 300 pairs: groundedness 0 [-")
    assert line.endswith(" by about 15:40 UTC")
    now, later = (int(part.split()[-2 if "points" in part else -1]) for part in (
        line.split("could show a drop of ")[1].split(" now")[0],
        line.split(" now, ")[1].split(" by about")[0],
    ))  # fmt: skip
    assert now > later > 0


def test_before_the_least_pairs_the_line_says_only_what_will_be_shown() -> None:
    pairs = paired(5, {GROUNDEDNESS: NOISY})
    running = audit(update(result(), pairs, PLAN, 0))
    line = progress(running, pairs, PLAN, Pace(an_hour=100, now=0))
    assert "now," not in line
    assert "; could show a drop of " in line
    assert progress(audit(), [], PLAN, Pace(an_hour=100, now=0)) == (
        "after 0 of 300 pairs: nothing judged yet"
    )


def test_each_end_has_its_words() -> None:
    known = {"n": 210, "change": -0.1, "low": -0.15, "high": -0.05}
    dropped = result(state=AuditState.DROPPED, **known)
    undecided = result(
        RELEVANCE, state=AuditState.UNDECIDED, n=9, change=-0.03, low=-0.09, high=0.03
    )
    steady = result(state=AuditState.STEADY, **known)
    assert outcome(dropped, PLAN) == "groundedness dropped by 10 [5, 15]"
    assert outcome(steady, PLAN) == "groundedness: no drop over 4 points"
    assert outcome(undecided, PLAN) == "context_relevance -3 [-9, +3] undecided"
    assert outcome(result(), PLAN) == "groundedness: nothing judged"
    over = audit(undecided, steady, why="at the budget: 300 pairs judged")
    assert conclusion(over, PLAN) == (
        "context_relevance -3 [-9, +3] undecided; groundedness: no drop over 4 points "
        "(at the budget: 300 pairs judged)"
    )


def test_a_finding_names_routes_cause_and_the_traces_that_lost_most() -> None:
    pairs = paired(120, {GROUNDEDNESS: WORSE, RELEVANCE: STEADY})
    results = [update(result(name), pairs, PLAN, 5 * HOUR) for name in PLAN.first]
    (found,) = findings(audit(*results), pairs, PLAN)
    assert (found.kind, found.signal, found.layer) == (
        FindingKind.AUDIT, GROUNDEDNESS, Layer.GENERATION,
    )  # fmt: skip
    assert (found.routes, found.n, found.since_unix_nano) == (("/ask",), 120, HOUR)
    assert found.causes == (Cause.GENERATION,)  # relevance is steady
    assert len(found.traces) == 5
    assert all(int(trace, 16) // 2 % 4 == 1 for trace in found.traces)
    assert found.words.startswith("groundedness dropped by 20 [")
    assert found.words.endswith("120 pairs judged before and after prompt v1 -> v2")
    assert found.is_open


def test_a_drop_stands_for_a_day_or_until_a_later_audit_shows_a_gain() -> None:
    pairs = paired(120, {GROUNDEDNESS: WORSE})
    first = audit(update(result(), pairs, PLAN, 5 * HOUR))
    (found,) = findings(first, pairs, PLAN)
    assert with_end(found, [first], 28 * HOUR).is_open
    assert not with_end(found, [first], 29 * HOUR).is_open
    gain = result(state=AuditState.STEADY, low=0.02, decided_unix_nano=8 * HOUR)
    later = replace(first, audit_id="b", anchor_unix_nano=7 * HOUR, results=(gain,))
    assert with_end(found, [first, later], 9 * HOUR).cleared_unix_nano == 8 * HOUR
    elsewhere = replace(later, routes=("/other",))
    assert with_end(found, [first, elsewhere], 9 * HOUR).is_open
    no_gain = replace(later, results=(replace(gain, low=-0.01),))
    assert with_end(found, [first, no_gain], 9 * HOUR).is_open


def test_rubrics_of_one_reply_share_what_one_may_use() -> None:
    wide = replace(PLAN, first=(RELEVANCE, "context_precision", GROUNDEDNESS))
    assert wide.alpha(GROUNDEDNESS) == PLAN.alpha(GROUNDEDNESS)
    assert wide.alpha(RELEVANCE) == wide.alpha("context_precision") == PLAN.alpha(RELEVANCE) / 2
