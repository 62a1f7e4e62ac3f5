"""No order of calls spends more than the budget, and the sample is paced by the traffic."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragvigil.llm.budget import EVEN, Budget, Limits, Reservation, Unpriced, traffic_by
from ragvigil.llm.outcome import Purpose, Usage
from ragvigil.llm.prices import Price
from ragvigil.llm.spending import Pot, Spending, SpendingLog

DAY = datetime(2026, 3, 1, tzinfo=UTC).timestamp()
PRICE = Price(input=1.0, output=4.0)


class Clock:
    """Seconds since midnight that pass when they are told to."""

    def __init__(self, hour: float = 0.0) -> None:
        self.hour = hour

    def __call__(self) -> float:
        return DAY + self.hour * 3600


def budget(
    clock: Clock, *, tokens: int | None = None, money: float | None = None, share: float = 0.0,
    log: SpendingLog | None = None, price: Price | None = PRICE,
) -> Budget:  # fmt: skip
    limits = Limits(tokens=tokens, money=money, reserved_share=share)
    return Budget(limits, price_on=lambda _: price, clock=clock, log=log)


def tokens(count: int) -> Usage:
    return Usage(input_tokens=count)


@given(
    st.integers(0, 5000),
    st.lists(
        st.tuples(st.sampled_from(Purpose), st.integers(0, 800), st.floats(0, 1), st.booleans()),
        max_size=60,
    ),
    st.floats(0, 1),
)
def test_no_order_of_calls_spends_more_than_the_budget(
    limit: int, calls: list[tuple[Purpose, int, float, bool]], share: float
) -> None:
    clock = Clock(23.9)
    under_test = budget(clock, tokens=limit, money=limit * 4e-6, share=share)
    under_way: list[tuple[Reservation, Usage]] = []
    for purpose, size, part, settles_now in calls:
        most = Usage(input_tokens=size, output_tokens=size)
        reservation = under_test.reserve(most, purpose)
        if reservation is not None:
            used = Usage(input_tokens=int(size * part), output_tokens=int(size * part))
            under_way.append((reservation, used))
        if settles_now and under_way:
            under_test.settle(*under_way.pop(0))
        spent = under_test.spent(Pot.SAMPLE) + under_test.spent(Pot.RESERVED)
        assert spent.tokens <= limit
        assert spent.money <= limit * 4e-6 + 1e-6


@given(
    st.integers(0, 3000),
    st.lists(st.tuples(st.integers(1, 800), st.floats(0, 1), st.booleans()), max_size=40),
    st.integers(1, 1500),
)
def test_a_call_that_is_said_to_fit_later_fits_when_the_others_cost_nothing(
    limit: int, calls: list[tuple[int, float, bool]], wanted: int
) -> None:
    under_test = budget(Clock(23.9), tokens=limit, money=limit * 1e-6)
    under_way = []
    for size, part, settles_now in calls:
        reservation = under_test.reserve(tokens(size), Purpose.SAMPLE)
        if reservation is not None and settles_now:
            under_test.settle(reservation, tokens(int(size * part)))
        elif reservation is not None:
            under_way.append(reservation)
    later = under_test.fits_later(tokens(wanted), Purpose.SAMPLE)
    for reservation in under_way:
        under_test.settle(reservation, tokens(0))
    fits = under_test.reserve(tokens(wanted), Purpose.SAMPLE) is not None
    assert later is (fits and bool(under_way))
    assert not under_test.fits_later(tokens(wanted), Purpose.AUDIT)


def test_a_call_that_uses_less_than_it_reserved_gives_the_rest_back() -> None:
    under_test = budget(Clock(23.9), tokens=100)
    reservation = under_test.reserve(tokens(90), Purpose.SAMPLE)
    assert reservation is not None
    assert under_test.reserve(tokens(20), Purpose.SAMPLE) is None
    under_test.settle(reservation, tokens(30))
    assert under_test.reserve(tokens(70), Purpose.SAMPLE) is not None


def test_a_provider_that_sends_too_much_costs_that_one_call_and_no_other() -> None:
    under_test = budget(Clock(23.9), tokens=100)
    reservation = under_test.reserve(tokens(60), Purpose.SAMPLE)
    assert reservation is not None
    under_test.settle(reservation, tokens(500))
    assert under_test.spent(Pot.SAMPLE).tokens == 500
    assert under_test.reserve(tokens(1), Purpose.SAMPLE) is None


def test_money_limits_where_tokens_do_not() -> None:
    under_test = budget(Clock(23.9), money=0.01)
    most = Usage(input_tokens=1000, output_tokens=1000)  # half a cent
    assert [under_test.reserve(most, Purpose.SAMPLE) is not None for _ in range(3)] == [
        True,
        True,
        False,
    ]


def test_an_unpriced_model_is_an_error_only_where_money_is_limited() -> None:
    with pytest.raises(Unpriced):
        budget(Clock(), money=1.0, price=None)
    unlimited = budget(Clock(12), tokens=1000, price=None)
    reservation = unlimited.reserve(tokens(10), Purpose.SAMPLE)
    assert reservation is not None
    assert unlimited.settle(reservation, tokens(10)) == Spending(tokens=10, money=0.0)


def test_without_limits_everything_is_allowed_and_still_counted() -> None:
    under_test = budget(Clock())
    assert under_test.reserve(tokens(10**9), Purpose.SAMPLE) is not None
    assert under_test.spent(Pot.SAMPLE).tokens == 10**9


def spent_by_hour(under_test: Budget, clock: Clock) -> list[int]:
    """Tokens that a sample which always wants more has spent by the end of each hour."""
    spent = []
    for hour in range(24):
        clock.hour = hour + 5 / 6 - 1e-6  # ten minutes before the hour's end: AHEAD_SECONDS
        while under_test.reserve(tokens(1), Purpose.SAMPLE):
            pass
        spent.append(under_test.spent(Pot.SAMPLE).tokens)
    return spent


def test_a_greedy_sample_is_spread_evenly_over_the_day() -> None:
    clock = Clock()
    assert spent_by_hour(budget(clock, tokens=2400), clock) == pytest.approx(
        [100 * (hour + 1) for hour in range(24)], abs=1
    )


def test_the_sample_follows_the_traffic_of_the_day() -> None:
    clock = Clock()
    under_test = budget(clock, tokens=1000)
    under_test.pace([0.0] * 8 + [10.0] * 10 + [0.0] * 6)
    assert spent_by_hour(under_test, clock) == pytest.approx(
        [min(max(100 * (hour - 7), 0), 1000) for hour in range(24)], abs=1
    )


def test_boosts_and_audits_have_a_part_of_their_own_at_any_time() -> None:
    clock = Clock(0.0)
    under_test = budget(clock, tokens=1000, share=0.3)
    assert under_test.reserve(tokens(301), Purpose.AUDIT) is None
    assert under_test.reserve(tokens(300), Purpose.AUDIT) is not None
    assert under_test.reserve(tokens(1), Purpose.CANARY) is None
    clock.hour = 23.9
    assert under_test.reserve(tokens(701), Purpose.SAMPLE) is None
    assert under_test.reserve(tokens(700), Purpose.SAMPLE) is not None


def test_a_restart_does_not_begin_the_day_anew(tmp_path: Path) -> None:
    clock, path = Clock(23.9), tmp_path / "spending.sqlite"
    first = SpendingLog(path)
    assert budget(clock, tokens=100, log=first).reserve(tokens(80), Purpose.SAMPLE)
    first.close()  # and the call under way never settles: the process was killed
    second = SpendingLog(path)
    again = budget(clock, tokens=100, log=second)
    assert again.spent(Pot.SAMPLE).tokens == 80
    assert again.reserve(tokens(30), Purpose.SAMPLE) is None
    second.close()


def test_a_new_day_has_a_new_budget_and_a_late_settlement_goes_to_its_own_day() -> None:
    clock = Clock(23.9)
    under_test = budget(clock, tokens=100)
    reservation = under_test.reserve(tokens(100), Purpose.SAMPLE)
    assert reservation is not None
    clock.hour = 24.0 + 23.9
    assert under_test.reserve(tokens(100), Purpose.SAMPLE) is not None
    under_test.settle(reservation, tokens(100))
    assert under_test.spent(Pot.SAMPLE).tokens == 100
    assert reservation.day == date(2026, 3, 1)


@pytest.mark.parametrize("hours", [[1.0] * 23, [1.0] * 23 + [-1.0]], ids=["23 hours", "negative"])
def test_a_traffic_that_is_none_is_refused(hours: Sequence[float]) -> None:
    with pytest.raises(ValueError, match="24 numbers"):
        budget(Clock()).pace(hours)


def test_a_day_without_traffic_is_taken_as_even() -> None:
    under_test = budget(Clock(12 - 1 / 6), tokens=1000)
    under_test.pace([0.0] * 24)
    assert under_test.allowed(Pot.SAMPLE) == (pytest.approx(500), None)


HOURS = st.lists(st.floats(0, 1e6), min_size=24, max_size=24).filter(lambda hours: sum(hours) > 0)


@given(HOURS, st.floats(0, 90_000), st.floats(0, 90_000))
def test_traffic_grows_over_the_day_from_nothing_to_all(
    hours: list[float], first: float, second: float
) -> None:
    early, late = sorted((first, second))
    assert traffic_by(early, hours) <= traffic_by(late, hours) + 1e-12
    assert traffic_by(0, hours) == 0
    assert traffic_by(86_400, hours) == pytest.approx(1)
    assert traffic_by(43_200, EVEN) == pytest.approx(0.5)
