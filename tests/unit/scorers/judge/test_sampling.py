"""Sampling is a hash, the same everywhere and nested in the rate; the budget thins the rate."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from ragvigil.model.record import Feedback, RagRecord
from ragvigil.model.score import Score, Stream
from scorers.judge.sampling import (
    LEAST_THINNING,
    choose_stream,
    is_sampled,
    may_be_chosen,
    next_thinning,
)
from scorers.judge.settings import JudgeSettings

RATES = st.floats(0, 1)
IDS = st.text(max_size=40)
AMOUNT = st.floats(0, 1e9)
LIMIT = st.none() | st.floats(0, 1e9)
BOTH = JudgeSettings(allow=True, sample_rate=0.0, suspicious_rate=1.0, salt="s")


def record(trace_id: str = "t", **changed: object) -> RagRecord:
    return replace(RagRecord(record_id="r", trace_id=trace_id), **changed)  # type: ignore[arg-type]


@given(IDS, RATES, RATES)
def test_a_smaller_sample_lies_inside_a_larger_one(trace_id: str, one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert is_sampled(trace_id, low, "s") <= is_sampled(trace_id, high, "s")


@given(IDS)
def test_rate_0_samples_none_and_rate_1_samples_all(trace_id: str) -> None:
    assert not is_sampled(trace_id, 0.0, "s")
    assert is_sampled(trace_id, 1.0, "s")


def test_the_sampled_share_is_the_rate_and_another_salt_samples_others() -> None:
    ids = [f"{number:032x}" for number in range(20_000)]
    first = {trace_id for trace_id in ids if is_sampled(trace_id, 0.1, "a")}
    second = {trace_id for trace_id in ids if is_sampled(trace_id, 0.1, "b")}
    assert 1850 < len(first) < 2150
    assert 140 < len(first & second) < 270


def test_the_case_of_a_trace_id_does_not_matter() -> None:
    ids = [f"{number:032x}" for number in range(0xABC, 0xABC + 200)]
    assert [is_sampled(trace_id, 0.5, "s") for trace_id in ids] == [
        is_sampled(trace_id.upper(), 0.5, "s") for trace_id in ids
    ]


def test_a_boost_adds_a_stream_around_the_base_sample() -> None:
    settings = JudgeSettings(sample_rate=0.07, suspicious_rate=0, salt="s")
    ids = [f"{number:032x}" for number in range(4000)]
    plain = [choose_stream(record(each), (), settings, {}) for each in ids]
    boosted = [choose_stream(record(each), (), settings, {}, boost=0.5) for each in ids]
    is_base = [each is not None and each.stream is Stream.BASE for each in boosted]
    assert is_base == [each is not None for each in plain]
    more = [each for each in boosted if each and each.stream is Stream.BOOST]
    # Either stream stands for as many answers: 1 over the chance sums up to all of them.
    assert {each.probability for each in boosted if each} == {0.5}
    assert 0.40 < len(more) / len(ids) < 0.46
    assert not any(may_be_chosen(each, settings) for each in ids if not is_sampled(each, 0.07, "s"))
    assert sum(may_be_chosen(each, settings, 0.5) for each in ids) > 1900


def test_a_route_has_its_own_rate() -> None:
    settings = JudgeSettings(allow=True, sample_rate=0.0, routes={"/ask": 1.0}, suspicious_rate=0)
    assert choose_stream(record(route="/other"), (), settings, {}) is None
    chosen = choose_stream(record(route="/ask"), (), settings, {})
    assert chosen is not None
    assert (chosen.stream, chosen.probability) == (Stream.BASE, 1.0)


def test_the_budget_lowers_rate_and_probability() -> None:
    settings = JudgeSettings(allow=True, sample_rate=0.4, suspicious_rate=0.0)
    ids = [f"{number:032x}" for number in range(5_000)]
    chosen = [choose_stream(record(trace_id), (), settings, {}, thinning=0.5) for trace_id in ids]
    samples = [choice for choice in chosen if choice is not None]
    assert {choice.probability for choice in samples} == {0.2}
    assert 850 < len(samples) < 1150


def test_a_record_that_failed_a_cheap_rubric_is_suspicious() -> None:
    failed = Score(rubric="citation_validity", value=0.5)
    chosen = choose_stream(record(), (failed,), BOTH, {"citation_validity": 1.0})
    assert chosen is not None
    assert chosen.stream is Stream.SUSPICIOUS
    assert choose_stream(record(), (failed,), BOTH, {"citation_validity": 0.5}) is None
    assert choose_stream(record(), (failed,), BOTH, {}) is None


def test_an_error_and_a_thumbs_down_are_suspicious() -> None:
    down, up = (Feedback(kind="thumbs", value=value) for value in (0.0, 1.0))
    assert choose_stream(record(error="boom"), (), BOTH, {}) is not None
    assert choose_stream(record(feedback=(down,)), (), BOTH, {}) is not None
    assert choose_stream(record(feedback=(up,)), (), BOTH, {}) is None


@given(IDS, st.sampled_from(["", "/ask", "/other"]), st.booleans())
def test_a_chosen_record_may_be_chosen(trace_id: str, route: str, failed: bool) -> None:
    settings = JudgeSettings(allow=True, sample_rate=0.3, routes={"/ask": 0.5}, suspicious_rate=0.3)
    error = "boom" if failed else None
    if choose_stream(record(trace_id, route=route, error=error), (), settings, {}) is not None:
        assert may_be_chosen(trace_id, settings)


def test_some_traces_cannot_be_chosen_at_all() -> None:
    settings = JudgeSettings(routes={"/ask": 0.1})
    assert not all(may_be_chosen(f"{number:032x}", settings) for number in range(100))


@given(st.floats(LEAST_THINNING, 1), st.tuples(AMOUNT, AMOUNT), st.tuples(LIMIT, LIMIT))
def test_the_thinning_stays_a_share_that_can_recover(
    before: float, spent: tuple[float, float], allowed: tuple[float | None, float | None]
) -> None:
    assert LEAST_THINNING <= next_thinning(before, spent=spent, allowed=allowed) <= 1


def test_without_a_budget_nothing_is_thinned() -> None:
    assert next_thinning(1.0, spent=(10**9, 10.0), allowed=(None, None)) == 1.0


def test_the_scarcer_of_tokens_and_money_decides() -> None:
    assert next_thinning(1.0, spent=(1, 9.9), allowed=(1000, 10.0)) == 0.5


def test_a_budget_of_nothing_is_spent() -> None:
    assert next_thinning(1.0, spent=(0, 0.0), allowed=(0, None)) == 0.5
